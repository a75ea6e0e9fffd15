package lsp

import (
	"context"
	"errors"
	"fmt"

	"github.com/skewlens/skewlens/docs"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// explain shows what a kind of cause means and what helps: the kind that is named, or
// that of the first cause on a line.
func (s *server) explain(_ context.Context, c *call) (any, error) {
	kind := c.Kind
	if kind == "" && c.Line != nil {
		path, _ := workspace.FilePath(c.URI)
		for r, x := range s.view().causes() {
			if r.Stands(x.At) && x.At.Path == path && r.Line(x.At) == *c.Line {
				kind = heading(x)
				break
			}
		}
	}
	if kind == "" {
		return nil, errors.New("there is no cause on this line to be explained")
	}
	text, ok := docs.Cause(kind)
	if !ok {
		return nil, fmt.Errorf("no kind of cause is called %.100q", kind)
	}
	return s.showText(c, kind+".md", text)
}
