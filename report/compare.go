package report

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
)

// Comparison is two runs of a program side by side.
type Comparison struct {
	Before, After *Report
	// Sections are those of the run before, in its order, then those that
	// only the run after has, in its own.
	Sections []Pair
}

// Pair is a section in two runs; nil in the run that has no such section.
type Pair struct{ Before, After *Section }

// Compare matches the sections of two runs. Lines move when a program is edited,
// so sections are matched by kind, file and function first, in the order of their
// lines, where both runs have as many. What is built in another directory, as a second
// checkout is, has other files of the same names: so the others are matched likewise
// without the directory, and at last by their id.
func Compare(before, after *Report) *Comparison {
	c := &Comparison{Before: before, After: after}
	partner, taken := match(before.Sections, after.Sections)
	for i := range before.Sections {
		s := &before.Sections[i]
		c.Sections = append(c.Sections, Pair{s, partner[s]})
	}
	for i := range after.Sections {
		if s := &after.Sections[i]; !taken[s] {
			c.Sections = append(c.Sections, Pair{nil, s})
		}
	}
	return c
}

// where is what a section keeps when lines are put above it.
type where struct{ kind, file, function string }

func match(before, after []Section) (partner map[*Section]*Section, taken map[*Section]bool) {
	partner, taken = map[*Section]*Section{}, map[*Section]bool{}
	pair := func(b, a *Section) { partner[b], taken[a] = a, true }
	for _, name := range []func(string) string{whole, path.Base} {
		left := func(s *Section) bool { return partner[s] == nil && !taken[s] }
		olds, news := byPlace(before, name, left), byPlace(after, name, left)
		for at, old := range olds {
			if len(old) != len(news[at]) {
				continue
			}
			for i := range old {
				pair(old[i], news[at][i])
			}
		}
	}
	ids := map[string]*Section{}
	for i := range after {
		if s := &after[i]; !taken[s] {
			ids[s.ID] = s
		}
	}
	for i := range before {
		if s := &before[i]; partner[s] == nil && ids[s.ID] != nil {
			pair(s, ids[s.ID])
			delete(ids, s.ID)
		}
	}
	return partner, taken
}

// whole is a file's name with its directory.
func whole(file string) string { return file }

// byPlace has those of the sections that are left, with their files by a name.
func byPlace(all []Section, name func(file string) string, left func(*Section) bool) map[where][]*Section {
	out := map[where][]*Section{}
	for i := range all {
		s := &all[i]
		if !left(s) || s.Location == nil || s.Location.Function == "" || !s.Location.Place.Known() {
			continue
		}
		at := where{s.Kind, name(s.Location.File), s.Location.Function}
		out[at] = append(out[at], s)
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b *Section) int {
			return cmp.Or(cmp.Compare(a.Location.Line, b.Location.Line), cmp.Compare(a.Location.Column, b.Location.Column), strings.Compare(a.ID, b.ID))
		})
	}
	return out
}

// Changed says in words how the runs differ in what was run and where: what is not
// the same may be why the numbers are not.
func (c *Comparison) Changed() (out []string) {
	say := func(what, before, after string) {
		if before != after {
			out = append(out, fmt.Sprintf("%s: %s → %s", what, before, after))
		}
	}
	b, a := c.Before, c.After
	say("program", b.Program.Path, a.Program.Path)
	say("arguments", line(b.Program.Args), line(a.Program.Args))
	say("threads", fmt.Sprint(b.Run.Threads), fmt.Sprint(a.Run.Threads))
	say("cores", counted(b.Run.Cores), counted(a.Run.Cores))
	say("virtual cores", counted(b.Run.Virtual), counted(a.Run.Virtual))
	say("caches of", cmp.Or(b.Run.Machine, "none"), cmp.Or(a.Run.Machine, "none"))
	say("time is", b.Run.Response, a.Run.Response)
	if b.Program.BuildID != a.Program.BuildID && b.Program.Path == a.Program.Path {
		out = append(out, "the program was built anew")
	}
	return out
}

func line(args []string) string {
	if len(args) == 0 {
		return "none"
	}
	return strings.Join(args, " ")
}

