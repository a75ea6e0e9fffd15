package lsp

import (
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/wire"
)

func (s *server) didClose(params json.RawMessage) error {
	var p protocol.DidCloseTextDocumentParams
	if err := json.Unmarshal(params, &p); err != nil {
		return wire.InvalidParams(err)
	}
	d := s.view().space.Document(p.TextDocument.URI)
	if d == nil {
		return nil
	}
	s.change(func(st *state) { st.space = st.space.WithoutDocument(d.URI) })
	// What counts now is the file, which may be older than the buffer was.
	if v := s.view(); v.results.Has(d.Path) {
		s.disk.Forget(d.Path)
		if t := v.space.Text(d.Path); t != nil {
			t.Digest()
			s.change(func(st *state) { st.results = st.results.Settle(d.Path, t) })
		}
	}
	s.reread()
	s.configure()
	s.publish()
	return nil
}
