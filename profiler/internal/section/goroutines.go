package section

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Goroutines that a sync.WaitGroup holds together:
//
//	goroutine 1   ─ work ─ Done          Done is Add(−1)
//	goroutine 2   ─ work ──────── Done
//	waits         Wait ───────────────▷  an instance of those that were done since
//	                                     somebody last went on behind Wait
//
// A part is what a goroutine executed from where it began, or was waited for before,
// to the last time that it was done: who takes one piece of work after the other is
// done with each. What a goroutine does behind that is of no part, but where it goes
// on to the next one. Kinds of errgroup are made of these.

// goRule makes sections of what goroutines do.
type goRule struct {
	t       *Tracker
	groups  map[uint64]*waitGroup // by address
	at      map[*thread]waiting
	seats   map[goSeat]profile.ThreadID
	batches map[*thread][]*batch
	errands map[*thread]*errands
	kin     map[*thread]map[uint64][]*thread // that have received something, by who made them and the channel
	beneath map[*thread]*beneath             // see recursion.go
	forked  map[*thread]*forked              // likewise
	waiters map[*uint64]waiter               // by the first call of those that led there
	held    []met                            // instances that are to be filed when more is known of what is inside of their parts
	room    []arrival                        // of a group that was waited for
	tried   int                              // how much was sent of which it is not known whether there are rounds
}

// waitGroup is a sync.WaitGroup, since somebody last went on behind its Wait.
type waitGroup struct {
	done []arrival       // the last one of each
	at   map[*thread]int // where theirs is, once there are many
}

// met are the parts of an instance, and who waited for them; −1: nobody, as far as is known.
type met struct {
	parts  []arrival
	waiter profile.ThreadID
}

// fewDone are found as fast by looking at all of them.
const fewDone = 16

// of is where a goroutine's is, −1 where there is none.
func (w *waitGroup) of(x *thread) int {
	if w.at != nil {
		if i, known := w.at[x]; known {
			return i
		}
		return -1
	}
	return slices.IndexFunc(w.done, func(a arrival) bool { return a.t == x })
}

// put adds a goroutine's.
func (w *waitGroup) put(a arrival) {
	i := w.of(a.t)
	if i >= 0 {
		w.done[i] = a
		return
	}
	w.done = append(w.done, a)
	switch n := len(w.done); {
	case w.at != nil:
		w.at[a.t] = n - 1
	case n > fewDone:
		w.at = make(map[*thread]int, 2*n)
		for i := range w.done {
			w.at[w.done[i].t] = i
		}
	}
}

// waiting is a goroutine in Wait.
type waiting struct {
	group uint64
	since uint64
	site  profile.Addr
	chain []uint64
	came  arrival
}

// goSeat is the place of the n-th goroutine of a round that a go statement made.
type goSeat struct {
	created profile.Addr
	n       int
}

func goroutines(t *Tracker) rule {
	g := &goRule{t: t, groups: map[uint64]*waitGroup{}, at: map[*thread]waiting{}, seats: map[goSeat]profile.ThreadID{}, batches: map[*thread][]*batch{}, errands: map[*thread]*errands{}, kin: map[*thread]map[uint64][]*thread{},
		beneath: map[*thread]*beneath{}, forked: map[*thread]*forked{}, waiters: map[*uint64]waiter{}}
	if t != nil {
		t.goes = g
	}
	return rule{calls: []call{
		{names: []string{"sync.(*WaitGroup).Add"}, arrive: g.done, negative: true},
		{names: []string{"sync.(*WaitGroup).Wait"}, arrive: g.wait, leave: g.joined, meets: true},
		{names: []string{"runtime.newproc"}, arrive: g.makes},
		{names: []string{"runtime.chanrecv1", "runtime.chanrecv2", "runtime.selectgo"}, arrive: g.receives, meets: true},
		{names: []string{"runtime.chansend1"}, arrive: g.sends},
		{names: []string{record.First}, arrive: g.first},
	}, died: g.died, end: g.end}
}

// done: a goroutine is done with something that a group waits for.
func (g *goRule) done(x *thread, r record.Record) {
	w := g.groups[r.Arg1]
	if w == nil {
		w = &waitGroup{done: g.room}
		g.groups[r.Arg1], g.room = w, nil
	}
	w.put(x.arrive(r))
	switch {
	case x.group == 0:
		x.group = r.Arg1
	case x.group != r.Arg1 && !slices.Contains(x.also, r.Arg1):
		x.also = append(x.also, r.Arg1)
	}
}

