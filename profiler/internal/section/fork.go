package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// A recursion that forks and joins at one line is one piece of parallel work:
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
}

// done files what a group's end completes. It is kept where it looks like a
// part of the group around it: where groups that began like that one have been
// joined at this line.
func (j *joinRule) done(g *group, parts []arrival) {
	f := &fork{j.t.c.Line(g.first.site), g.creator, parts, g.before, g.after}
	j.joined[g.line] = f.line
	inner := g.forks
	if !recursive(inner, f.line) {
		j.fileAll(inner)
		inner = nil
	}
	for _, x := range inner {
		f.absorb(x)
	}
	if around := j.of[g.creator]; around != nil && j.groups[around.creator] == around && j.joined[around.line] == f.line {
		around.forks = append(around.forks, f)
		return
	}
	if len(inner) > 0 {
		f.own(f.after, f.before)
	}
	j.t.file(profile.Join, f.parts, false)
}

// recursive: the forks inside a group are joined where it is, and no thread has
// forked twice: that would be one after the other, not beside each other.
func recursive(forks []*fork, line string) bool {
	creators := map[*thread]bool{}
	for _, f := range forks {
		if f.line != line || creators[f.creator] {
			return false
		}
		creators[f.creator] = true
	}
	return true
}

func (j *joinRule) fileAll(forks []*fork) {
	for _, f := range forks {
		j.t.file(profile.Join, f.parts, false)
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
	return a
}
