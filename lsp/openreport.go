package lsp

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report/html"
	"github.com/skewlens/skewlens/report/source"
	plain "github.com/skewlens/skewlens/report/text"
)

// pick is the result that a command means: of its target, of a program that
// its file belongs to, the newest.
func (v *view) pick(c *call) (*results.Result, error) {
	path, _ := workspace.FilePath(c.URI)
	var best *results.Result
	for _, r := range v.results.All() {
		switch {
		case c.Target != "" && r.Target != c.Target:
		case best == nil,
			!best.Has(path) && r.Has(path),
			best.Has(path) == r.Has(path) && best.When.Before(r.When):
			best = r
		}
	}
	if best == nil {
		return nil, errors.New("there is no report yet: profile first")
	}
	return best, nil
}

// openReport shows a report: as a page in a browser, or as text.
func (s *server) openReport(_ context.Context, c *call) (any, error) {
	v := s.view()
	r, err := v.pick(c)
	if err != nil {
		return nil, err
	}
	lines := &source.Files{Built: r.When} // of a file that is younger, lines may be others
	if c.Format == "text" {
		var b strings.Builder
		if err := plain.Write(&b, r.Report, plain.Options{Dir: r.Root, Source: lines}); err != nil {
			return nil, err
		}
		return s.showText(c, r.Target+"-report.txt", b.String())
	}
	var page bytes.Buffer
	if err := html.Write(&page, r.Report, html.Options{Dir: r.Root, Source: lines, Profile: r.Profile}); err != nil {
		return nil, err
	}
	if c.Embed {
		return wire.Object{"html": page.String(), "target": r.Target}, nil
	}
	url, err := s.pages.Show(r.Name(), page.Bytes())
	if err != nil {
		return nil, err
	}
	if !v.client.Window.ShowDocument.Support {
		s.show(protocol.MessageTypeInfo, "skewlens: the report is at "+url)
	}
	s.showDocument(protocol.URI(url), true, nil)
	return wire.Object{"uri": url}, nil
}

// showText shows a text as a read-only document.
func (s *server) showText(c *call, name, content string) (any, error) {
	if c.Embed {
		return wire.Object{"text": content}, nil
	}
	path, err := s.store.Document(name, content)
	if err != nil {
		return nil, err
	}
	s.showDocument(workspace.FileURI(path), false, nil)
	return wire.Object{"uri": workspace.FileURI(path), "text": content}, nil
}
