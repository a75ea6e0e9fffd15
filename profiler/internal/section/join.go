package section

import (
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// joinRule: when a thread has joined all that it created, that was an instance.
type joinRule struct {
	t      *Tracker
	groups map[*thread]*group // by creator: workers that it has not yet joined
	of     map[*thread]*group // by worker
	seats  map[seat]profile.ThreadID
	looked map[uint64]int      // how often futures were looked at, by gate
	said   map[*thread]arrival // who has done what is waited for, and has not ended
	named  map[uint64]*thread  // by handle: who was born last
	apart  bool                // see Apart
	filed  bool                // there is a section of joins
	spare  [][]arrival         // room of groups that were filed, for those that will be
}

// group is the workers that one thread created from a moment at which it had
// none: when it has joined them all, that was one instance.
type group struct {
	creator *thread
	created int
	elders  int    // how many of these it had when the others were created: see setApart
	met     int    // how often it had met others when it created the first,
	lately  int    // and the last: see helpers.go
	inside  bool   // its creator meets others of the team around it
	beside  *group // that it has, and these are helpers beside them; nil: none
	workers []*thread
	dead    []arrival
	joined  int
	first   *arrival // the creator at its first join, or wait for a future
	last    moment   // its last join
	awaited bool     // the creator has waited for a future: that may be all it does to join
	pool    bool     // it has not
	over    uint64   // when the creator went on behind that; 0: not yet

	generations []generation // of those that nobody joins: see detached

	before *arrival // what the creator did between the calls that began it and the last
	after  *arrival // and since its first join
	// forks are the groups of its workers that may be parts of it, by creator;
	// nil of those that forked again.
	forks map[*thread]*fork
}

func joins(t *Tracker) rule {
	j := &joinRule{t: t, groups: map[*thread]*group{}, of: map[*thread]*group{}, seats: map[seat]profile.ThreadID{}, looked: map[uint64]int{}, said: map[*thread]arrival{}, named: map[uint64]*thread{}}
	if t != nil {
		t.joins = j
	}
	return rule{
		calls: []call{
			{names: []string{"pthread_join", "pthread_timedjoin_np", "pthread_clockjoin_np", "thrd_join", "_ZN7QThread4waitE14QDeadlineTimer", "_ZN7QThread4waitEm"}, arrive: j.join, meets: true},
			{names: []string{"pthread_tryjoin_np"}, arrive: j.tries, meets: true},
			{names: []string{"pthread_create"}, arrive: j.create, starts: true},
			{names: []string{"thrd_create"}, arrive: j.createC11},
			{names: futureWaits, arrive: j.await, meets: true, awaits: true},
			{names: []string{record.Await}, arrive: j.looks, leave: j.hasLooked, meets: true, awaits: true},
			{names: []string{"_ZNSt6thread4joinEv"}, meets: true, inside: true},
			{names: []string{"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"}, inside: true},
			{names: []string{record.Done}, arrive: j.hasDone},
			{names: []string{"pthread_exit", "thrd_exit"}},
		},
		born: j.born,
		died: j.died,
		end:  j.end,
	}
}

// createC11: the third argument is the new thread's own; the second, the
// function that it begins in, is not recorded.
func (j *joinRule) createC11(x *thread, r record.Record) {
	r.Arg3 = 0
	j.create(x, r)
}

func (j *joinRule) create(x *thread, r record.Record) {
	x.nextStart, x.nextMade, x.creates = profile.Addr(r.Arg3), callSite{profile.Addr(r.Site), r.Chain}, moment{r.TSC, x.clock}
	j.goesOn(x, r)
	g := j.groups[x]
	if g == nil || g.beside == nil && g.lately < x.met {
		g = &group{creator: x, met: x.met, beside: g}
		j.groups[x] = g
	} else if g.olderRest() {
		j.setApart(g)
	}
	if g.created > g.elders || j.of[x] != nil || x.met > 0 { // in a recursion that is of it, and between meetings
		a := x.arrive(r).after(g.before)
		g.before = &a
	}
	x.restart(profile.Addr(r.Site), r.TSC)
	g.created++
	g.lately = x.met
	g.first = nil // it goes on creating: its own part starts at the last create
}

func (j *joinRule) born(x *thread) {
	if x.parent == nil {
		return
	}
	x.created, x.parent.creates = x.parent.creates, moment{}
	x.made, x.parent.nextMade = x.parent.nextMade, callSite{}
	g := j.groups[x.parent]
	if g == nil { // created by a library: no record
		g = &group{creator: x.parent, created: 1, met: x.parent.met}
		j.groups[x.parent] = g
	}
	j.of[x] = g
	if x.handle != 0 {
		j.named[x.handle] = x
	}
	g.workers = append(g.workers, x)
	x.place = j.placeOf(x, len(g.workers))
}

// adopted: a thread is one of a runtime's, which is not joined by who created it.
func (j *joinRule) adopted(x *thread) {
	g := j.of[x]
	if g == nil {
		return
	}
	delete(j.of, x)
	maps.DeleteFunc(j.seats, func(_ seat, of profile.ThreadID) bool { return of == x.id })
	x.place = x.id
	at := slices.Index(g.workers, x)
	if at < 0 {
		return
	}
	g.workers = slices.Delete(g.workers, at, at+1)
	for i := range g.generations {
		if y := &g.generations[i]; y.workers > at {
			y.workers--
		}
	}
	if g.created--; g.created <= 0 && j.groups[g.creator] == g {
		delete(j.groups, g.creator)
	}
}

// tries: a creator asks whether a thread has ended, mostly again and again.
func (j *joinRule) tries(x *thread, r record.Record) {
	if w := j.named[r.Arg1]; w != nil && j.of[w] == j.groups[x] && !w.called {
		j.join(x, r)
	}
}

func (j *joinRule) join(x *thread, r record.Record) {
	x.joining, x.joinSite = true, profile.Addr(r.Site)
	j.t.pools.awaited(x, r)
	g := j.groups[x]
	if g == nil {
		return
	}
	if g.awaited && g.joined == 0 {
		j.t.pools.ends(x) // before what it waited for is taken for these threads' results
	}
	w := j.named[r.Arg1]
	if g.beside != nil && (w == nil || j.of[w] != g) {
		g = j.back(g)
	}
	if w != nil && j.of[w] == g {
		if j.another(g, w, callSite{profile.Addr(r.Site), r.Chain}) {
			j.setApart(g)
		}
		w.called = true
	}
	if g.first == nil {
		a := x.arrive(r)
		g.first = &a
		x.cutInside(a, r.TSC)
	} else if g.forks != nil {
		a := x.arrive(r)
		rest := a.after(g.after)
		g.after = &rest
		x.cutInside(a, r.TSC)
	}
	g.joined++
	g.last = moment{r.TSC, x.clock}
	j.settle(g, r.TSC)
}

func (j *joinRule) died(x *thread, a arrival) {
	j.goesOn(x, record.Record{TSC: a.tsc})
	if g := j.of[x]; g != nil {
		a = a.after(x.before)
		a.inner, a.innerBusy = x.inner, x.innerBusy
		if g.dead == nil { // mostly these are all, and their creator comes behind them
			g.dead = j.room(min(len(g.workers), manyWorkers) + 1)
		}
		g.dead = append(g.dead, a)
		j.settle(g, a.tsc)
	}
}

// manyWorkers is for how many there is room at once.
const manyWorkers = 64

// room is for so many arrivals, which may have been those of a group that was filed: there
// may be very many groups, mostly as large as the last one.
func (j *joinRule) room(n int) []arrival {
	if last := len(j.spare) - 1; last >= 0 {
		room := j.spare[last]
		if j.spare = j.spare[:last]; cap(room) >= n && cap(room) <= 2*n {
			return room
		}
	}
	return make([]arrival, 0, n)
}

// leave leaves the room of a group's arrivals, which were filed and kept nowhere.
func (j *joinRule) leave(filed []arrival) {
	clear(filed)
	j.spare = append(j.spare, filed[:0])
}

// spent: what a dead thread did last was of something else.
func (j *joinRule) spent(x *thread) {
	g := j.of[x]
	if g == nil {
		return
	}
	for i := range g.dead {
		if a := &g.dead[i]; a.t == x {
			*a = arrival{t: x, tsc: a.tsc, begin: a.begin, beginTSC: a.tsc, timed: true}
		}
	}
}

// settle completes a group once all are dead and joined, which no worker is
// that was created after the last join: joins with a time limit may be more
// than there are workers.
func (j *joinRule) settle(g *group, tsc uint64) {
	if g.over > 0 {
		j.settleAwaited(g)
		return
	}
	if g.first == nil || g.joined < len(g.workers) || len(g.dead) < len(g.workers) || j.groups[g.creator] != g || len(g.workers) < g.created {
		return
	}
	j.closes(g)
	g.creator.joins(g.workers, g.last, tsc)
	j.file(g)
	j.forget(g)
}

// forget lets go of a group that was filed, whose workers have all ended: there may be
// very many such in a run.
func (j *joinRule) forget(g *group) {
	for _, w := range g.workers {
		delete(j.of, w)
		j.t.joined(w)
	}
}

// file makes an instance of a group, which has no arrivals any more then.
func (j *joinRule) file(g *group) {
	takesPart := j.takesPart(g)
	parts := g.dead
	g.dead = nil
	for i := range parts {
		parts[i].site, parts[i].chain = g.first.site, g.first.chain
	}
	if takesPart {
		parts = append(parts, *g.first)
	}
	j.done(g, parts)
}

// takesPart reports whether the creator worked beside its workers between its
// last create and its first join: it met one at a barrier, ran the function
// that they began in, or did at least a twentieth of a worker's work, which is also what
// that had others do.
func (j *joinRule) takesPart(g *group) bool {
	c := &j.t.c
	if c.Times {
		return j.worksBeside(g)
	}
	sum := uint64(0)
	for i := range g.dead {
		if g.dead[i].t.metParent {
			return true
		}
		sum += c.Work(g.dead[i].delta) + c.Work(g.dead[i].inner)
	}
	if sum > 0 && c.Work(g.first.delta)*uint64(20*len(g.dead)) >= sum {
		return true
	}
	if c.Entered != nil {
		own := c.Solve(g.first.delta)
		for _, w := range g.workers {
			if c.Entered(own, w.start) {
				return true
			}
		}
	}
	return false
}
