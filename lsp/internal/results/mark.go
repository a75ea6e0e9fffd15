package results

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report"
)

// Bounds of what is said of one cause.
const (
	maxRelated = 20 // lines
	maxMembers = 10
	maxCalls   = 8 // of a path
)

// marker makes a result: it finds the anchors of a report's places.
type marker struct {
	r     *Result
	w     workspace.Workspace
	texts func(path string) *text.Text
}

func (m *marker) section(s *report.Section) *Section {
	sec := &Section{Section: s}
	if s.Location != nil {
		sec.At = m.anchor(m.users(s.Location))
	}
	for i := range s.Causes {
		c := &Cause{Cause: &s.Causes[i], Of: sec}
		c.At = m.anchor(m.usersOf(c.Cause))
		c.Via = m.via(c)
		m.relate(c)
		sec.Causes = append(sec.Causes, c)
	}
	if !s.Negligible {
		m.work(sec)
	}
	return sec
}

// work marks the lines on which a section's work is.
func (m *marker) work(sec *Section) {
	at := map[*Anchor]int{}
	for _, l := range sec.Lines {
		if l.Location == nil {
			continue // it was kept, and damaged
		}
		p := m.users(l.Location)
		if !p.Known() || !m.own(p) {
			continue
		}
		p.Column = 0 // it is of all the line
		a := m.anchor(p)
		k, ok := at[a]
		if !ok {
			k = len(sec.Work)
			at[a], sec.Work = k, append(sec.Work, Work{At: a})
		}
		sec.Work[k].Share += l.Share
	}
}

// users chooses, of a place and the calls it was inlined through, the
// innermost that is the user's own: a join in the C++ library is of no use.
func (m *marker) users(l *report.Location) report.Place {
	for _, p := range append([]report.Place{l.Place}, l.InlinedAt...) {
		if p.Known() && m.own(p) {
			return p
		}
	}
	return l.Place
}

// usersOf is where a cause is to be shown: its place, or, where none of it is the
// user's own (a function of a library's header that was not inlined), the user's
// innermost call that leads there.
func (m *marker) usersOf(c *report.Cause) report.Place {
	at := m.users(c.Location)
	if m.own(at) || c.Path == nil {
		return at
	}
	for _, p := range c.Path.Calls {
		if p.Known() && m.own(p) {
			return p
		}
	}
	return at
}

// via is the outermost of the user's lines that a cause was inlined into, if it is in
// another file than the cause: whoever has that open would see nothing of it.
func (m *marker) via(c *Cause) *Anchor {
	for _, p := range slices.Backward(c.Location.InlinedAt) {
		if p.Known() && m.own(p) {
			if at := m.anchor(p); c.At == nil || at.Path != c.At.Path {
				return at
			}
			return nil
		}
	}
	return nil
}

// own reports whether a place is in one of the client's folders.
func (m *marker) own(p report.Place) bool { return m.w.Root(m.r.Local(m.w, p)) != nil }

// anchor is the one anchor of a place; nil where it has no line.
func (m *marker) anchor(p report.Place) *Anchor {
	if !p.Known() {
		return nil
	}
	r := m.r
	at := place{r.Local(m.w, p), p.Line, p.Column}
	if a := r.anchors[at]; a != nil {
		return a
	}
	a := &Anchor{Path: at.path, index: len(r.now)}
	a.Point = text.Point{Line: p.Line - 1, Col: max(p.Column-1, 0)}
	a.Was = r.Lines[at.key()]
	t := m.texts(at.path)
	if t != nil && r.Kept.Files == nil && a.Point.Line < t.Lines() {
		was, indent := trimmed(t.Line(a.Point.Line))
		a.Was = was
		if p.Column == 0 {
			a.Col = indent
		}
	}
	r.anchors[at] = a
	r.in[at.path] = append(r.in[at.path], a)
	r.now = append(r.now, a.Point)
	if !r.Has(at.path) && t != nil && m.w.Root(at.path) != nil {
		r.files[at.path] = text.Digest{}
	}
	return a
}

// relate collects the lines that explain a cause: where it was inlined, what
// goes with it, and the end of its section.
func (m *marker) relate(c *Cause) {
	type line struct {
		path string
		line int
	}
	seen := map[line]bool{}
	first := func(a *Anchor) bool {
		l := line{a.Path, a.Point.Line}
		was := seen[l]
		seen[l] = true
		return !was
	}
	if c.At != nil {
		first(c.At)
	}
	add := func(p report.Place, why string) {
		if a := m.anchor(p); a != nil && len(c.Related) < maxRelated && first(a) {
			c.Related = append(c.Related, Note{At: a, Why: why})
		}
	}
	if c.Location.Place.Known() {
		add(c.Location.Place, "the deciding instruction is of this line")
	}
	for _, p := range c.Location.InlinedAt {
		if !m.own(p) {
			continue // of a library: it is of no use to the reader
		}
		why := "inlined here"
		if p.Function != "" {
			why = "inlined here, in " + p.Function
		}
		add(p, why)
	}
	if c.To != nil {
		add(*c.To, "it leads here")
	}
	if c.Waker != nil && c.Waker.Location != nil {
		add(c.Waker.Location.Place, c.Waker.Words(c.Kind))
	}
	for _, n := range m.calledFrom(c.Path) {
		first(n.At)
		c.Related = append(c.Related, n)
	}
	for _, member := range c.Members[:min(len(c.Members), maxMembers)] {
		why := "goes with it"
		if member.Corr != nil {
			why = fmt.Sprintf("goes with it (correlation %.2f)", *member.Corr)
		}
		n := len(c.Related)
		if add(member.Place, why); len(c.Related) > n {
			c.Related[n].Member = true
		}
	}
	if c.Of.At != nil && first(c.Of.At) {
		c.Related = append(c.Related, Note{At: c.Of.At, Why: "the section ends here"})
	}
}

// calledFrom is how the slow thread came to a cause, from the inside outwards.
// A line that stands elsewhere too is not left out: a gap would mislead.
func (m *marker) calledFrom(p *report.Path) []Note {
	if p == nil {
		return nil
	}
	var out []Note
	add := func(at report.Place, why string) {
		if a := m.anchor(at); a != nil {
			out = append(out, Note{At: a, Why: why})
		}
	}
	calls := p.Calls[:min(len(p.Calls), maxCalls)]
	for _, c := range calls {
		if c.Known() && !m.own(c) {
			continue // of a library: the calls around it tell as much
		}
		add(c, fmt.Sprintf("called from %s, by thread %d", cmp.Or(c.Function, "here"), p.Thread))
	}
	if p.Start != nil {
		add(*p.Start, fmt.Sprintf("thread %d begins here, in %s", p.Thread, cmp.Or(p.Start.Function, "this function")))
	}
	if left := len(p.Calls) - len(calls); left > 0 && len(out) > 0 {
		out[len(out)-1].Why += fmt.Sprintf(" (%s before it not shown)", units.Plural(left, "call"))
	}
	return out
}
