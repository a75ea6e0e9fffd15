package lsp

import (
	"context"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// nextCause shows the next cause by rank, after the one on the line that the
// client is at, or else after the one shown last.
func (s *server) nextCause(_ context.Context, c *call) (any, error) {
	s.stepping.Lock() // two steps at once are two steps
	defer s.stepping.Unlock()
	v := s.view()
	next := v.next(c)
	if next == nil {
		s.show(protocol.MessageTypeInfo, "skewlens: there is no cause to show; profile first")
		return nil, nil
	}
	s.change(func(st *state) { st.shown = next.name() })
	if !v.client.Window.ShowDocument.Support {
		path, _ := workspace.FilePath(next.URI)
		if r := v.space.Root(path); r != nil {
			path = strings.TrimPrefix(path, strings.TrimSuffix(r.Path, "/")+"/")
		}
		s.show(protocol.MessageTypeInfo, fmt.Sprintf("skewlens: %s:%d %s", path, next.Range.Start.Line+1, next.Label))
	}
	s.showDocument(next.URI, false, next.Range)
	return *next, nil
}

// next is the cause to show; nil where there is none.
func (v *view) next(c *call) *causeView {
	path, _ := workspace.FilePath(c.URI)
	var all []causeView
	next := 0
	for r, m := range v.causes() {
		view := v.causeView(r, m)
		if view.Range == nil || c.Target != "" && r.Target != c.Target {
			continue
		}
		all = append(all, view)
		at := c.Line != nil && m.At.Path == path && r.Line(m.At) == *c.Line
		if at || c.Line == nil && view.name() == v.shown {
			next = len(all)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &all[next%len(all)]
}

func (v *causeView) name() string { return fmt.Sprintf("%s\x00%s\x00%d", v.Target, v.Section, v.Rank) }
