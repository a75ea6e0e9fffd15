// Package html writes a report as one page that needs nothing else: no script,
// no font, no picture from elsewhere, and its content security policy says so.
//
//	report.Report ──▶ words, numbers, excerpts ─┐
//	                  └▶ bars per thread (SVG) ─┼─▶ page ──▶ template ──▶ HTML
//	profile.Profile ──▶ timeline (SVG) ─────────┘
//
// It follows the reader's light or dark setting. All names come from other
// people's programs and are escaped. It is well-formed XML, too.
package html

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
	"github.com/skewlens/skewlens/report/source"
)

// Options say what the page may show; the zero value is a page without source
// excerpts and timelines.
type Options struct {
	Dir     string           // paths below it are shown relative to it
	Source  source.Lines     // nil: no excerpts
	Profile *profile.Profile // that the report was made of; nil: no timelines
	// Link is where a click on a line leads, as an address that may stand in a page;
	// empty: nowhere. Nil: no line can be clicked.
	Link func(report.Place) string
}

var (
	//go:embed page.tmpl
	pageText string
	//go:embed style.css
	pageStyle string

	// Read when a page is first written: few runs write one.
	pageTemplate = sync.OnceValue(parsePage)
)

func parsePage() *template.Template { return template.Must(template.New("page").Parse(pageText)) }

// Write writes the page. It fails when the report is not of the profile that it
// is given, and where the writer does.
func Write(w io.Writer, r *report.Report, opt Options) error {
	m := maker{opt: opt, paths: words.Paths{Dir: opt.Dir}, r: r, of: make([]*profile.Section, len(r.Sections))}
	if opt.Profile != nil {
		var err error
		if m.of, err = r.SectionsOf(opt.Profile); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	if err := pageTemplate().Execute(w, m.page()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// maker makes the page; names and numbers read as in the text report.
type maker struct {
	opt   Options
	paths words.Paths
	r     *report.Report
	of    []*profile.Section // in the profile, by section of the report; nil: not known
}

func (m *maker) page() *page {
	r := m.r
	p := &page{Style: template.CSS(pageStyle), Command: m.paths.Command(r), Facts: strings.Join(words.Run(r), words.Dot), Warnings: printableWarnings(r.Warnings)}
	if p.Ranks = m.ranks(); p.Ranks != nil {
		p.Style += template.CSS(heatStyle)
	}
	for i := range r.Sections {
		s := &r.Sections[i]
		v := m.section(s, m.of[i], i+1)
		if words.Brief(s) {
			p.Brief = append(p.Brief, v)
		} else {
			p.Sections = append(p.Sections, v)
		}
	}
	p.BriefTitle = units.Plural(len(p.Brief), "section") + ": balanced, too short to matter, or never completed"
	for _, s := range r.Coverage.Skipped {
		p.Skipped = append(p.Skipped, report.Skipped{Function: units.Printable(s.Function), Reason: units.Printable(s.Reason)})
	}
	m.memory(p)
	m.sizes(p)
	p.Path = m.criticalPath()
	p.SkippedTitle = units.Plural(len(p.Skipped), "function")
	return p
}

func printableWarnings(ws []report.Warning) []report.Warning {
	out := make([]report.Warning, len(ws))
	for i, w := range ws {
		out[i] = report.Warning{Code: w.Code, Message: units.Printable(w.Message)}
	}
	return out
}
