package lime

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// perThread adds up a cause's events over the section, in the order of
// Result.Threads. For a START cause it is how often a part began there.
func perThread(res *Result, s *profile.Section, x *combined) []uint64 {
	at := make(map[int32]int, len(res.Threads))
	for i, t := range res.Threads {
		at[(&profile.Part{Thread: t.Thread, Slot: t.Slot}).Place()] = i
	}
	counts := make([]uint64, len(res.Threads))
	add := func(p *profile.Part, n uint64) {
		if t, ok := at[p.Place()]; ok {
			counts[t] += n
		}
	}
	if begin, ok := x.id.(startID); ok {
		eachPart(s, func(in *profile.Instance, p *profile.Part) {
			if in.Folded <= 1 && p.Begin == begin.at { // a rank is no thread
				add(p, 1)
			}
		})
		return counts
	}
	eachPart(s, func(in *profile.Instance, p *profile.Part) {
		if in.Folded <= 1 && slices.Contains(x.began, p.Begin) {
			add(p, 1)
		}
	})
	eachTotal(s, func(p *profile.Part) {
		for _, e := range x.events {
			add(p, p.Counts.Of(e)+p.Inner.Of(e))
		}
	})
	return counts
}

// eachPart visits the parts of all instances.
func eachPart(s *profile.Section, visit func(*profile.Instance, *profile.Part)) {
	for i := range s.Instances {
		for k := range s.Instances[i].Parts {
			visit(&s.Instances[i], &s.Instances[i].Parts[k])
		}
	}
}

// eachTotal visits parts that add up to what the threads did in the section:
// their totals, which a section with folded instances has, or else all parts.
func eachTotal(s *profile.Section, visit func(*profile.Part)) {
	for i := range s.Totals {
		visit(&s.Totals[i])
	}
	if len(s.Totals) == 0 {
		eachPart(s, func(_ *profile.Instance, p *profile.Part) { visit(p) })
	}
}

// threadTotals adds the instances up by slot.
func threadTotals(p *profile.Profile, s *profile.Section) []ThreadTotal {
	sums := s.PartsBySlot()
	all := make([]ThreadTotal, len(sums))
	for i := range sums {
		t := sums[i].Whole()
		all[i] = ThreadTotal{Thread: t.Thread, Slot: t.Slot, Several: t.Several, Instructions: p.Instructions(t.Counts), BusyNS: t.BusyNS, WaitNS: t.WaitNS, Timed: t.Timed}
	}
	return all
}
