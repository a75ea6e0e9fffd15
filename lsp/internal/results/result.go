package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// Result is what a target's last run said, and where that is now.
type Result struct {
	Kept
	Profile  *profile.Profile // that the report was made of; nil for what was kept
	Sections []*Section       // as the report has them
	Memory   []*MemoryLine    // likewise
	Hints    []*Hint          // of a target that was timed
	Scaled   []*ScaledSection // likewise

	files   map[string]text.Digest // of the program, as they were when it ran
	anchors map[place]*Anchor
	in      map[string][]*Anchor // by path

	// These are replaced and never written to: results share them.
	now    []text.Point // by anchor
	gone   map[int]bool // anchors whose line was deleted
	edited map[string]bool
}

// place is a report's place in a file: line from 1, column from 1 or 0.
type place struct {
	path         string
	line, column int
}

func (p place) key() string { return fmt.Sprintf("%s:%d", p.path, p.line) }

// Anchor is a place of a result in a file.
type Anchor struct {
	text.Anchor
	Path string

	index int // in Result.now
}

// Section is a section of a report; At is nil where it has no line.
type Section struct {
	*report.Section
	At     *Anchor
	Causes []*Cause
	Work   []Work // of lines in the client's folders, those with most first
}

// Work is a line and its share of a section's work, with that of what is no user's own
// and was inlined there.
type Work struct {
	At    *Anchor
	Share float64
}

// Cause is a cause of a report; At is nil where it has no line.
type Cause struct {
	*report.Cause
	Of      *Section
	At      *Anchor
	Via     *Anchor // the user's line in another file that it was inlined into; nil: none
	Related []Note
}

// MemoryLine is what a line accesses in the whole run; At is nil where it has no line.
type MemoryLine struct {
	*report.MemoryLine
	At *Anchor
}

// Hint is a line where a speedup is lost: one whose work grows with the cores, or that
// runs alone. At is nil where it has no line.
type Hint struct {
	Location *report.Location
	At       *Anchor
	Grown    *scaling.Line   // or
	Alone    *scaling.Serial // of both there is one
}

// ScaledSection is a section of a target that was timed; At is nil where it has no line.
type ScaledSection struct {
	*scaling.Section
	At *Anchor
}

// Code names its kind.
func (h *Hint) Code() string {
	if h.Grown != nil {
		return "inflation"
	}
	return "serial"
}

// Timed is the name under which it is known how a target scales.
func Timed(target string) string { return target + " · speedup" }

// Note is a line that belongs to a cause, and why.
type Note struct {
	At     *Anchor
	Why    string
	Member bool // its counts go with the cause's
}

// Type names a cause in one word: the kind of its leader, or of its event.
func (c *Cause) Type() string {
	if c.Leader != "" {
		return c.Leader
	}
	return c.Kind
}

// New finds the places of a report in the texts of its files: for a new run as
// they were when it began (k.Files is nil), for one that was kept as they are.
// Files may be read for it.
func New(k Kept, w workspace.Workspace, texts func(path string) *text.Text) *Result {
	m := &marker{w: w, texts: texts, r: &Result{
		Kept: k, files: map[string]text.Digest{}, anchors: map[place]*Anchor{}, in: map[string][]*Anchor{}, edited: map[string]bool{},
	}}
	r := m.r
	for i := range k.Report.Sections {
		r.Sections = append(r.Sections, m.section(&k.Report.Sections[i]))
	}
	if x := k.Report.Memory; x != nil {
		for i := range x.Lines {
			r.Memory = append(r.Memory, &MemoryLine{&x.Lines[i], m.anchor(x.Lines[i].Location)})
		}
	}
	if k.Scaling != nil {
		for i := range k.Scaling.Lines {
			l := &k.Scaling.Lines[i]
			r.Hints = append(r.Hints, &Hint{Location: l.Location, At: m.anchor(m.users(l.Location)), Grown: l})
		}
		for i := range k.Scaling.Serial {
			l := &k.Scaling.Serial[i]
			r.Hints = append(r.Hints, &Hint{Location: l.Location, At: m.anchor(m.users(l.Location)), Alone: l})
		}
		for i := range k.Scaling.Sections {
			if s := &k.Scaling.Sections[i]; s.Location != nil && len(s.Points) > 0 {
				r.Scaled = append(r.Scaled, &ScaledSection{s, m.anchor(m.users(s.Location))})
			}
		}
	}
	for path := range r.files {
		t := texts(path)
		switch {
		case t == nil:
			r.edited[path] = true
		case k.Files == nil: // a new run: this is how the files are
			r.files[path] = t.Digest()
		default:
			r.files[path] = k.Files[path]
			r.edited[path] = k.Files[path] != t.Digest()
			r.settle(path, t)
		}
	}
	return r
}

// Point is where an anchor stands now.
func (r *Result) Point(a *Anchor) text.Point { return r.now[a.index] }

// Line is the line on which it does, from 0.
func (r *Result) Line(a *Anchor) int { return r.now[a.index].Line }

