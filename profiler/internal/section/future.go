package section

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Threads whose results are waited for as futures (std::packaged_task,
// std::promise) are joined by that, and nobody else may: they are detached, or
// joined at the end of all. Where the wait is inlined, a gate tells that a future
// is looked at; elsewhere that is only seen where its result is not there yet. So
// a creator that has waited for one has joined its workers when it goes on, by
// creating more or by ending, if they end as well.

// futureWaits are what std::future waits by.
var futureWaits = []string{
	"_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE",
	"_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE",
}

// maxLooks is how often code may look at futures: who looks so often does
// something else meanwhile.
const maxLooks = 1 << 16

// looks: a thread comes to where it waits for a future, whether or not its
// result is there.
func (j *joinRule) looks(x *thread, r record.Record) {
	switch j.looked[r.Arg3]++; j.looked[r.Arg3] {
	case 1:
		j.t.pools.tell(r.Arg3, true)
	case maxLooks:
		j.t.pools.tell(r.Arg3, false)
	}
	j.await(x, r)
}

// hasLooked: it has the result.
func (j *joinRule) hasLooked(x *thread, r record.Record) { j.t.pools.looked(x, r) }

// await: the creator's part ends where it waits for the first time.
func (j *joinRule) await(x *thread, r record.Record) {
	x.joining = true
	j.t.pools.awaits(x, r)
	g := j.groups[x]
	if g == nil || len(g.workers) == 0 || g.pool {
		return
	}
	g.awaited = true
	if g.first == nil {
		a := x.arrive(r)
		g.first = &a
		x.cutInside(a, r.TSC)
	}
}

// ofPool: a creator waits for futures of work that it hands out to those it
// created, and not for them. What it has done since it first did so is of the
// rounds.
func (j *joinRule) ofPool(x *thread) {
	if g := j.groups[x]; g != nil && g.awaited && g.joined == 0 {
		g.pool, g.awaited, g.first = true, false, nil
		x.restart(x.begin, x.last)
	}
}

// goesOn: a creator that has waited for futures, and joined nobody, creates the
// next threads, or ends. Once it has done so, it may also find all results
// there: then as many threads as before are a round.
func (j *joinRule) goesOn(x *thread, r record.Record) {
	g := j.groups[x]
	if g == nil || g.joined > 0 {
		return
	}
	if l := x.awaited; !g.awaited && l != nil && len(g.workers) == len(l.workers) && g.created == l.created {
		a := x.arrive(r)
		a.site, a.chain = l.first.site, l.first.chain
		g.awaited, g.first = true, &a
	}
	if !g.awaited || g.first == nil {
		return
	}
	j.closes(g)
	g.over, x.awaited = r.TSC, g
	j.settleAwaited(g)
}

// settleAwaited completes a group whose creator went on, once all are dead. They
// had done their work if hardly any was left then; else the creator did not wait
// for them all, and it was no join.
func (j *joinRule) settleAwaited(g *group) {
	if len(g.dead) < len(g.workers) || len(g.workers) < g.created {
		return
	}
	for _, w := range g.workers {
		if w.after(g.over) > max(lateShare*float64(w.worked), lateWork) {
			return
		}
	}
	g.creator.joins(g.workers, moment{g.first.tsc, g.first.cpu}, g.over)
	j.file(g)
}

const (
	lateShare = 0.05
	lateWork  = 10000 // instructions
)

// after is how much a thread that has ended has done since a moment, as far as
// somebody looked then: else since it was looked at next.
func (x *thread) after(tsc uint64) float64 {
	for _, s := range x.seen {
		if s.tsc >= tsc && s.work < x.worked {
			return float64(x.worked - s.work)
		}
	}
	return 0
}

// sighting is how many instructions a thread had executed at a moment.
type sighting struct{ tsc, work uint64 }

// Seen tells how many instructions a thread that lives has executed until now.
func (t *Tracker) Seen(id profile.ThreadID, tsc, work uint64) {
	x := t.threads[id]
	x.seen = append(x.seen, sighting{tsc, work})
}

// Awaits tells whether records of a kind are of threads that wait for a future.
// When such a thread creates another one, those that it created before are to
// be [Tracker.Seen].
func Awaits(kind uint32) bool { return declared.of(kind).awaits }
