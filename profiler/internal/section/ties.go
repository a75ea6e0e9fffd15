package section

import "github.com/skewlens/skewlens/profile"

// moment is a point in a thread's life, with its CPU clock; −1: not known.
type moment struct {
	tsc uint64
	cpu int64
}

// joins notes that a thread has waited for the ends of others, from a call on
// until a moment.
func (x *thread) joins(workers []*thread, from moment, until uint64) {
	for _, w := range workers {
		w.joiner, w.join, w.joined = x, from, max(until, w.born)
		w.join.tsc = min(w.join.tsc, w.joined)
	}
}

// Tie fills in who created a thread and who has waited for its end, and when.
func (t *Tracker) Tie(to *profile.Thread) {
	x := t.threads[to.ID]
	if x == nil {
		to.Creator = t.departed[to.ID].parent
		return
	}
	at := func(m moment) (ns, cpuNS int64) {
		if m.tsc > 0 {
			ns, cpuNS = t.out.sinceStart(max(m.tsc, t.c.BeginTSC)), max(0, m.cpu)
		}
		return ns, cpuNS
	}
	if x.parent != nil {
		to.Creator = x.parent.id + 1
		to.CreatedNS, to.CreatedCPUNS = at(x.created)
		to.CreatedNS = min(to.CreatedNS, to.BeginNS)
	}
	if x.joiner != nil {
		to.Joiner, to.JoinedNS = x.joiner.id+1, max(1, to.BeginNS, t.out.sinceStart(x.joined))
		to.JoinNS, to.JoinCPUNS = at(x.join)
		to.JoinNS = min(to.JoinNS, to.JoinedNS)
	}
}
