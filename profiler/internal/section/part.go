package section

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// part is what is kept of a profile.Part until that is made of it: its counters
// instead of counts. There may be very many, of which most have only worked, so what
// else there was of a part lies apart.
type part struct {
	Thread            profile.ThreadID
	place             profile.ThreadID // its thread's
	Slot              profile.SlotID
	Timed             bool
	Begin, Site       profile.Addr
	BeginNS, ArriveNS int64
	BusyNS, WaitNS    int64
	delta             []record.Delta
	besides           *besides // nil: nothing
	lacks             *undone  // while that may turn out to be its own; nil: nothing
}

// besides is what few parts have.
type besides struct {
	waits       []profile.Wait
	wakes       []profile.Wake
	syncs       []profile.Sync
	inner       []record.Delta
	innerBusyNS int64
}

// What a counter will take once it is solved, about two and a half events, at
// twelve bytes each; and what a part takes beside its counters.
const (
	bytesPerDelta = 30
	bytesPerPart  = 300
)

func (p *part) size() int {
	n := len(p.delta)
	if b := p.besides; b != nil {
		n += len(b.inner) + len(b.waits) + len(b.wakes) + 2*len(b.syncs)
	}
	return bytesPerPart + bytesPerDelta*n
}

// part makes p that of an arrival at a meeting to which the last came at a moment. The
// room of its counters is used again.
func (c *collector) part(p *part, a *arrival, last uint64, ended bool) {
	*p = part{Thread: a.t.id, place: a.t.place, Begin: a.begin, Site: a.site, BeginNS: c.sinceStart(a.beginTSC), ArriveNS: c.sinceStart(a.tsc), delta: record.OwnIn(p.delta, a.delta), lacks: a.lacks}
	b := besides{inner: a.inner}
	if len(a.waits) > 0 {
		b.syncs = c.syncs(a)
		b.waits, b.wakes = sumWaits(a.waits, a.beginTSC, a.tsc)
	}
	if a.timed {
		p.Timed, p.BusyNS, b.innerBusyNS = true, max(0, a.busyNS-faultNS(b.waits)), a.innerBusy
		if !ended {
			p.WaitNS = int64(float64(last-a.tsc) * c.c.NSPerTick)
		}
	}
	if len(b.waits)+len(b.wakes)+len(b.syncs)+len(b.inner) > 0 || b.innerBusyNS != 0 {
		kept := b
		p.besides = &kept
	}
}

// part is the part but for its counters.
func (p *part) part() profile.Part {
	q := profile.Part{Thread: p.Thread, Slot: p.Slot, Begin: p.Begin, Site: p.Site, BeginNS: p.BeginNS, ArriveNS: p.ArriveNS, Timed: p.Timed, BusyNS: p.BusyNS, WaitNS: p.WaitNS}
	if b := p.besides; b != nil {
		q.Waits, q.Wakes, q.Syncs, q.InnerBusyNS = b.waits, b.wakes, b.syncs, b.innerBusyNS
	}
	return q
}

// inner is what it waited for that was its own doing.
func (p *part) inner() []record.Delta {
	if p.besides == nil {
		return nil
	}
	return p.besides.inner
}

// solve makes a profile.Part of it.
func (p *part) solve(c *Config) profile.Part {
	q := p.part()
	q.Counts = c.Solve(p.delta)
	if inner := p.inner(); len(inner) > 0 {
		q.Inner = c.Solve(inner)
	}
	return q
}
