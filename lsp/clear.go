package lsp

import (
	"context"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
)

// clear forgets results, also those on disk.
func (s *server) clear(_ context.Context, c *call) (any, error) {
	var gone []*results.Result
	s.change(func(st *state) {
		st.results = st.results.Without(func(r *results.Result) bool {
			if c.Target != "" && r.Target != c.Target {
				return false
			}
			gone = append(gone, r)
			return true
		})
		for _, r := range gone {
			if r.Chosen != nil {
				st.space = st.space.WithoutChosen(*r.Chosen) // the next click asks again
			}
		}
		st.built, st.shown = nil, ""
	})
	for _, r := range gone {
		_ = s.keep(r.Root, r.Target) // to forget cannot fail
	}
	s.publish()
	s.refreshViews()
	return wire.Object{"cleared": len(gone)}, nil
}
