package lime

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// perThread adds up a cause's events over the section, in the order of
// Result.Threads. For a START cause it is how often a thread began there.
func perThread(res *Result, s *profile.Section, x *combined) []uint64 {
	at := make(map[profile.ThreadID]int, len(res.Threads))
	for i, t := range res.Threads {
		at[t.Thread] = i
	}
	counts := make([]uint64, len(res.Threads))
	add := func(p *profile.Part, n uint64) {
		if t, ok := at[p.Thread]; ok {
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
	eachTotal(s, func(p *profile.Part) {
		for _, e := range x.events {
			add(p, p.Counts.Of(e))
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

// threadTotals adds the instances up by thread.
func threadTotals(p *profile.Profile, s *profile.Section) []ThreadTotal {
	var all []ThreadTotal
	at := map[profile.ThreadID]int{}
	eachTotal(s, func(part *profile.Part) {
		i, ok := at[part.Thread]
		if !ok {
			i = len(all)
			at[part.Thread] = i
			all = append(all, ThreadTotal{Thread: part.Thread, Timed: true})
		}
		t := &all[i]
		t.Instructions += p.Instructions(part.Counts)
		t.BusyNS += part.BusyNS
		t.WaitNS += part.WaitNS
		t.Timed = t.Timed && part.Timed
	})
	slices.SortFunc(all, func(x, y ThreadTotal) int { return cmp.Compare(x.Thread, y.Thread) })
	return all
}
