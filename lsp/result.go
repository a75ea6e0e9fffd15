package lsp

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
)

// result is what a target's last run said, and where that is now.
type result struct {
	kept
	profile  *profile.Profile // that the report was made of; nil for what was kept
	files    map[string]*fileState
	anchors  map[place]*anchor
	sections []*sectionMark
}

// place is a report's place in a file: line from 1, column from 1 or 0.
type place struct {
	path         string
	line, column int
}

// fileState compares a file with what it was when the program ran.
type fileState struct {
	digest digest
	edited bool
}

// sectionMark is a section in a file; at is nil where it has no line.
type sectionMark struct {
	*report.Section
	at     *anchor
	causes []*causeMark
}

type causeMark struct {
	*report.Cause
	section *sectionMark
	at      *anchor
	related []note
}

// note is a line that belongs to a cause, and why.
type note struct {
	at  *anchor
	why string
}

func (r *result) key() string { return r.Root + "\x00" + r.Target }

// newResult finds the places of a report. What was kept of an earlier run
// brings the texts of the lines along; a new one reads them.
func (s *server) newResult(k kept) *result {
	r := &result{kept: k, files: map[string]*fileState{}, anchors: map[place]*anchor{}}
	for i := range k.Report.Sections {
		sec := &sectionMark{Section: &k.Report.Sections[i]}
		if sec.Location != nil {
			sec.at = s.anchor(r, s.users(r, sec.Location))
		}
		for j := range sec.Causes {
			c := &causeMark{Cause: &sec.Causes[j], section: sec}
			c.at = s.anchor(r, s.users(r, c.Location))
			s.relate(r, c)
			sec.causes = append(sec.causes, c)
		}
		r.sections = append(r.sections, sec)
	}
	for path, f := range r.files {
		t := s.textOf(path)
		if t == nil {
			f.edited = true
			continue
		}
		if k.Files == nil { // a new run: this is how the files are
			f.digest = t.digest()
			continue
		}
		f.digest = k.Files[path]
		f.edited = f.digest != t.digest()
		r.settle(path, t)
	}
	return r
}

// users chooses, of a place and the calls it was inlined through, the
// innermost that is the user's own: a join in the C++ library is of no use.
func (s *server) users(r *result, l *report.Location) report.Place {
	for _, p := range append([]report.Place{l.Place}, l.InlinedAt...) {
		if p.Known() && s.rootOf(s.localPath(p.File, r.Cwd)) != nil {
			return p
		}
	}
	return l.Place
}

// anchor is the one anchor of a place; nil where it has no line.
func (s *server) anchor(r *result, p report.Place) *anchor {
	if !p.Known() {
		return nil
	}
	at := place{s.localPath(p.File, r.Cwd), p.Line, p.Column}
	if a := r.anchors[at]; a != nil {
		return a
	}
	a := &anchor{path: at.path, orig: point{p.Line - 1, max(p.Column-1, 0)}, line: r.Lines[fmt.Sprintf("%s:%d", at.path, at.line)]}
	t := s.textOf(at.path)
	if t != nil && r.Files == nil && a.orig.line < t.lines() {
		line := t.line(a.orig.line)
		a.line = strings.TrimSpace(line)
		if p.Column == 0 {
			a.orig.col = len(line) - len(strings.TrimLeft(line, " \t"))
		}
	}
	a.now = a.orig
	r.anchors[at] = a
	if r.files[at.path] == nil && t != nil && s.rootOf(at.path) != nil {
		r.files[at.path] = &fileState{}
	}
	return a
}

// relate collects the lines that explain a cause: where it was inlined, what
// goes with it, and the end of its section.
func (s *server) relate(r *result, c *causeMark) {
	type line struct {
		path string
		line int
	}
	seen := map[line]bool{}
	first := func(a *anchor) bool {
		l := line{a.path, a.orig.line}
		was := seen[l]
		seen[l] = true
		return !was
	}
	if c.at != nil {
		first(c.at)
	}
	add := func(p report.Place, why string) {
		if a := s.anchor(r, p); a != nil && len(c.related) < 20 && first(a) {
			c.related = append(c.related, note{a, why})
		}
	}
	if c.Location.Place.Known() {
		add(c.Location.Place, "the deciding instruction is of this line, inlined")
	}
	for _, p := range c.Location.InlinedAt {
		why := "inlined here"
		if p.Function != "" {
			why = "inlined here, in " + p.Function
		}
		add(p, why)
	}
	if c.To != nil {
		add(*c.To, "it leads here")
	}
	for _, n := range s.calledFrom(r, c.Path) {
		first(n.at)
		c.related = append(c.related, n)
	}
	for i, m := range c.Members {
		if i == 10 {
			break
		}
		why := "goes with it"
		if m.Corr != nil {
			why = fmt.Sprintf("goes with it (correlation %.2f)", *m.Corr)
		}
		add(m.Place, why)
	}
	if c.section.at != nil && first(c.section.at) {
		c.related = append(c.related, note{c.section.at, "the section ends here"})
	}
}

