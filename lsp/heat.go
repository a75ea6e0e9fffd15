package lsp

import (
	"context"
	"maps"
	"slices"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// heat is skewlens.heat: where in a file the work of sections is. A line of several
// sections has its largest share.
func (s *server) heat(_ context.Context, c *call) (any, error) {
	v := s.view()
	path, _ := workspace.FilePath(c.URI)
	hottest := map[int]wire.Object{}
	for _, r := range v.results.All() {
		for _, sec := range r.Sections {
			for _, w := range sec.Work {
				if w.At.Path != path || !r.Stands(w.At) {
					continue
				}
				line := r.Line(w.At)
				if old, ok := hottest[line]; !ok || old["share"].(float64) < w.Share {
					hottest[line] = wire.Object{"line": line, "share": w.Share, "section": sec.ID, "target": r.Target}
				}
			}
		}
	}
	lines := []wire.Object{}
	for _, l := range slices.Sorted(maps.Keys(hottest)) {
		lines = append(lines, hottest[l])
	}
	return wire.Object{"lines": lines}, nil
}
