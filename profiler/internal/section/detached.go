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
	workers int     // of the group until then
	at      arrival // where the creator waited last, before it created more
	over    uint64  // when it went on
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
	y.at.site, y.at.chain = a.site, a.chain
}

func (j *joinRule) goes(x *thread, r record.Record) {
	if g := j.groups[x]; g != nil && len(g.generations) > 0 {
		if y := &g.generations[len(g.generations)-1]; y.workers == g.created {
			y.over = r.TSC
		}
	}
}

// detached files the generations of a group that nobody joined, if in each
// several threads have ended by the time that its creator went on, or a moment later.
func (j *joinRule) detached(g *group) {
	if g.joined > 0 || len(g.generations) == 0 || len(g.workers) != g.created || len(g.dead) < g.created {
		return
	}
	end := map[*thread]arrival{}
	for _, a := range g.dead {
		end[a.t] = a
	}
	var all [][]arrival
	first := 0
	for i := range g.generations {
		y := &g.generations[i]
		var parts []arrival
		for k, w := range g.workers[first:y.workers] {
			a := end[w]
			late := float64(a.tsc) - float64(y.over)
			if y.over == 0 || late > max(momentNS/j.t.c.NSPerTick, lateShare*float64(y.over-a.beginTSC)) {
				return
			}
			w.place = g.workers[k].id
			a.site, a.chain = y.at.site, y.at.chain
			parts = append(parts, a)
		}
		if len(parts) < 2 {
			return
		}
		all, first = append(all, parts), y.workers
	}
	for i, parts := range all {
		for k := range parts {
			g.creator.joins([]*thread{parts[k].t}, moment{}, g.generations[i].over)
		}
		j.t.file(profile.Join, parts, byLibrary)
	}
}

// momentNS is how long a thread may take to end that has said that it has done
// its work, on a machine with more to do.
const momentNS = 5e6
