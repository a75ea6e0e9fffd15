package lsp

import (
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

func (s *server) didChangeWorkspaceFolders(params json.RawMessage) error {
	var p protocol.DidChangeWorkspaceFoldersParams
	if err := json.Unmarshal(params, &p); err != nil {
		return wire.InvalidParams(err)
	}
	var added []*workspace.Root
	for _, f := range p.Event.Added {
		if path, ok := workspace.FilePath(protocol.DocumentURI(f.URI)); ok {
			added = append(added, workspace.NewRoot(s.disk, path))
		}
	}
	s.change(func(st *state) {
		for _, f := range p.Event.Removed {
			path, _ := workspace.FilePath(protocol.DocumentURI(f.URI))
			st.space = st.space.WithoutRoot(path)
			st.results = st.results.Without(func(r *results.Result) bool { return r.Root == path })
		}
		for _, r := range added {
			st.space = st.space.WithRoot(r)
		}
	})
	s.configure()
	s.restore(added)
	s.publish()
	s.refreshViews()
	return nil
}
