// Package words puts findings into words, so that the terminal and the page
// call the same thing by the same name.
//
//	report.Report ──▶ words: names of places and sections, facts, verdicts ─┬─▶ report/text
//	                                                                        └─▶ report/html
//
// What it returns is plain text that can be shown: no colour, no markup, and
// nothing that would upset a terminal.
package words

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
)

// Dot separates the facts of a line.
const Dot = " · "

// Columns counts terminal columns. East Asian "ambiguous" characters, our own
// bars among them, are one column wide: asking the locale would make a report
// depend on where it was written.
var Columns = runewidth.Condition{EastAsianWidth: false}

// Cut shortens plain text to w columns.
func Cut(s string, w int) string { return Columns.Truncate(s, w, "…") }

// Symbol is a function's name; those of C++ can be longer than a page.
func Symbol(s string) string { return Cut(units.Printable(s), 60) }

// Paths names files and the places in them; those below Dir are shown relative
// to it, all as they are where it is empty.
type Paths struct{ Dir string }

// File is the path of a file.
func (p Paths) File(file string) string {
	if p.Dir != "" {
		if rel, err := filepath.Rel(p.Dir, file); err == nil && !strings.HasPrefix(rel, "..") {
			file = rel
		}
	}
	return units.Printable(file)
}

// Place is a location for people: path:line:column function.
func (p Paths) Place(at report.Place) string {
	if !at.Known() {
		return units.Printable(at.Short())
	}
	s := fmt.Sprintf("%s:%d", p.File(at.File), at.Line)
	if at.Column > 0 {
		s += fmt.Sprintf(":%d", at.Column)
	}
	if at.Function != "" {
		s += " " + Symbol(at.Function)
	}
	return s
}

// Section is path:line and the function of a section.
func (p Paths) Section(s *report.Section) string {
	if s.Location == nil || !s.Location.Known() {
		return units.Printable(s.ID)
	}
	file := s.ID // up to its line
	if i := strings.LastIndexByte(s.ID, ':'); i >= 0 {
		file = s.ID[:i]
	}
	name := p.File(s.Location.File) + strings.TrimPrefix(s.ID, file)
	if f := s.Location.Function; f != "" {
		name += " " + Symbol(f)
	}
	return name
}

// Inlined lists the calls a place was inlined at, without the inside of system
// headers, which would drown the user's own lines.
func (p Paths) Inlined(at []report.Place) []string {
	lines, hidden := []string{}, 0
	flush := func() {
		if hidden > 0 {
			lines = append(lines, "inlined through "+units.Plural(hidden, "line")+" of system headers")
		}
		hidden = 0
	}
	for _, call := range at {
		if profile.System(call.File) {
			hidden++
			continue
		}
		flush()
		lines = append(lines, "inlined at "+p.Place(call))
	}
	flush()
	return lines
}

// Callers says how the thread that met a cause most came there, from the inside
// outwards, a call to an item; nil where nothing calls it.
func Callers(p *report.Path) []string {
	const shown = 6
	if p == nil || len(p.Calls) == 0 {
		return nil
	}
	var calls []string
	for _, c := range p.Calls[:min(len(p.Calls), shown)] {
		name := units.Printable(c.Short())
		if c.Known() && c.Function != "" {
			name += " " + Symbol(c.Function)
		}
		calls = append(calls, name)
	}
	if left := len(p.Calls) - shown; left > 0 {
		calls = append(calls, fmt.Sprintf("%d more", left))
	}
	calls[0] = fmt.Sprintf("%s comes from: %s", p.Who(), calls[0])
	return calls
}
