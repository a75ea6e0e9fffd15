package section

import "github.com/skewlens/skewlens/profile"

// moment is a point in a thread's life, with its CPU clock; −1: not known.
type moment struct {
	tsc uint64
	cpu int64
}

// tied is what a thread's creator, and who waited for its end, have to do with it.
type tied struct {
	created moment           // when its parent was about to create it; zero: not known
	join    moment           // when who has waited for its end last began to; zero: not known
	joined  uint64           // when that one could go on
	joiner  profile.ThreadID // that one, counted from 1; 0: not known
}

// joins notes that a thread has waited for the ends of others, from a call on
// until a moment.
func (x *thread) joins(workers []*thread, from moment, until uint64) {
	for _, w := range workers {
		w.joiner, w.join, w.joined = x.id+1, from, max(until, w.born)
		w.join.tsc = min(w.join.tsc, w.joined)
	}
}

// Tie fills in who created a thread and who has waited for its end, and when.
func (t *Tracker) Tie(to *profile.Thread) {
	var its departedThread
	if x := t.threads[to.ID]; x != nil {
		its = departedThread{x.departed(), x.tied}
	} else if t.c.Goroutines {
		its = t.gone.of(to.ID) // of a coroutine
		its.departed = t.departed[to.ID]
	} else {
		its = t.gone.of(to.ID)
	}
	at := func(m moment) (ns, cpuNS int64) {
		if m.tsc > 0 {
			ns, cpuNS = t.out.sinceStart(max(m.tsc, t.c.BeginTSC)), max(0, m.cpu)
		}
		return ns, cpuNS
	}
	if to.Creator = its.parent; its.parent > 0 {
		to.CreatedNS, to.CreatedCPUNS = at(its.created)
		to.CreatedNS = min(to.CreatedNS, to.BeginNS)
	}
	if its.joiner > 0 {
		to.Joiner, to.JoinedNS = its.joiner, max(1, to.BeginNS, t.out.sinceStart(its.joined))
		to.JoinNS, to.JoinCPUNS = at(its.join)
		to.JoinNS = min(to.JoinNS, to.JoinedNS)
	}
}
