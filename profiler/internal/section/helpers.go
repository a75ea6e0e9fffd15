package section

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// A thread of a team that comes to a barrier may have had helpers of its own since the last
// one, that it created and joined again:
//
//	meets ── works ── create ── works ── join ── works ── meets
//	└──────────────────── one part ──────────────────────┘
//
// All that it did is of the same part: without it, it would seem to have done nothing. While
// it had helpers it was as busy as whoever took longest, itself or one of them, as in a
// recursion (fork.go). Whoever it created before the last barrier, or joins behind the next
// one, is its team: there its part begins behind the last create.

// helped keeps what the creator of a group did before that, and what it had to wait for, if
// it has met nobody else meanwhile.
func (j *joinRule) helped(f *fork) {
	x := f.creator
	if within := x.met > 0 || j.of[x] != nil || f.inside; !within {
		return
	}
	if f.met != x.met {
		x.before, x.inner, x.innerBusy = nil, nil, 0
		return
	}
	j.t.waitedFor(f.parts, &x.inner, &x.innerBusy)
	f.parts = j.beside(f.parts, x)
	if f.before != nil {
		a := f.before.after(x.before)
		x.before = &a
	}
}

// beside are the parts of a group without that of its creator, where that did something else
// meanwhile: more than twenty times what they did. It is of the part around.
func (j *joinRule) beside(parts []arrival, creator *thread) []arrival {
	c := &j.t.c
	own, sum := uint64(0), uint64(0)
	for i := range parts {
		if w := c.Work(parts[i].delta) + c.Work(parts[i].inner); parts[i].t == creator {
			own = w
		} else {
			sum += w
		}
	}
	if own*uint64(len(parts)-1) <= 20*sum || len(parts) < 2 {
		return parts
	}
	return slices.DeleteFunc(parts, func(a arrival) bool { return a.t == creator })
}

// closes a group that its creator is done with.
func (j *joinRule) closes(g *group) {
	if g.beside == nil {
		delete(j.groups, g.creator)
	} else {
		j.groups[g.creator] = g.beside
	}
}

// back makes helpers that stay part of the group beside which they were created.
func (j *joinRule) back(g *group) *group {
	to := g.beside
	for _, w := range g.workers {
		j.of[w] = to
	}
	to.workers, to.created, to.dead, to.lately = append(to.workers, g.workers...), to.created+g.created, append(to.dead, g.dead...), g.lately
	for x, f := range g.forks {
		if to.forks == nil {
			to.forks = map[*thread]*fork{}
		}
		to.forks[x] = f
	}
	to.first, to.before, to.after = g.first, g.before, g.after
	if g.joined > 0 {
		to.joined, to.last = to.joined+g.joined, g.last
	}
	to.awaited, to.pool = to.awaited || g.awaited, to.pool || g.pool
	j.groups[to.creator] = to
	return to
}

// newestJoined reports whether those of a group that were created last, and these alone,
// were joined while the others go on: helpers of one that created its team before.
func (g *group) newestJoined() bool {
	if g.joined == 0 || g.first == nil || g.beside != nil || len(g.workers) < g.created {
		return false
	}
	if last := g.workers[len(g.workers)-1]; !last.called || last.alive {
		return false
	}
	_, rest := g.joinedOf()
	return len(rest) > 0 && slices.Equal(g.workers[:len(rest)], rest)
}

const noMeetingYet = -1

// meets describes the part of a thread that comes to where it meets others.
func (t *Tracker) meets(x *thread, r record.Record) arrival {
	a, j := x.arrive(r), t.joins
	if j == nil {
		return a
	}
	g := j.groups[x]
	first := g != nil && g.newestJoined()
	if first {
		g.inside = true
		j.setApart(g)
		g.inside = false
		g.lately = noMeetingYet
	}
	if !first && j.of[x] == nil && x.met == 0 {
		return a
	}
	if g != nil && g.lately == x.met {
		if g.beside != nil {
			j.back(g)
		}
		return a
	}
	if around := j.of[x]; around != nil && around.forks[x] != nil {
		f := around.forks[x]
		around.forks[x] = nil // it goes on with something else: no recursion
		j.release(f)
	}
	a.before, a.inner, a.innerBusy = x.before, x.inner, x.innerBusy
	return a
}

// had is what a thread had done and waited for, its helpers included, when it came out of
// code that may be a meeting: of its own since its part began anew, and before that.
type had struct {
	met           int
	before        *arrival
	inner         []record.Delta
	busy, innerNS int64
}

func (x *thread) had() had {
	return had{x.met, x.before, x.inner, max(0, x.clock-x.cpu), x.innerBusy}
}

// helpedSince takes what was before the end of the last passing off an arrival of a thread
// that had helpers since: what was its own then went to what it did before these.
func (a *arrival) helpedSince(p *passing) {
	if a.before == nil || p.had.met != a.t.met || p.tsc == 0 {
		return
	}
	b := *a.before
	b.delta, b.busyNS = record.Sub(b.delta, p.acc), b.busyNS-p.had.busy
	if last := p.had.before; last != nil {
		b.delta, b.busyNS = record.Sub(b.delta, last.delta), b.busyNS-last.busyNS
	}
	b.busyNS, b.begin, b.beginTSC = max(0, b.busyNS), p.arrived.site, p.tsc
	a.before, a.inner, a.innerBusy = &b, record.Sub(a.inner, p.had.inner), max(0, a.innerBusy-p.had.innerNS)
}

// helpedSince does so for what the thread does now.
func (x *thread) helpedSince(p *passing) {
	a := arrival{t: x, before: x.before, inner: x.inner, innerBusy: x.innerBusy}
	a.helpedSince(p)
	x.before, x.inner, x.innerBusy = a.before, a.inner, a.innerBusy
}