// Stands reports whether there is an anchor, and its line is known: not where it was
// deleted since, nor in a file that was newer than the program.
func (r *Result) Stands(a *Anchor) bool { return a != nil && !r.gone[a.index] && !r.Newer[a.Path] }

// Now is the line, from 0, on which a report's line of a file stands now; false
// where the report has nothing on it.
func (r *Result) Now(path string, line int) (int, bool) {
	for _, a := range r.in[path] {
		if a.Point.Line == line-1 {
			return r.Line(a), true
		}
	}
	return 0, false
}

// Has reports whether a file is of the result's program.
func (r *Result) Has(path string) bool { _, ok := r.files[path]; return ok }

// Paths are those of the program's files, sorted.
func (r *Result) Paths() []string { return slices.Sorted(maps.Keys(r.files)) }

// Same reports whether two results are of one run, wherever they stand.
func (r *Result) Same(o *Result) bool { return r != nil && o != nil && r.Report == o.Report }

// Name tells results of different targets apart.
func (r *Result) Name() string { return r.Root + "\x00" + r.Target }

// Stale reports whether a file of the program differs from what was run.
func (r *Result) Stale() bool {
	if r.Behind {
		return true
	}
	for _, e := range r.edited {
		if e {
			return true
		}
	}
	return false
}

// Staleness says so in words; empty when all is as it was.
func (r *Result) Staleness() string {
	switch {
	case r.Behind:
		return "the program is older than its source: build it again"
	case r.Stale():
		return "edited since"
	}
	return ""
}

// settle puts the anchors of a file into a text. Only for a result that is
// nobody else's yet.
func (r *Result) settle(path string, t *text.Text) {
	var lost []*Anchor
	shifts := map[int]int{} // of the lines that are there, by how many lines they moved
	for _, a := range r.in[path] {
		p, there := a.Settle(t)
		r.now[a.index] = p
		switch {
		case !there:
			lost = append(lost, a)
		case a.Was != "":
			delete(r.gone, a.index)
			if len(a.Was) > 3 { // others stand everywhere
				shifts[a.Point.Line] = p.Line - a.Point.Line
			}
		}
	}
	for _, a := range lost {
		r.guess(a, t, shifts)
	}
}

// guess puts an anchor whose line has another text between its neighbours, if they moved alike.
// Else nobody knows where it is: what stands where it was is another line by now.
func (r *Result) guess(a *Anchor, t *text.Text, shifts map[int]int) {
	above, below := -1, -1
	for line := range shifts {
		if line < a.Point.Line && line > above {
			above = line
		}
		if line > a.Point.Line && (below < 0 || line < below) {
			below = line
		}
	}
	if above >= 0 && below >= 0 && shifts[above] == shifts[below] {
		if p := (text.Point{Line: a.Point.Line + shifts[above], Col: a.Point.Col}); p.Line < t.Lines() {
			r.now[a.index] = p
			delete(r.gone, a.index)
			return
		}
	}
	if r.gone == nil {
		r.gone = map[int]bool{}
	}
	r.gone[a.index] = true
}

// moved is a copy whose positions and marks may be written to.
func (r *Result) moved() *Result {
	next := *r
	next.now = slices.Clone(r.now)
	next.edited, next.gone = maps.Clone(r.edited), maps.Clone(r.gone)
	return &next
}

// Settled is the result where a file has another text, of whatever history.
func (r *Result) Settled(path string, t *text.Text) *Result {
	if !r.Has(path) {
		return r
	}
	next := r.moved()
	next.edited[path] = r.files[path] != t.Digest()
	next.settle(path, t)
	return next
}

// followed is the result after edits of a file. A text that is again as it was
// when the program ran has its anchors where they were then.
func (r *Result) followed(path string, edits []text.Edit) *Result {
	if len(r.in[path]) == 0 || len(edits) == 0 {
		return r
	}
	next := r.moved()
	for _, e := range edits {
		for _, a := range r.in[path] {
			next.follow(a, e)
		}
	}
	if r.Has(path) {
		t := edits[len(edits)-1].New
		next.edited[path] = r.files[path] != t.Digest()
		if !next.edited[path] {
			next.settle(path, t)
		}
	}
	return next
}

// follow moves an anchor with an edit. One whose line was deleted comes back with it.
func (r *Result) follow(a *Anchor, e text.Edit) {
	if r.gone[a.index] {
		if p, back := e.Back(a.Was, r.now[a.index]); back {
			r.now[a.index] = p
			delete(r.gone, a.index)
			return
		}
	}
	p, there := e.Track(r.now[a.index])
	r.now[a.index] = p
	if !there {
		if r.gone == nil {
			r.gone = map[int]bool{}
		}
		r.gone[a.index] = true
	}
}

// trimmed is a line's text and where its first character is that is no space.
func trimmed(line string) (string, int) {
	return strings.TrimSpace(line), len(line) - len(strings.TrimLeft(line, " \t"))
}
