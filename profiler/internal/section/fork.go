package section

import (
	"cmp"
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// A recursion that forks and joins at one line of the user's is one piece of parallel work:
//
//	solve ─┬─ solve ─┬─ solve      each forks one half and does the other; the joins of
//	       │         └─ solve      the inner ones are parts of the outermost, whose
//	       └─ solve ─┬─ solve      instance has all the threads that there were
//	                 └─ solve
//
// Taken one by one, each join would compare a thread that waits for its own
// children with one that does not, and the same time would be counted at every
// depth.

// fork is a group that was joined, and that may be part of the group that its
// creator is a worker of.
type fork struct {
	line          string
	creator       *thread
	parts         []arrival
	before, after *arrival // what its creator did beside its part
	met           int      // how often that had met others when it began
	inside        bool     // as the group's
}

// done files what a group's end completes. Within another group it is kept until
// that one ends, which shows whether it was a part of it. A worker that forks
// again does one thing after the other: that is no recursion.
func (j *joinRule) done(g *group, parts []arrival) {
	f := &fork{j.t.out.spots(g.first)[0].line, g.creator, parts, g.before, g.after, g.met, g.inside}
	recursive := false
	for _, x := range g.kept() {
		if x.line == f.line {
			f.absorb(x)
			recursive = true
			continue
		}
		j.t.file(profile.Join, x.parts, byLibrary)
		if i := slices.IndexFunc(f.parts, func(a arrival) bool { return a.t == x.creator }); i >= 0 {
			j.t.waitedFor(x.parts, &f.parts[i].inner, &f.parts[i].innerBusy)
			if x.before != nil {
				f.parts[i] = f.parts[i].after(x.before)
			}
		}
	}
	around := j.of[g.creator]
	if around == nil || j.groups[around.creator] != around {
		if recursive {
			f.own(f.after, f.before)
		}
		j.helped(f)
		if !j.unasked(g.first) {
			j.t.file(profile.Join, f.parts, byLibrary)
			j.t.pools.joined(g.creator, f.parts)
			j.filed = j.filed || j.t.out.latest != nil
		}
		j.leave(f.parts)
		return
	}
	if around.forks == nil {
		around.forks = map[*thread]*fork{}
	}
	last, again := around.forks[g.creator]
	if !again {
		around.forks[g.creator] = f
		return
	}
	around.forks[g.creator] = nil
	for _, x := range []*fork{last, f} {
		if x != nil {
			j.release(x)
		}
	}
}

// unasked: a thread joins others in code of the language's library alone, from where the
// program began on, as Rust's tests are run: it is what these do that the user asked for.
func (j *joinRule) unasked(a *arrival) bool {
	const wholeChain = 3 // calls; fewer may be all that is known
	return len(a.chain) >= wholeChain && j.t.out.foreign([]arrival{*a})
}

// kept are the groups that are kept, in the order of their ends.
func (g *group) kept() []*fork {
	var all []*fork
	for _, f := range g.forks {
		if f != nil {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b *fork) int {
		return cmp.Or(cmp.Compare(a.end(), b.end()), cmp.Compare(a.creator.id, b.creator.id))
	})
	return all
}

func (f *fork) end() (tsc uint64) {
	for i := range f.parts {
		tsc = max(tsc, f.parts[i].tsc)
	}
	return tsc
}

// release files a group that is no part of the one around it, while its creator lives.
func (j *joinRule) release(f *fork) {
	j.helped(f)
	j.t.file(profile.Join, f.parts, byLibrary)
}

// end files what was kept for groups that nobody joined.
func (j *joinRule) end() {
	var left []*fork
	for _, id := range slices.Sorted(maps.Keys(j.t.threads)) {
		if g := j.groups[j.t.threads[id]]; g != nil {
			if g.beside != nil {
				g = j.back(g)
			}
			if joined, _ := g.joinedOf(); len(joined) > 1 || g.olderRest() {
				j.setApart(g)
			}
			left = append(left, g.kept()...)
			j.detached(g)
		}
	}
	slices.SortFunc(left, func(a, b *fork) int {
		return cmp.Or(cmp.Compare(a.end(), b.end()), cmp.Compare(a.creator.id, b.creator.id))
	})
	for _, f := range left {
		j.t.file(profile.Join, f.parts, byLibrary)
	}
}

// waitedFor adds the longest part of a group to what its creator, a worker of
// another one, had to wait for: in its own part that is as good as done by it.
func (t *Tracker) waitedFor(parts []arrival, inner *[]record.Delta, busy *int64) {
	longest, most := &parts[0], uint64(0)
	for i := range parts {
		a := &parts[i]
		if work := t.c.Work(a.delta) + t.c.Work(a.inner); work > most {
			longest, most = a, work
		}
	}
	*inner = record.Add(*inner, record.Add(longest.delta, longest.inner))
	if longest.timed {
		*busy += longest.busyNS + longest.innerBusy
	}
}

// absorb makes the parts of a fork those of the group around it. Its creator,
// a worker of that group, has one part: all that it did.
func (f *fork) absorb(x *fork) {
	var own *arrival
	for i := range x.parts {
		a := &x.parts[i]
		a.site = f.parts[0].site
		if a.t == x.creator {
			own = a
		} else {
			f.parts = append(f.parts, *a)
		}
	}
	f.own(x.after, own, x.before)
}

// own adds what the creator did beside its part, the last first.
func (f *fork) own(pieces ...*arrival) {
	for _, a := range pieces {
		if a != nil {
			f.add(*a)
		}
	}
}

// add makes more of a thread's work part of its part, where it has one.
func (f *fork) add(a arrival) {
	if i := slices.IndexFunc(f.parts, func(b arrival) bool { return b.t == a.t }); i >= 0 {
		site := f.parts[i].site
		if a.tsc > f.parts[i].tsc {
			f.parts[i] = a.after(&f.parts[i])
		} else {
			f.parts[i] = f.parts[i].after(&a)
		}
		f.parts[i].site = site
	}
}

// after is an arrival with what the thread had done before, nil for nothing.
func (a arrival) after(b *arrival) arrival {
	if b == nil {
		return a
	}
	a.delta = record.Add(b.delta, a.delta)
	a.begin, a.beginTSC = b.begin, b.beginTSC
	a.busyNS, a.timed = a.busyNS+b.busyNS, a.timed && b.timed
	a.inner, a.innerBusy = record.Add(b.inner, a.inner), a.innerBusy+b.innerBusy
	return a
}
