package lsp

import (
	"bytes"
	"context"
	"errors"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report/html"
	"github.com/skewlens/skewlens/report/source"
	plain "github.com/skewlens/skewlens/report/text"
)

// pick is the result that a command means: of its target, a profile, of a program
// that its file belongs to, the newest.
func (v *view) pick(c *call) (*results.Result, error) {
	path, _ := workspace.FilePath(c.URI)
	var best *results.Result
	for _, r := range v.results.All() {
		if c.Target != "" && r.Target != c.Target && r.Target != results.Timed(c.Target) {
			continue
		}
		if best == nil || rather(r, best, path) {
			best = r
		}
	}
	if best == nil {
		return nil, errors.New("there is no report yet: profile first")
	}
	return best, nil
}

// rather reports whether a command about a file means a result and not another one.
func rather(r, other *results.Result, path string) bool {
	switch {
	case (r.Scaling == nil) != (other.Scaling == nil):
		return r.Scaling == nil
	case r.Has(path) != other.Has(path):
		return r.Has(path)
	}
	return r.When.After(other.When)
}

// openReport shows a report: as a page in a browser, or as text.
func (s *server) openReport(_ context.Context, c *call) (any, error) {
	v := s.view()
	r, err := v.pick(c)
	if err != nil {
		return nil, err
	}
	if c.Format == "text" {
		b, err := written(r, true)
		if err != nil {
			return nil, err
		}
		return s.showText(c, r.Target+"-report.txt", b.String())
	}
	page, err := written(r, false)
	if err != nil {
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

// written is a report as text or as a page.
func written(r *results.Result, asText bool) (b bytes.Buffer, err error) {
	lines := &source.Files{Built: r.When} // of a file that is younger, lines may be others
	words, page := plain.Options{Dir: r.Root, Source: lines}, html.Options{Dir: r.Root, Source: lines, Profile: r.Profile}
	switch {
	case asText && r.Scaling != nil:
		err = plain.WriteScaling(&b, r.Scaling, words)
	case asText:
		err = plain.Write(&b, r.Report, words)
	case r.Scaling != nil:
		err = html.WriteScaling(&b, r.Scaling, page)
	default:
		err = html.Write(&b, r.Report, page)
	}
	return b, err
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
