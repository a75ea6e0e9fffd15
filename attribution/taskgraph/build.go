package taskgraph

import (
	"cmp"
	"math"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// builder goes through the run in the order of time, and makes a task wherever
// something depends on a thread, or a thread on something.
type builder struct {
	p        *profile.Profile
	g        *Graph
	index    map[profile.ThreadID]int32 // of threads that have other numbers than theirs
	threads  []thread
	meetings []meeting
	joins    map[profile.Addr]bool // calls that wait for threads' ends
	syncs    []sync
	events   []event
	order    []int32 // of these, by time
	arena    []int32 // of lists of one
}

// thread is a thread up to the moment that the sweep has come to.
type thread struct {
	at      int64 // up to when it has tasks
	end     int64
	heads   []int32 // what its next task depends on
	parts   []Part  // in which it is, the innermost last
	waiting int     // of how many joins and rounds it waits for the end
	woken   *profile.Sync
	locked  int     // in how many waits for a lock it is
	asleep  int     // in how many waits that another thread ends it is
	idle    int     // at how many meetings it has arrived that are not complete
	after   []int32 // what its creator had done by then
	tasks   []int32 // its own
	joins   []int64 // when it had joined others
	anchors []anchor
}

// anchor is a moment at which a thread's CPU time is known.
type anchor struct{ at, cpu int64 }

// meeting is an instance whose threads meet, or a round of a pool.
type meeting struct {
	in         *profile.Instance
	arrived    []int32 // what it depends on
	waiter     int32   // of a round: who waits for it; −1: all meet
	dispatched []int32 // what the waiter had done when it began its own part
	own        bool    // it has one, and has begun it
}

// sync is a wait that another thread has ended.
type sync struct {
	*profile.Sync
	done []int32 // what that thread had done when it ended it
}

// What may happen, in the order in which it counts where it happens at once.
type happening int8

const (
	creates happening = iota
	wakes             // a thread ends the wait of another one
	born
	begins
	waits  // for a join or a round
	sleeps // until another thread ends it
	arrives
	ends
	meets
	woken
	joined
	window // from here on the graph is known
)

type event struct {
	at      int64
	what    happening
	thread  int32
	of      Part  // begins, arrives
	meeting int32 // −1: none; joined: by whom; of syncs their index
	number  int32 // of events that happen at once, which comes first
}

func newBuilder(p *profile.Profile) (*builder, error) {
	b := &builder{p: p, g: &Graph{}, index: map[profile.ThreadID]int32{}, joins: map[profile.Addr]bool{}}
	parts, instances := 0, 0
	for s := range p.Sections {
		instances += len(p.Sections[s].Instances)
		for i := range p.Sections[s].Instances {
			parts += len(p.Sections[s].Instances[i].Parts)
		}
	}
	awaited := 0 // threads whose end somebody waits for
	for i := range p.Threads {
		if p.Threads[i].Joiner != 0 {
			awaited++
		}
	}
	tasks := 2*parts + instances + 2*len(p.Threads) + 3*awaited
	b.events = make([]event, 0, 2*parts+instances+3*len(p.Threads)+2*awaited+1)
	b.arena = make([]int32, 0, tasks)
	b.g.Tasks, b.g.first, b.g.depends = make([]Task, 0, tasks), make([]int32, 0, tasks), make([]int32, 0, tasks+parts)
	b.threads = make([]thread, 0, len(p.Threads))
	ties := 0
	for i := range p.Threads {
		t := &p.Threads[i]
		if int(t.ID) != i {
			b.index[t.ID] = int32(i)
		}
		end := t.EndNS
		if end == 0 {
			end = max(t.BeginNS, p.Run.WallNS)
		}
		b.threads = append(b.threads, thread{at: t.BeginNS, end: end})
		if t.Creator != 0 && t.CreatedNS > 0 {
			b.event(event{t.CreatedNS, creates, int32(i), Part{}, -1, 0})
		}
		b.event(event{t.BeginNS, born, int32(i), Part{}, -1, 0})
		b.event(event{end, ends, int32(i), Part{}, -1, 0})
		if t.Creator != 0 {
			ties++
		}
	}
	if len(p.Threads) > 1 && ties == 0 {
		return nil, ErrNoTies
	}
	for s := range p.Sections {
		if err := b.section(int32(s)); err != nil {
			return nil, err
		}
	}
	b.groups()
	b.anchor()
	if b.g.FromNS > 0 {
		b.event(event{b.g.FromNS, window, -1, Part{}, -1, 0})
	}
	b.order = inOrder(b.events)
	return b, nil
}

// who is the index of a thread.
func (b *builder) who(id profile.ThreadID) int32 {
	if len(b.index) == 0 { // as mostly
		return int32(id)
	}
	if i, other := b.index[id]; other {
		return i
	}
	return int32(id)
}

func (b *builder) event(e event) {
	e.number = int32(len(b.events))
	b.events = append(b.events, e)
}

// section has what happens in the instances of a section that are known one by one.
func (b *builder) section(s int32) error {
	folded, first := false, int64(-1)
	for i := range b.p.Sections[s].Instances {
		in := &b.p.Sections[s].Instances[i]
		if in.Folded > 1 {
			folded = true
			continue
		}
		if !in.Placed() {
			return ErrNoTimes
		}
		from := b.instance(s, int32(i), in)
		if first < 0 || from < first {
			first = from
		}
	}
	if folded && first < 0 {
		return ErrFolded
	}
	if folded {
		b.g.FromNS = max(b.g.FromNS, first)
	}
	return nil
}

// instance says when its parts begin and arrive, and who waits for whom. Threads
// that are joined are no meeting: of these each says itself who joined it.
func (b *builder) instance(s, i int32, in *profile.Instance) (from int64) {
	kind, m := b.p.Sections[s].Kind, int32(-1)
	waiter := int32(-1)
	if in.Waiter != 0 {
		waiter = b.who(in.Waiter - 1)
	}
	if kind != profile.Threads && (kind != profile.Join || waiter >= 0) {
		m = int32(len(b.meetings))
		b.meetings = append(b.meetings, meeting{in: in, waiter: waiter})
	}
	from, last, own := in.Parts[0].BeginNS, int64(0), int64(-1)
	began := int64(math.MaxInt64)
	for k := range in.Parts {
		q := &in.Parts[k]
		x, of := b.who(q.Thread), Part{s, i, int32(k)}
		if kind == profile.Join {
			b.joins[q.Site] = true
		}
		b.event(event{q.BeginNS, begins, x, of, m, 0})
		b.event(event{q.ArriveNS, arrives, x, of, m, 0})
		from, last = min(from, q.BeginNS), max(last, q.ArriveNS)
		b.syncsOf(q, x)
		if x == waiter {
			own = q.ArriveNS
		} else {
			began = min(began, q.BeginNS)
		}
	}
	if m < 0 {
		return from
	}
	b.event(event{last, meets, -1, Part{}, m, 0})
	if waiter >= 0 {
		if own < 0 { // it has let the first one begin, and does hardly more
			own = began
		}
		b.event(event{min(own, last), waits, waiter, Part{}, m, 0})
	}
	return from
}

// syncsOf has when a part's waits began, and when and by whom they were ended.
func (b *builder) syncsOf(q *profile.Part, x int32) {
	for i := range q.Syncs {
		s := &q.Syncs[i]
		if s.Thread == q.Thread || s.BeginNS < q.BeginNS || s.EndNS > q.ArriveNS {
			continue
		}
		id := int32(len(b.syncs))
		b.syncs = append(b.syncs, sync{Sync: s})
		b.event(event{s.WakeNS, wakes, b.who(s.Thread), Part{}, id, 0})
		b.event(event{s.BeginNS, sleeps, x, Part{}, id, 0})
		b.event(event{s.EndNS, woken, x, Part{}, id, 0})
	}
}

// groups has when threads wait for those that they have created, and go on: those
// that go on at once have waited for them together.
func (b *builder) groups() {
	type group struct {
		joiner int32
		at     int64
	}
	began := map[group]int64{}
	from := map[group]int64{} // where that is known
	for i := range b.p.Threads {
		if t := &b.p.Threads[i]; t.Joiner != 0 {
			g := group{b.who(t.Joiner - 1), t.JoinedNS}
			began[g] = max(began[g], t.BeginNS)
			from[g] = max(from[g], t.JoinNS)
			b.event(event{t.JoinedNS, joined, int32(i), Part{}, g.joiner, 0})
		}
	}
	arrivals := b.arrivals()
	var all []group
	for g := range began {
		all = append(all, g)
	}
	slices.SortFunc(all, func(x, y group) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.joiner, y.joiner)) })
	for _, g := range all {
		at := from[g]
		if at == 0 {
			at = min(began[g], g.at)
			a := arrivals[g.joiner]
			if n, _ := slices.BinarySearch(a, g.at+1); n > 0 {
				at = max(at, a[n-1])
			}
		}
		b.threads[g.joiner].joins = append(b.threads[g.joiner].joins, g.at)
		b.g.Counts.Join++
		b.event(event{at, waits, g.joiner, Part{}, -1, 0})
	}
}

