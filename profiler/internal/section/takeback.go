package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// A pool may turn out to be none, and so may a meeting at a gate. Their rounds have
// ended parts, and what threads did in them would be nowhere then: their join, or
// their team's region, would miss most of their work. So it is kept for some rounds
// what ends at them.

// undone is what a thread's part would be if its rounds had not ended any.
type undone struct {
	by       *code // of which they are; nil: a pool
	acc      []record.Delta
	waits    []wait
	begin    profile.Addr
	beginTSC uint64
	cpu      int64
	busyNS   int64
	timed    bool
	cuts     int // the thread's, when the pool ended its last part
	rounds   int
}

const mostUndone = 256 // rounds

// ends is u, and that another part of the thread's is about to be ended, of which so
// much is over, until its CPU clock stood so.
func (u *undone) ends(x *thread, over []record.Delta, clock int64) *undone {
	v := undone{begin: x.begin, beginTSC: x.beginTSC, cpu: x.cpu, timed: true}
	if u != nil {
		v = *u
	}
	if v.rounds++; v.rounds > mostUndone {
		v.acc, v.waits = nil, nil
	} else {
		v.acc, v.waits = record.Add(v.acc, over), append(slices.Clip(v.waits), x.waits...)
	}
	if v.timed = v.timed && x.cpu >= 0 && clock >= 0; v.timed {
		v.busyNS += max(0, clock-x.cpu)
	}
	return &v
}

// back gives a thread what was ended.
func (u *undone) back(x *thread) {
	x.acc, x.waits = record.Add(u.acc, x.acc), append(u.waits, x.waits...)
	x.begin, x.beginTSC, x.cpu = u.begin, u.beginTSC, u.cpu
	x.lacks = nil
	x.cuts++
}

// ends notes that a pool is about to end a thread's part, of which so much is over.
func (h *hand) ends(x *thread, over []record.Delta) {
	if h.undone != nil && h.undone.cuts != x.cuts { // who met others since began anew
		h.undone = nil
	}
	h.undone = h.undone.ends(x, over, x.clock)
	h.undone.cuts = x.cuts + 1
}

// takeBack gives a thread back what the pool has ended.
func (h *hand) takeBack(x *thread) {
	u := h.undone
	h.undone = nil
	if u != nil && u.cuts == x.cuts && u.rounds <= mostUndone {
		u.back(x)
	}
}

// ends notes that a meeting at a gate is about to end a thread's part.
func (c *code) ends(x *thread, over []record.Delta, clock int64) *undone {
	if c.all.right+c.objects.right > mostUndone {
		return nil
	}
	u := x.lacks
	if u != nil && u.by != c {
		u = nil
	}
	u = u.ends(x, over, clock)
	u.by = c
	return u
}

// takeBack gives those back what the meeting has ended that have it still to come, and
// the parts that others made of what was left.
func (g *gateRule) takeBack(c *code) {
	for _, x := range g.t.threads {
		if u := x.lacks; u != nil && u.by == c {
			u.back(x)
		}
	}
	for _, o := range g.t.out.order {
		for i := range o.instances {
			o.instances[i].restore(&g.t.c)
		}
	}
}

// restore gives the parts of an instance back what turned out to be no meeting has ended.
func (in *instance) restore(c *Config) {
	for i := range in.parts {
		p := &in.parts[i]
		u := p.lacks
		if u == nil || u.by.state != noMeeting {
			continue
		}
		p.lacks = nil
		p.delta = record.Add(u.acc, p.delta)
		p.Begin, p.BeginNS = u.begin, int64(float64(u.beginTSC-c.BeginTSC)*c.NSPerTick)
		if p.Timed = p.Timed && u.timed; p.Timed {
			p.BusyNS += u.busyNS
		}
		in.spanNS = max(in.spanNS, int64(float64(in.end-u.beginTSC)*c.NSPerTick))
	}
}
