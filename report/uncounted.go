package report

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
)

// How much of the busy time was in code that was counted (rule 20). It can only
// be told where a part called a library that was not, and then took much
// longer for its instructions than others.
const (
	slowest      = 2.0  // ns for an instruction that a run can have as its usual time
	usually      = 1.0  // … where all parts called such a library
	farAbove     = 4.0  // times the usual: the rest was elsewhere
	enoughToTell = 1000 // instructions of a part
	mostCounted  = 0.9  // of the busy time: nothing to doubt
	followsCause = 0.9  // r of a cause's counts with the threads' busy times
)

// libraryCalls is how often a part called a library that was not counted.
type libraryCalls struct {
	events []profile.EventID // of the blocks with such calls
	usual  float64           // ns for an instruction
}

func (b *builder) findLibraryCalls() *libraryCalls {
	if len(b.p.Program.LibraryCalls) == 0 {
		return nil
	}
	l := &libraryCalls{}
	index := b.p.Graph.IndexBlocks()
	for _, a := range b.p.Program.LibraryCalls {
		if k := index.At(a); k != profile.NoBlock && b.p.Graph.Blocks[k].Count != profile.NoEvent {
			l.events = append(l.events, b.p.Graph.Blocks[k].Count)
		}
	}
	slices.Sort(l.events)
	l.events = slices.Compact(l.events)
	var rates, weights []float64
	for i := range b.p.Sections {
		for j := range b.p.Sections[i].Instances {
			for k := range b.p.Sections[i].Instances[j].Parts {
				q := &b.p.Sections[i].Instances[j].Parts[k]
				if n := b.p.Instructions(q.Counts); q.Timed && n >= enoughToTell && l.of(q) == 0 {
					rates, weights = append(rates, float64(q.BusyNS)/float64(n)), append(weights, float64(n))
				}
			}
		}
	}
	l.usual = usually
	if len(rates) > 0 {
		stat.SortWeighted(rates, weights)
		l.usual = min(slowest, stat.Quantile(0.5, stat.Empirical, rates, weights))
	}
	return l
}

func (l *libraryCalls) of(q *profile.Part) (n uint64) {
	for _, e := range l.events {
		n += q.Counts.Of(e)
	}
	return n
}

// busyCounted fills in the share of the section's busy time that was in counted
// code, and doubts what follows from the rest's instructions.
func (b *builder) busyCounted(out *Section, s *profile.Section) {
	if b.calls == nil {
		return
	}
	busy, counted, most, mean := 0.0, 0.0, 0.0, 0.0
	for i := range s.Instances {
		sum, longest := 0.0, 0.0
		for k := range s.Instances[i].Parts {
			q := &s.Instances[i].Parts[k]
			if !q.Timed {
				return
			}
			t := float64(q.BusyNS)
			sum, longest = sum+t, max(longest, t)
			if b.calls.of(q) > 0 {
				t = min(t, farAbove*b.calls.usual*float64(b.p.Instructions(q.Counts)))
			}
			counted += t
		}
		busy, most, mean = busy+sum, most+longest, mean+sum/float64(len(s.Instances[i].Parts))
	}
	if busy <= 0 {
		return
	}
	share := counted / busy
	out.BusyCounted = known(share)
	if share >= mostCounted {
		return
	}
	b.uncountedGains(out, 1-mean/most)
	names, flags := []string{}, []string{}
	for _, p := range b.p.Program.Uncounted {
		base := filepath.Base(p)
		name, _, _ := strings.Cut(base, ".so")
		if !strings.HasPrefix(p, "/usr/lib") && !strings.HasPrefix(p, "/lib") { // what is loaded later must be known by its path
			name = p
		}
		names, flags = append(names, base), append(flags, "--lib "+name)
	}
	const shown = 4
	if len(names) > shown {
		names, flags = append(names[:shown], fmt.Sprintf("%d more", len(names)-shown)), flags[:shown]
	}
	out.Warnings = append(out.Warnings, Warning{Code: "library-not-counted", Message: fmt.Sprintf(
		"Only %s of the threads' busy time here was in code that was counted; these libraries were not: %s. Instructions say little of it: profile with %s.",
		units.Percent(share), strings.Join(names, ", "), strings.Join(flags, " "))})
}

// BusyApart reports whether the threads' busy times contradict their instructions
// (rule 15): what is even by these may not be.
func (s *Section) BusyApart() bool {
	return slices.ContainsFunc(s.Warnings, func(w Warning) bool { return w.Code == "instructions-vs-busy-time" })
}

// uncountedGains replaces gains in instructions, which are of a small part of
// the work. Where the threads' busy times follow what the first cause counts,
// evening it out would even these; of all else nothing is known.
func (b *builder) uncountedGains(out *Section, imbalance float64) {
	out.JointGain = nil
	for i := range out.Causes {
		c := &out.Causes[i]
		c.Gain = nil
		var n, t []float64
		for k := range c.Counts {
			if k >= len(out.Threads) || out.Threads[k].BusyS == nil {
				break
			}
			n, t = append(n, float64(c.Counts[k])), append(t, *out.Threads[k].BusyS)
		}
		if r := 0.0; i == 0 && c.Leader != "" && len(n) == len(out.Threads) && len(n) > 2 && floats.Max(n) > floats.Min(n) {
			if r = stat.Correlation(n, t, nil); r >= followsCause {
				c.Gain = gain(imbalance*r*r, math.NaN(), out.TimeS)
			}
		}
		c.Message = message(out, c)
	}
}