// arrivals are when the parts of each thread arrived.
func (b *builder) arrivals() [][]int64 {
	out := make([][]int64, len(b.threads))
	for _, e := range b.events {
		if e.what == arrives {
			out[e.thread] = append(out[e.thread], e.at)
		}
	}
	for _, a := range out {
		slices.Sort(a)
	}
	return out
}

// anchor keeps when the CPU time of threads is known: where they create others, and
// where they wait for these. In a graph of a run's end that is of no use, since it
// is not known when before that they did what.
func (b *builder) anchor() {
	for i := range b.p.Threads {
		t := &b.p.Threads[i]
		if t.Creator != 0 && t.CreatedCPUNS > 0 && b.g.FromNS == 0 {
			c := &b.threads[b.who(t.Creator-1)]
			c.anchors = append(c.anchors, anchor{t.CreatedNS, t.CreatedCPUNS})
		}
		if t.Joiner != 0 && t.JoinCPUNS > 0 && b.g.FromNS == 0 {
			c := &b.threads[b.who(t.Joiner-1)]
			c.anchors = append(c.anchors, anchor{t.JoinNS, t.JoinCPUNS})
		}
	}
	for i := range b.threads {
		t, all := &b.threads[i], b.p.Threads[i].CPUNS
		slices.SortFunc(t.anchors, func(x, y anchor) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.cpu, y.cpu)) })
		kept := t.anchors[:0]
		last := anchor{b.p.Threads[i].BeginNS, 0}
		for _, a := range t.anchors {
			if a.at > last.at && a.at < t.end && a.cpu >= last.cpu && a.cpu <= all {
				kept, last = append(kept, a), a
			}
		}
		t.anchors = append(kept, anchor{max(t.end, last.at), all})
	}
}
