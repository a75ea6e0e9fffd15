package solve

import (
	"cmp"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// pairs are call sites, by their numbers, with their targets, run-time addresses, and
// the number of both. Most sites have one or two, those of interpreters many.
type pairs struct {
	few  [][]pair // by site
	many map[farPair]int32
}

type pair struct {
	target uint64
	n      int32
}

type farPair struct {
	site   int
	target uint64
}

const fewTargets = 8

func (ps *pairs) find(site int, target uint64) (n int32, ok bool) {
	few := ps.few[site]
	for _, k := range few {
		if k.target == target {
			return k.n, true
		}
	}
	if len(few) == fewTargets {
		n, ok = ps.many[farPair{site, target}]
	}
	return n, ok
}

func (ps *pairs) add(site int, target uint64, n int32) {
	if len(ps.few[site]) < fewTargets {
		ps.few[site] = append(ps.few[site], pair{target, n})
	} else {
		ps.many[farPair{site, target}] = n
	}
}

type indirect struct {
	event  profile.EventID // NoEvent: the target is not ours
	callee int32
}

// Resolve makes a thread's deltas comparable between threads: counters of
// indirect calls, which each thread hands out by itself, become numbers of
// (site, target) pairs behind the chords.
func (v *Solver) Resolve(a *threadarea.Area, d []record.Delta) []record.Delta {
	chords, misses := int32(v.chords), int32(v.layout.Misses())
	if n := len(d); n == 0 || d[n-1].Counter < chords { // in order, and no indirect call among them
		return d
	}
	known, _ := slices.BinarySearchFunc(d, chords, func(x record.Delta, c int32) int { return cmp.Compare(x.Counter, c) })
	out := d[:known]
	for _, x := range d[known:] {
		if v.layout.Ops > 0 && x.Counter >= misses && int(x.Counter) < v.layout.Fixed() {
			x.Counter += firstMiss - misses
		} else {
			site, target := a.Target(x.Counter)
			x.Counter = chords + v.pair(site, target)
		}
		out = append(out, x)
	}
	return append(d[:known], record.Merge(out[known:])...)
}

// pair numbers a call site with one of its targets, a run-time address.
func (v *Solver) pair(site int, target uint64) int32 {
	if n, ok := v.pairs.find(site, target); ok {
		return n
	}
	n := int32(len(v.known))
	v.pairs.add(site, target, n)
	ind := indirect{event: profile.NoEvent, callee: -1}
	for _, m := range v.mods {
		g := m.Spec.Program.FuncAt(target - m.Bias)
		if g == nil || m.Spec.Plan(g) == nil {
			continue
		}
		ind.callee = m.Spec.Plan(g).Number
		fn := int32(sort.Search(len(v.plans), func(i int) bool { return int(v.plans[i].Site) > site })) - 1
		x := v.load(fn)
		s := x.sites[site-int(v.plans[fn].Site)]
		kind := profile.Indirect
		if s.tail {
			kind = profile.TailCall
		}
		ind.event = v.newEdge(x, edge{from: s.block, to: -1, callee: ind.callee, kind: kind, site: s.addr, late: true}, true)
	}
	v.known = append(v.known, ind)
	return n
}