// counted: what a goroutine did until it was done with a group is of an instance, and of
// none of the other groups that it was done with since it last began.
func (g *goRule) counted(group uint64, a *arrival) {
	x := a.t
	if x.group == group && len(x.also) == 0 { // as mostly
		x.group = 0
		return
	}
	for _, other := range append(x.also, x.group) {
		w := g.groups[other]
		if w == nil || other == group {
			continue
		}
		i := w.of(x)
		if i < 0 {
			continue
		}
		b := &w.done[i]
		if b.begin, b.beginTSC = a.site, a.tsc; b.tsc > a.tsc {
			b.delta, b.busyNS = record.Sub(b.delta, a.delta), max(0, b.busyNS-a.busyNS)
		} else {
			b.delta, b.busyNS, b.beginTSC = nil, 0, b.tsc
		}
	}
	x.also = slices.DeleteFunc(x.also, func(o uint64) bool { return o == group })
	if n := len(x.also); x.group == group && n > 0 {
		x.group, x.also = x.also[n-1], x.also[:n-1]
	} else if x.group == group {
		x.group = 0
	}
}

// wait: a goroutine comes to Wait.
func (g *goRule) wait(x *thread, r record.Record) {
	x.joining = true
	g.at[x] = waiting{r.Arg1, r.TSC, profile.Addr(r.Site), r.Chain, x.arrive(r)}
}

// joined: it goes on.
func (g *goRule) joined(x *thread, r record.Record) {
	at, known := g.at[x]
	delete(g.at, x)
	w := g.groups[at.group]
	if !known || w == nil {
		return
	}
	delete(g.groups, at.group)
	for i := range w.done {
		a := &w.done[i]
		g.counted(at.group, a)
		if a.t.alive {
			a.t.cut(*a, a.tsc)
		}
	}
	parts := g.gather(x, at, w.done)
	if parts == nil {
		return
	}
	held := g.file(parts, x.id)
	if x.parent != nil && len(parts) > 0 { // the first one is a part of none
		inside := spent{from: at.since, to: r.TSC}
		if n := len(g.batches[x]); n > 0 {
			y := g.batches[x][n-1]
			inside.from, inside.own = y.begin, x.clock-y.clock
		}
		x.spends(g.longest(parts, inside), true)
	}
	if !held && cap(parts) <= fewDone {
		clear(parts)
		g.room = parts[:0]
	}
}

// mostParts is how many goroutines of an instance are compared.
const mostParts = 1024

// file makes an instance, at once or, where it is held, later.
func (g *goRule) file(parts []arrival, waiter profile.ThreadID) (held bool) {
	slices.SortFunc(parts, func(a, b arrival) int { return cmp.Or(cmp.Compare(a.t.goid, b.t.goid), cmp.Compare(a.t.id, b.t.id)) })
	g.seat(parts)
	if slices.ContainsFunc(parts, g.open) {
		g.held = append(g.held, met{parts, waiter})
		return true
	}
	g.complete(met{parts, waiter})
	return false
}

// seat gives goroutines their places. They are numbered as they came to run, the last one
// made mostly first, but stand as they were made.
func (g *goRule) seat(parts []arrival) {
	n := map[profile.Addr]int{}
	var seats []goSeat // that nobody stood at before,
	var who []*thread  // and who does now
	var names []profile.ThreadID
	for i := range parts {
		y := parts[i].t
		if !y.filed && y.goAt != 0 {
			at := goSeat{y.goAt, n[y.goAt]}
			n[y.goAt]++
			if first, taken := g.seats[at]; taken {
				y.place = first
			} else {
				seats, who, names = append(seats, at), append(who, y), append(names, y.id)
			}
		}
		y.filed = true
	}
	slices.Sort(names)
	for i, at := range seats {
		g.seats[at], who[i].place = names[i], names[i]
	}
}

// workers are those who do not just make others who are of the instance, and wait for them.
func (g *goRule) workers(parts []arrival) []arrival {
	makes, work := map[profile.ThreadID]bool{}, uint64(0)
	for i := range parts {
		makes[parts[i].t.maker] = true
	}
	if !slices.ContainsFunc(parts, func(a arrival) bool { return makes[a.t.id] }) {
		return parts // as mostly
	}
	for i := range parts {
		work += g.t.c.Work(parts[i].delta)
	}
	const little = 20 // of the mean
	return slices.DeleteFunc(parts, func(a arrival) bool {
		return makes[a.t.id] && little*uint64(len(parts))*g.t.c.Work(a.delta) < work
	})
}

// complete files an instance.
func (g *goRule) complete(m met) {
	for i := range m.parts {
		g.within(&m.parts[i])
	}
	parts := g.workers(m.parts)
	all := len(parts)
	g.t.file(profile.Goroutines, parts[:min(all, mostParts)], byLibrary)
	o := g.t.out.latest
	if o != nil {
		o.instances[len(o.instances)-1].waiter = m.waiter + 1
	}
	if o == nil || all <= mostParts || slices.ContainsFunc(o.s.Warnings, func(w profile.Warning) bool { return w.Code == manyGoroutines }) {
		return
	}
	o.s.Warnings = append(o.s.Warnings, profile.Warning{Code: manyGoroutines,
		Message: fmt.Sprintf("of up to %d goroutines that met here at once the first %d are compared", all, mostParts)})
}

const manyGoroutines = "many-goroutines"
