package section

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// wait is a wait of a thread in the part that is under way. Which meeting a
// part ends at is known later than when it was waited: a wait that begins at
// or behind a part's arrival is the meeting's own, and what Part.WaitNS says.
type wait struct {
	profile.Wait
	begin uint64
	end   uint64
	on    *sleeper       // who ended it is looked for; nil: it is not
	wakes []profile.Wake // of waits that were added up
	syncs []synced       // likewise
}

// waited handles the record of a wait that has ended: when the thread had it
// been off its core, it was not working.
func (x *thread) waited(w *record.Wait, r record.Record, nsPerTick float64) (is bool) {
	last, clock := x.last, x.clock
	if r.CPUNS == 0 { // nobody has looked: it worked until it waited
		if at := max(last, w.Begin); clock >= 0 {
			x.clock += int64(float64(at-last) * nsPerTick)
		}
		x.last = r.TSC
	} else {
		x.tick(&r, nsPerTick)
	}
	if w.Kind == "" || w.Begin < x.beginTSC {
		return false // no wait, or of the meeting before
	}
	ns := int64(float64(r.TSC-w.Begin) * nsPerTick)
	if clock >= 0 && r.CPUNS > 0 { // a call can also take long because the system works
		ns = min(ns, int64(float64(r.TSC-last)*nsPerTick)-(x.clock-clock))
	}
	if ns < shortest {
		return false
	}
	x.keep(wait{Wait: profile.Wait{Kind: w.Kind, Site: w.Site, NS: ns, N: 1}, begin: w.Begin, end: r.TSC})
	return true
}

// faulted handles the record of page faults.
func (x *thread) faulted(w *record.Wait, end uint64) {
	if w.Begin >= x.beginTSC {
		x.keep(wait{Wait: profile.Wait{Kind: w.Kind, Site: w.Site, NS: w.NS, N: w.N}, begin: w.Begin, end: end})
	}
}

// keep appends a wait to those of the part that is under way.
func (x *thread) keep(w wait) {
	if len(x.waits) >= maxWaits {
		x.foldWaits()
	}
	x.waits = append(x.waits, w)
}

// shortest is how many nanoseconds off its core a thread has waited: the system
// needs some of them for itself.
const shortest = 5000

// maxWaits is how many waits of a part are kept one by one.
const maxWaits = 4096

// foldWaits adds up the older half of the waits of a part that is under way.
func (x *thread) foldWaits() {
	old := x.waits[:len(x.waits)/2]
	last := old[len(old)-1].begin
	waits, wakes := sumWaits(old, 0, last+1)
	syncs := oneByOne(old, 0, last+1)
	syncs = syncs[max(0, len(syncs)-maxSyncs/16):]
	var kept []wait
	for i, w := range waits {
		sum := wait{Wait: w, begin: last}
		if i == 0 {
			sum.wakes, sum.syncs = wakes, syncs
		}
		kept = append(kept, sum)
	}
	x.waits = append(kept, x.waits[len(old):]...)
}

// keepWaits drops the waits that began before the part did.
func (x *thread) keepWaits() { x.waits = since(x.waits, x.beginTSC) }

// since are the waits that did not begin before a moment.
func since(ws []wait, begin uint64) (kept []wait) {
	for _, w := range ws {
		if w.begin >= begin {
			kept = append(kept, w)
		}
	}
	return kept
}

// faultNS is how long a part's thread had its core and did not work, but waited
// for memory.
func faultNS(ws []profile.Wait) (ns int64) {
	for _, w := range ws {
		if w.Kind == profile.WaitFault {
			ns += w.NS
		}
	}
	return ns
}

// sumWaits adds up the waits that began in a part, and who ended them: when the
// part began may be known later than what was waited for.
func sumWaits(ws []wait, begin, arrival uint64) ([]profile.Wait, []profile.Wake) {
	var list []profile.Wait
	var wakes []profile.Wake
	for _, w := range ws {
		if w.begin >= begin && w.begin < arrival {
			list = append(list, w.Wait)
			wakes = append(append(wakes, w.wakes...), w.on.endedBy()...)
		}
	}
	return profile.SumWaits(list), profile.SumWakes(wakes)
}