// maxCalls of a path are shown.
const maxCalls = 8

// calledFrom is how the slow thread came to a cause, from the inside outwards.
// A line that stands elsewhere too is not left out: a gap would mislead.
func (s *server) calledFrom(r *result, p *report.Path) []note {
	if p == nil {
		return nil
	}
	var out []note
	add := func(at report.Place, why string) {
		if a := s.anchor(r, at); a != nil {
			out = append(out, note{a, why})
		}
	}
	calls := p.Calls[:min(len(p.Calls), maxCalls)]
	for _, c := range calls {
		add(c, fmt.Sprintf("called from %s, by thread %d", cmp.Or(c.Function, "here"), p.Thread))
	}
	if p.Start != nil {
		add(*p.Start, fmt.Sprintf("thread %d begins here, in %s", p.Thread, cmp.Or(p.Start.Function, "this function")))
	}
	if left := len(p.Calls) - len(calls); left > 0 && len(out) > 0 {
		out[len(out)-1].why += fmt.Sprintf(" (%s before it not shown)", units.Plural(left, "call"))
	}
	return out
}

// settle puts the anchors of a file into its text as it is now.
func (r *result) settle(path string, t *text) {
	for _, a := range r.anchors {
		if a.path == path {
			a.settle(t)
		}
	}
}

// stale reports whether a file of the program differs from what was run.
func (r *result) stale() bool {
	if r.Behind {
		return true
	}
	for _, f := range r.files {
		if f.edited {
			return true
		}
	}
	return false
}

// staleness says so in words; empty when all is as it was.
func (r *result) staleness() string {
	switch {
	case r.Behind:
		return "the program is older than its source"
	case r.stale():
		return "edited since"
	}
	return ""
}

// sorted are all results, by root and target.
func (s *server) sorted() []*result {
	out := make([]*result, 0, len(s.results))
	for _, r := range s.results {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].key() < out[j].key() })
	return out
}

// suppressed reports whether the workspace does not want to see a cause.
func (s *server) suppressed(c *causeMark) bool {
	if c.at == nil {
		return false
	}
	r := s.rootOf(c.at.path)
	if r == nil {
		return false
	}
	for _, p := range s.refresh(r).suppress {
		if p.matches(c.at.path, c.Location.Function, c.kind(), c.at.line) {
			return true
		}
	}
	return false
}

// kind names a cause in one word: that of its leader, or of its event.
func (c *causeMark) kind() string {
	if c.Leader != "" {
		return c.Leader
	}
	return c.Kind
}

// shownCauses are those that the workspace wants to see, in sections that are
// long enough to matter.
func (s *server) shownCauses(sec *sectionMark) []*causeMark {
	var out []*causeMark
	if sec.Negligible {
		return nil
	}
	for _, c := range sec.causes {
		if !s.suppressed(c) {
			out = append(out, c)
		}
	}
	return out
}

// title is a section in a few words, as its lens shows it.
func (s *server) title(r *result, sec *sectionMark) string {
	parts := []string{}
	switch n := len(s.shownCauses(sec)); {
	case sec.Imbalance == nil:
		parts = append(parts, "not analysed")
	case sec.Balanced:
		parts = append(parts, "balanced")
	case sec.Negligible:
		parts = append(parts, "too short to matter")
	case n == 0 && len(sec.causes) > 0:
		parts = append(parts, "imbalance "+units.Percent(*sec.Imbalance), "all causes suppressed")
	default:
		parts = append(parts, "imbalance "+units.Percent(*sec.Imbalance), units.Plural(n, "cause"))
	}
	parts = append(parts, age(s.opt.Now().Sub(r.When)))
	if w := r.staleness(); w != "" {
		parts = append(parts, w)
	}
	return strings.Join(parts, " · ")
}

// summary is a whole result in a sentence.
func (s *server) summary(r *result) string {
	worst, id := r.Report.Worst()
	causes := 0
	for _, sec := range r.sections {
		causes += len(s.shownCauses(sec))
	}
	switch {
	case len(r.sections) == 0:
		return r.Target + ": no parallel section was found"
	case causes == 0 && worst < 0.01:
		return fmt.Sprintf("%s: balanced (%s)", r.Target, units.Plural(len(r.sections), "section"))
	}
	return fmt.Sprintf("%s: imbalance %s at %s, %s", r.Target, units.Percent(worst), id, units.Plural(causes, "cause"))
}

// age is how long ago something was, as people say it.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}
