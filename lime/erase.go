package lime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// The paper's check of misses (5.4) makes those of reported instructions hits, and
// looks how much of the imbalance is gone. Here this is done twice (rule 25): as a
// subtraction, of each cause, since modelled cycles add up; and, where it was asked
// for, as the paper does it, by a run in which these instructions hit.

// erased is what is gone by subtraction.
func erased(p *profile.Profile, s *profile.Section, events []profile.EventID) float64 {
	before := lost(s, func(c profile.Counts) float64 { return float64(p.ModelCycles(c)) })
	after := lost(s, func(c profile.Counts) float64 {
		n := float64(p.ModelCycles(c))
		for _, e := range events {
			n -= float64(p.Events[e].Cycles) * float64(c.Of(e))
		}
		return n
	})
	if before == 0 {
		return math.NaN()
	}
	return 1 - after/before
}

// lost is what a section's threads wait for each other.
func lost(s *profile.Section, of func(profile.Counts) float64) (sum float64) {
	for i := range s.Instances {
		parts := s.Instances[i].Parts
		if len(parts) == 0 {
			continue
		}
		t := make([]float64, len(parts))
		for k := range parts {
			t[k] = of(parts[k].Whole().Counts)
		}
		sum += floats.Max(t)*float64(len(t)) - floats.Sum(t)
	}
	return sum
}

// sameWork is how far what two runs lose by instructions alone may be apart, as a
// part of what the first one loses: an erased miss changes no instruction.
const sameWork = 0.05

// Erasure is how much of a section's lost time is gone in another run of the program,
// q, where t is the section and the misses in question were hits. ok is false where
// the two did not execute the same, so that nothing follows.
func Erasure(p *profile.Profile, s *profile.Section, q *profile.Profile, t *profile.Section) (gone float64, ok bool) {
	cycles := func(p *profile.Profile) func(profile.Counts) float64 {
		return func(c profile.Counts) float64 { return float64(p.ModelCycles(c)) }
	}
	executed := func(p *profile.Profile) func(profile.Counts) float64 {
		return func(c profile.Counts) float64 { return float64(p.Instructions(c)) }
	}
	before := lost(s, cycles(p))
	differs := math.Abs(lost(s, executed(p)) - lost(t, executed(q)))
	parts, all := executes(p, s)
	again, whole := executes(q, t)
	if before == 0 || parts != again || math.Abs(all-whole) > sameWork*all || differs > sameWork*before {
		return 0, false
	}
	return 1 - lost(t, cycles(q))/before, true
}

// executes is how many parts a section has, in how many instances, and what all of them
// executed.
func executes(p *profile.Profile, s *profile.Section) (parts [2]int, executed float64) {
	for i := range s.Instances {
		in := &s.Instances[i]
		parts[0] += max(1, in.Folded)
		parts[1] += len(in.Parts) * max(1, in.Folded)
		for k := range in.Parts {
			executed += float64(p.Instructions(in.Parts[k].Whole().Counts))
		}
	}
	return parts, executed
}

// addresses are those of events, ascending.
func addresses(p *profile.Profile, events []profile.EventID) (list []profile.Addr) {
	for _, e := range events {
		list = append(list, p.Events[e].Addr)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
