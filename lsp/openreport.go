package lsp

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/skewlens/skewlens/report/html"
	"github.com/skewlens/skewlens/report/source"
	plain "github.com/skewlens/skewlens/report/text"
)

// pick is the result that a command means.
func (s *server) pick(c *call) (*result, error) {
	path, _ := filePath(c.URI)
	var best *result
	for _, r := range s.sorted() {
		switch {
		case c.Target != "" && r.Target != c.Target:
		case best == nil,
			best.files[path] == nil && r.files[path] != nil,
			(best.files[path] == nil) == (r.files[path] == nil) && best.When.Before(r.When):
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
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.pick(c)
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
	if err := html.Write(&page, r.Report, html.Options{Dir: r.Root, Source: lines, Profile: r.profile}); err != nil {
		return nil, err
	}
	if c.Embed {
		return object{"html": page.String(), "target": r.Target}, nil
	}
	url, err := s.web.serve(r.key(), page.Bytes())
	if err != nil {
		return nil, err
	}
	if !s.client.Window.ShowDocument.Support {
		s.show(typeInfo, "skewlens: the report is at "+url)
	}
	s.showDocument(docURI(url), true, nil)
	return object{"uri": url}, nil
}

// showText shows a text as a read-only document.
func (s *server) showText(c *call, name, content string) (any, error) {
	if c.Embed {
		return object{"text": content}, nil
	}
	path, err := s.saved.document(name, content)
	if err != nil {
		return nil, err
	}
	s.showDocument(fileURI(path), false, nil)
	return object{"uri": fileURI(path), "text": content}, nil
}