func counted(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

// A Verdict says what became of a section's imbalance.
type Verdict string

// A section is better or worse by more than a point of its imbalance.
const (
	Better  Verdict = "better"
	Worse   Verdict = "worse"
	Same    Verdict = "same"
	Added   Verdict = "new"
	Gone    Verdict = "gone"
	Unclear Verdict = "unclear" // one of them could not be analysed, or they are imbalances of different things
)

// point is what an imbalance must change by to be another.
const point = 0.01

// Verdict compares a pair.
func (p Pair) Verdict() Verdict {
	switch by, known := p.More(); {
	case p.Before == nil:
		return Added
	case p.After == nil:
		return Gone
	case !known:
		return Unclear
	case by > point:
		return Worse
	case by < -point:
		return Better
	}
	return Same
}

// Verdict compares a pair of the two runs: not how imbalanced a section is, where that
// means instructions in the one run and another quantity in the other.
func (c *Comparison) Verdict(p Pair) Verdict {
	if c.Apart() && p.Before != nil && p.After != nil {
		return Unclear
	}
	return p.Verdict()
}

// Apart reports whether imbalance is of one quantity in the run before and of another in
// the run after.
func (c *Comparison) Apart() bool { return c.Before.Run.Response != c.After.Run.Response }

// Chance are the sections whose threads take their work themselves in the run after, by
// their ids, if they seem more imbalanced than before: how much each did is chance.
func (c *Comparison) Chance() (ids []string) {
	for _, p := range c.Sections {
		if by, known := p.More(); p.After != nil && known && by > point &&
			slices.ContainsFunc(p.After.Warnings, func(w Warning) bool { return w.Code == "self-scheduled" }) {
			ids = append(ids, p.After.ID)
		}
	}
	return ids
}

// More is by how much a section is more imbalanced than before, in fractions of its
// time; one that is new was not imbalanced at all, one that loses too little to
// matter is not. False where it is not known.
func (p Pair) More() (by float64, known bool) {
	matters := func(s *Section) (float64, bool) {
		if s == nil || s.Negligible {
			return 0, true
		}
		if s.Imbalance == nil {
			return 0, false
		}
		return *s.Imbalance, true
	}
	b, ok1 := matters(p.Before)
	a, ok2 := matters(p.After)
	return a - b, ok1 && ok2
}

// Worsened is the section whose imbalance grew most, and by how much; false where
// none did.
func (c *Comparison) Worsened() (worst Pair, by float64, any bool) {
	by = math.Inf(-1)
	for _, p := range c.Sections {
		if more, known := p.More(); known && c.Verdict(p) != Unclear && p.After != nil && more > by {
			worst, by = p, more
		}
	}
	return worst, by, by > 0
}

// Name is a section's id, or both where it moved.
func (p Pair) Name() string {
	switch {
	case p.Before == nil:
		return p.After.ID
	case p.After == nil || p.After.ID == p.Before.ID:
		return p.Before.ID
	}
	return p.Before.ID + " → " + p.After.ID
}

// Worst is the section that lost most in the run before. What was changed may
// have moved it: then it is the one that loses most in the run after. False
// where one of the runs has no section at all.
func (c *Comparison) Worst() (Pair, bool) {
	if len(c.Before.Sections) == 0 || len(c.After.Sections) == 0 {
		return Pair{}, false
	}
	worst := c.Sections[0]
	if worst.After == nil {
		worst.After = &c.After.Sections[0]
	}
	return worst, true
}

// SharedCores reports whether the threads of the run before shared cores, so
// that a section's seconds show little of what its busiest thread saved.
func (c *Comparison) SharedCores() bool {
	r := c.Before.Run
	return r.Cores > 0 && r.Threads > r.Cores
}

// Saving is what was predicted that balancing a section would save beside what
// was saved, as fractions of what it took before; nil is not known.
type Saving struct {
	Predicted *float64 // at most, of all causes together
	Work      *float64 // instructions of the busiest thread, instance by instance
	CPU       *float64 // its CPU time
	Time      *float64 // the section's own
}

// Saving compares a pair of which both runs have a section.
func (p Pair) Saving() Saving {
	s := Saving{CPU: saved(p.Before.CriticalBusyS, p.After.CriticalBusyS), Time: saved(p.Before.TimeS, p.After.TimeS)}
	if p.Before.Critical > 0 {
		work := 1 - float64(p.After.Critical)/float64(p.Before.Critical)
		s.Work = &work
	}
	g := p.Before.JointGain
	if g == nil && len(p.Before.Causes) > 0 {
		g = p.Before.Causes[0].Gain
	}
	if g != nil {
		s.Predicted = &g.Fraction
	}
	return s
}

func saved(before, after *float64) *float64 {
	if before == nil || after == nil {
		return nil
	}
	x := 1 - *after / *before
	return &x
}
