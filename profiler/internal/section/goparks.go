package section

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Goroutines that wait for each other by channels and conditions, for their time, or for a
// file. The runtime has them leave their thread, and others let them go on:
//
//	goroutine 1   ─ receives ···········▷ ─────
//	goroutine 2   ──────────── sends ──────────
//
// What is recorded is that one goes on which has waited for long, and before it, that another
// one lets it: whoever it is, that is known by its number.

// goParks are the waits that have been ended, of those who do not go on yet.
type goParks struct {
	t     *Tracker
	woken map[uint64]uint64 // when, by the goroutine's number
}

// parked are the names of what is recorded.
var parked = []string{record.Parked, record.Slept, record.Polled, record.Woke}

func parks(t *Tracker) rule {
	p := &goParks{t: t, woken: map[uint64]uint64{}}
	return rule{calls: []call{
		{names: []string{record.Parked}, arrive: p.waited(profile.WaitCondition), brief: true},
		{names: []string{record.Slept}, arrive: p.waited(profile.WaitSleep), brief: true},
		{names: []string{record.Polled}, arrive: p.waited(profile.WaitIO), brief: true},
		{names: []string{record.Woke}, arrive: p.wakes, brief: true},
	}}
}

// IsPark tells whether records of a kind are made where a goroutine goes on that has waited,
// or lets one go on: what led there begins in the runtime.
func IsPark(kind uint32) bool { return declared.of(kind).park }

// waited handles the record of a goroutine that goes on. It has waited until it was let go
// on, and then for a thread.
func (p *goParks) waited(kind profile.WaitKind) handler {
	return func(x *thread, r record.Record) {
		begin, end := r.Arg3, r.TSC
		woken, known := p.woken[r.Arg1]
		delete(p.woken, r.Arg1)
		if known && woken > begin {
			end = min(end, woken+1)
		}
		site := p.t.out.own(&r)
		ns := int64(float64(end-begin) * p.t.c.NSPerTick)
		if begin < x.beginTSC || ns < shortest {
			return
		}
		x.keep(wait{Wait: profile.Wait{Kind: kind, Site: site, NS: ns, N: 1}, begin: begin, end: end})
		if known {
			p.t.words.waited(x, &record.Wait{Begin: begin, Object: r.Arg1}, end)
		}
	}
}

func (p *goParks) wakes(x *thread, r record.Record) {
	p.woken[r.Arg1] = r.TSC
	p.t.words.woke(x, &record.Wait{Begin: r.TSC, Object: r.Arg1, Wakes: 1, Site: p.t.out.own(&r)}, r.TSC)
}
