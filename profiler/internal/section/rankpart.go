package section

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// rankPart is what a rank has executed since it last met others: the thread that
// calls MPI, and in the stead of what it did in meetings of its own process's threads
// what it had to wait for there, the longest part. So a rank is as late as its slowest
// thread makes it.
//
//	calling thread   ── own ──┬── own part ──┐      ┌── own ── Allreduce
//	others                    └── the longest part ─┘
//	rank                 own   +   the longest   +   own
type rankPart struct {
	acc      []record.Delta // of the calling thread
	more     []record.Delta // what was longer than its own,
	less     []record.Delta // and that
	moreBusy int64
	paths    map[*thread][]record.Delta // what others had waited for, that it has not met yet
	waits    []wait
	messages []profile.Message
	begin    profile.Addr
	tsc      uint64
	cpu      int64
}

// from begins it anew.
func (p *rankPart) from(x *thread, tsc uint64) {
	*p = rankPart{tsc: tsc, cpu: x.clock, begin: x.begin}
}

// arrives is the arrival that ends it.
func (y *rankThread) arrives(r record.Record) arrival {
	x := y.x
	a := arrival{t: x, tsc: r.TSC, site: profile.Addr(r.Site), chain: r.Chain, waits: y.waits, begin: y.begin, beginTSC: y.tsc, cpu: x.clock}
	a.delta = record.Sub(record.Add(y.acc, y.more), y.less)
	if y.cpu >= 0 && x.clock >= 0 {
		a.busyNS, a.timed = max(0, x.clock-y.cpu)+y.moreBusy, true
	}
	return a
}

// counted: a thread has counted more.
func (m *mpiRule) counted(x *thread, d []record.Delta) {
	if y := m.ranks[x]; y != nil {
		y.acc = record.Log(y.acc, d)
	}
}

// within: what a thread waits for in a call of MPI is another rank.
func (m *mpiRule) within(x *thread, w *record.Wait) {
	if y := m.ranks[x]; y != nil && y.depth > 0 && w.Kind != "" {
		w.Kind, w.Site = profile.WaitMessage, y.site
	}
}

// waited: a thread has waited, outside of MPI, and for something else than threads of
// its process, of which it is known how long they took.
func (m *mpiRule) waited(x *thread) {
	if y := m.ranks[x]; y != nil && y.depth == 0 && len(x.waits) > 0 && len(y.waits) < maxWaits {
		if w := x.waits[len(x.waits)-1]; w.begin >= y.tsc && w.Site != 0 && w.Kind != profile.WaitBarrier && w.Kind != profile.WaitJoin {
			y.waits = append(y.waits, w)
		}
	}
}

// met: threads of the process have met, or were waited for.
func (m *mpiRule) met(arrivals []arrival) {
	for x, y := range m.ranks {
		y.met(x, arrivals, m.t.c.Work)
	}
}

func (y *rankThread) met(x *thread, arrivals []arrival, work func([]record.Delta) uint64) {
	longest, most, own := -1, uint64(0), -1
	all := func(a *arrival) []record.Delta { return record.Add(a.delta, a.inner) }
	children := true
	for i := range arrivals {
		a := &arrivals[i]
		n := work(a.delta) + work(a.inner) + work(y.paths[a.t])
		if longest < 0 || n > most {
			longest, most = i, n
		}
		if a.t == x {
			own = i
		}
		children = children && a.t.parent == x
	}
	if longest < 0 {
		return
	}
	a := &arrivals[longest]
	path := record.Add(y.paths[a.t], all(a))
	if own < 0 && !children {
		if y.paths == nil {
			y.paths = map[*thread][]record.Delta{}
		}
		for i := range arrivals {
			y.paths[arrivals[i].t] = path
		}
		return
	}
	if longest != own {
		y.more = record.Add(y.more, path)
		y.moreBusy += a.busyNS + a.innerBusy
		if own >= 0 {
			y.less = record.Add(y.less, all(&arrivals[own]))
			y.moreBusy -= arrivals[own].busyNS + arrivals[own].innerBusy
		}
	}
	for i := range arrivals {
		delete(y.paths, arrivals[i].t)
	}
}

// shortestMessage is how long a call must take for it to have waited: to copy what is
// there takes less.
const shortestMessage = 20000

// spoke: a call in which it may have waited for another rank is over.
func (y *rankThread) spoke(r record.Record, nsPerTick float64) {
	how := y.talk
	if !how.on {
		return
	}
	if how.keep {
		if h := r.Arg1; len(y.promise) < maxWaits {
			y.promise[h] = how
		}
		return
	}
	ns := int64(float64(r.TSC-y.at) * nsPerTick)
	if ns < shortestMessage {
		return
	}
	if len(y.waits) < maxWaits {
		y.waits = append(y.waits, wait{Wait: profile.Wait{Kind: profile.WaitMessage, Site: how.site, NS: ns, N: 1}, begin: y.at, end: r.TSC})
	}
	if how.unknown { // a collective call, which it did not wait in
		return
	}
	for i := range y.messages {
		if s := &y.messages[i]; s.Site == how.site && s.Partner == how.partner && s.Sends == how.sends {
			s.NS, s.N = s.NS+ns, s.N+1
			return
		}
	}
	if len(y.messages) < maxWaits {
		y.messages = append(y.messages, profile.Message{Site: how.site, Partner: how.partner, Sends: how.sends, NS: ns, N: 1})
	}
}

// promised are all promises that are not kept yet.
func (y *rankThread) promised() (list []talk) {
	for _, p := range y.promise {
		list = append(list, p)
	}
	return list
}

// onlyOne is who they all are of, 0 where they are of several.
func onlyOne(list []talk) (partner int, sends, unknown bool) {
	if len(list) == 0 {
		return 0, false, true
	}
	partner, sends = list[0].partner, list[0].sends
	for _, p := range list {
		if p.partner != partner {
			partner = 0
		}
		unknown = unknown || p.sends != sends
	}
	return partner, sends && !unknown, unknown
}
