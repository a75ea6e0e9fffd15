package lsp

import (
	"encoding/json"

	"go.lsp.dev/jsonrpc2"

	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/wire"
)

// didChange is what happens with every key.
func (s *server) didChange(params json.RawMessage) error {
	var p wire.DidChangeTextDocumentParams
	if err := json.Unmarshal(params, &p); err != nil {
		return wire.InvalidParams(err)
	}
	v := s.view()
	d := v.space.Document(p.TextDocument.URI)
	if d == nil {
		return jsonrpc2.NewError(jsonrpc2.InvalidParams, "the document is not open")
	}
	// Only notifications change texts, and they come one after the other: this
	// is the text that is edited, whatever else happens meanwhile.
	t := d.Text
	var edits []text.Edit
	for _, c := range p.Changes {
		e := t.Apply(v.enc, c.Range, c.Text)
		edits = append(edits, e)
		t = e.New
	}
	if v.results.Has(d.Path) {
		t.Digest() // now, and not under the lock
	}
	s.change(func(st *state) {
		st.space = st.space.WithDocument(st.space.Document(d.URI).Edited(p.TextDocument.Version, edits))
		st.results = st.results.Follow(d.Path, edits)
		st.recent = d.URI
	})
	if v.space.Configures(d.Path) {
		s.configure()
	}
	s.publish()
	return nil
}
