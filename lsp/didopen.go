package lsp

import (
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

func (s *server) didOpen(params json.RawMessage) error {
	var p protocol.DidOpenTextDocumentParams
	if err := json.Unmarshal(params, &p); err != nil {
		return wire.InvalidParams(err)
	}
	d := workspace.NewDocument(p.TextDocument)
	d.Text.Digest() // now, and not under the lock
	s.change(func(st *state) {
		st.space = st.space.WithDocument(d)
		st.results = st.results.Settle(d.Path, d.Text)
		st.recent = d.URI
	})
	s.adopt(d.Path)
	s.reread()
	s.configure()
	s.publish()
	return nil
}
