package section

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Threads that nobody joins are still waited for: by a latch, a counter, a
// condition. Where a creator creates some, waits, and creates as many again, each
// time those of one generation have ended when it goes on.
//
//	creator  creates ─ waits ──────▷ creates ─ waits ──────▷ …
//	threads     └─ work, and end        └─ work, and end
//
// Only at the end of the run is it known that nobody has joined them.

// generation is the threads of a group from one wait of its creator to the next.
type generation struct {
	workers int // of the group until then
	waits   []generationWait
}

// generationWait is a creator's wait at one place, or several that follow each other.
type generationWait struct {
	site  profile.Addr
	chain []uint64
	over  uint64 // when it went on
}

// waits: a creator comes to a wait; goes: it goes on.
func (j *joinRule) waits(x *thread, a arrival) {
	g := j.groups[x]
	if g == nil || g.joined > 0 || g.created == 0 {
		return
	}
	n := len(g.generations)
	if n == 0 || g.generations[n-1].workers < g.created {
		g.generations = append(g.generations, generation{workers: g.created})
		n++
	}
	y := &g.generations[n-1]
	if n := len(y.waits); n == 0 || y.waits[n-1].site != a.site {
		y.waits = append(y.waits, generationWait{site: a.site, chain: a.chain})
	}
}

func (j *joinRule) goes(x *thread, r record.Record) {
	if g := j.groups[x]; g != nil && len(g.generations) > 0 {
		if y := &g.generations[len(g.generations)-1]; y.workers == g.created {
			y.waits[len(y.waits)-1].over = r.TSC
		}
	}
}

// detached files the generations of a group that nobody joined, if in each
// several threads have ended by the time that its creator went on, or a moment later.
// A few may end much later, which had done their work and waited for a core to say so.
// Who was created before all of them, elsewhere, and lived on is none of them.
func (j *joinRule) detached(g *group) {
	if g.joined > 0 || len(g.generations) == 0 || len(g.workers) != g.created || len(g.dead) < g.created {
		return
	}
	end := map[*thread]arrival{}
	for _, a := range g.dead {
		end[a.t] = a
		if done, said := j.said[a.t]; said {
			end[a.t] = done
		}
	}
	var all [][]arrival
	var over []uint64
	begin := j.before(g, end)
	first, lag := begin, 0
	for i := range g.generations {
		y := &g.generations[i]
		var parts []arrival
		for k, w := range g.workers[first:y.workers] {
			w.place = g.workers[begin+k].id
			parts = append(parts, end[w])
		}
		w, late := j.awaitedBy(y.waits, parts)
		if w == nil || len(parts) < 2 {
			return
		}
		for k := range parts {
			parts[k].site, parts[k].chain = w.site, w.chain
		}
		all, over, first, lag = append(all, parts), append(over, w.over), y.workers, lag+late
	}
	if lag*stragglers > len(g.workers) {
		return
	}
	for i, parts := range all {
		for k := range parts {
			g.creator.joins([]*thread{parts[k].t}, moment{}, over[i])
		}
		j.t.file(profile.Join, parts, byLibrary)
	}
}

// before is how many of a group's threads were created before, and elsewhere than, those
// of the first generation, and were still there when the wait for these was over.
func (j *joinRule) before(g *group, end map[*thread]arrival) (n int) {
	y := &g.generations[0]
	last := g.workers[y.workers-1]
	for ; n < y.workers-2 && !j.kin(g.workers[n], last); n++ {
		if over := y.waits[len(y.waits)-1].over; over == 0 || end[g.workers[n]].tsc < over {
			break
		}
	}
	return n
}

// hasDone: a thread says that it has done what its creator waits for, though it has not
// ended.
func (j *joinRule) hasDone(x *thread, r record.Record) {
	j.t.gates.decides(x)
	j.said[x] = x.arrive(r)
}

// awaitedBy is the first of the waits by whose end the fewest of the threads had not
// ended, nor did a moment later; and how many these were.
func (j *joinRule) awaitedBy(waits []generationWait, parts []arrival) (*generationWait, int) {
	var by *generationWait
	least := 0
	for k := range waits {
		w := &waits[k]
		if w.over == 0 {
			continue
		}
		late := 0
		for _, a := range parts {
			if float64(a.tsc)-float64(w.over) > max(momentNS/j.t.c.NSPerTick, lateShare*float64(w.over-a.beginTSC)) {
				late++
			}
		}
		if by == nil || late < least {
			by, least = w, late
		}
	}
	return by, least
}

// momentNS is how long a thread may take to end that has said that it has done
// its work, on a machine with more to do.
const momentNS = 5e6

// stragglers: one thread in so many may end later than that.
const stragglers = 8
