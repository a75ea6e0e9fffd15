package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/browser"
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report"
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
		b, err := written(r, true, nil)
		if err != nil {
			return nil, err
		}
		return s.showText(c, r.Target+"-report.txt", b.String())
	}
	var lines []report.Place // that can be clicked, by their number in the page
	link := func(p report.Place) string {
		if c.Embed {
			return v.commandLink(r, p)
		}
		if lines = append(lines, p); !v.client.Window.ShowDocument.Support {
			return ""
		}
		return browser.Line(len(lines) - 1)
	}
	page, err := written(r, false, link)
	if err != nil {
		return nil, err
	}
	if c.Embed {
		return wire.Object{"html": page.String(), "target": r.Target}, nil
	}
	address, err := s.pages.Show(r.Name(), page.Bytes(), func(n int) {
		if n >= 0 && n < len(lines) {
			uri, at := s.view().placed(r, lines[n])
			s.showDocument(uri, false, &at)
		}
	})
	if err != nil {
		return nil, err
	}
	if !v.client.Window.ShowDocument.Support {
		s.show(protocol.MessageTypeInfo, "skewlens: the report is at "+address)
	}
	s.showDocument(protocol.URI(address), true, nil)
	return wire.Object{"uri": address}, nil
}

// placed is where a report's line stands in the client's text, as far as it is
// known to have moved; else where the report has it.
func (v *view) placed(r *results.Result, p report.Place) (protocol.DocumentURI, protocol.Range) {
	at := protocol.Position{Line: uint32(max(p.Line-1, 0))}
	if now := v.results.Of(r.Root, r.Target); now != nil && now.Same(r) {
		r = now // edited since
	}
	path := r.Local(v.space, p)
	if line, known := r.Now(path, p.Line); known {
		at.Line = uint32(line)
	}
	return v.space.URI(path), protocol.Range{Start: at, End: at}
}

// commandLink is a link that a web view of VS Code takes as a command.
func (v *view) commandLink(r *results.Result, p report.Place) string {
	uri, at := v.placed(r, p)
	args, err := json.Marshal([]any{wire.Object{"uri": uri, "line": at.Start.Line}})
	if err != nil {
		return ""
	}
	return "command:skewlens.show?" + strings.ReplaceAll(url.QueryEscape(string(args)), "+", "%20")
}

// written is a report as text or as a page, whose lines lead where link says.
func written(r *results.Result, asText bool, link func(report.Place) string) (b bytes.Buffer, err error) {
	lines := &source.Files{Built: r.When} // of a file that is younger, lines may be others
	words, page := plain.Options{Dir: r.Root, Source: lines}, html.Options{Dir: r.Root, Source: lines, Profile: r.Profile, Link: link}
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
