package section

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Each rank keeps its collective calls by itself, and all have to keep the same ones:
// so what is added up depends on the number of a call alone. The first ones are kept
// one by one, those behind in groups that become twice as long each time that their
// number has doubled. That bounds memory by the logarithm of the number of calls.
const singleCalls = 1024

// groupOf is the group that the k-th call is in: the first in it.
func groupOf(k uint64) uint64 {
	length := uint64(1)
	for n := uint64(singleCalls); k >= n; n *= 2 {
		length *= 2
	}
	return k / length * length
}

// rankCall is what a rank did before a collective call, or a group of them.
type rankCall struct {
	call profile.MPICall
	part rankSum
	inNS int64  // from the begin of a part to its arrival, summed
	end  uint64 // when the first one was
}

// rankSum is a sum of parts with its counters instead of counts.
type rankSum struct {
	profile.Part
	delta []record.Delta
}

// rankCalls are those of a section, by call.
type rankCalls map[profile.MPICall]*rankCall

// meetRanks files what a rank did before a collective call, which it has left at a
// moment; or it never has.
func (t *Tracker) meetRanks(y *rankThread, left uint64, timed bool) {
	a := &y.arrived
	place, from := t.out.place([]arrival{*a}, byLibrary)
	if place[0].site == 0 {
		return
	}
	t.Instances++
	o := t.out.open(profile.MPI, place, from)
	p := rankSum{Part: profile.Part{Thread: y.x.id, Begin: a.begin, Site: a.site, BeginNS: t.out.sinceStart(a.beginTSC), ArriveNS: t.out.sinceStart(a.tsc), Messages: y.messages},
		delta: record.Own(a.delta)}
	p.Waits, p.Wakes = sumWaits(a.waits, a.beginTSC, a.tsc)
	if a.timed && timed {
		p.Timed, p.BusyNS, p.WaitNS = true, max(0, a.busyNS-faultNS(p.Waits)), int64(float64(left-a.tsc)*t.c.NSPerTick)
	}
	k := profile.MPICall{Comm: y.call.Comm, First: groupOf(y.call.First)}
	c := o.calls[k]
	if c == nil {
		if o.calls == nil {
			o.calls = rankCalls{}
		}
		c = &rankCall{call: k, part: p, end: a.tsc}
		c.call.N = 1
		o.calls[k] = c
	} else {
		c.add(&p)
	}
	c.inNS += int64(float64(a.tsc-a.beginTSC) * t.c.NSPerTick)
}

// add adds up the parts of a group. When each began is known no more.
func (c *rankCall) add(p *rankSum) {
	q := &c.part
	c.call.N++
	q.delta = record.Add(q.delta, p.delta)
	q.Waits, q.Wakes = profile.SumWaits(append(q.Waits, p.Waits...)), profile.SumWakes(append(q.Wakes, p.Wakes...))
	q.Messages = append(q.Messages, p.Messages...)
	if q.Timed = q.Timed && p.Timed; q.Timed {
		q.BusyNS, q.WaitNS = q.BusyNS+p.BusyNS, q.WaitNS+p.WaitNS
	} else {
		q.BusyNS, q.WaitNS = 0, 0
	}
	q.BeginNS, q.ArriveNS = 0, 0
}

// takeCalls adds those of another section, which is found to be the same.
func (o *open) takeCalls(x *open) {
	for k, c := range x.calls {
		mine := o.calls[k]
		if mine == nil {
			if o.calls == nil {
				o.calls = rankCalls{}
			}
			o.calls[k] = c
			continue
		}
		mine.add(&c.part)
		mine.call.N += c.call.N - 1
		mine.inNS += c.inNS
	}
}

// instances are the calls as instances, in order of time.
func (s rankCalls) instances(c Config) (list []profile.Instance) {
	all := make([]*rankCall, 0, len(s))
	for _, x := range s {
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b *rankCall) int {
		return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.call.Comm, b.call.Comm), cmp.Compare(a.call.First, b.call.First))
	})
	for _, x := range all {
		x.part.Counts = c.Solve(x.part.delta)
		list = append(list, profile.Instance{Folded: 1, SpanNS: x.inNS, Call: x.call, Parts: []profile.Part{x.part.Part}})
	}
	return list
}
