package section

import (
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// OpenMP's runtimes (libgomp, libomp) keep a pool of threads, and have a team of
// them execute a region, with the thread that forks among them:
//
//	thread 0   fork ─ begins ── work ─┬─ barrier ── work ── ended ─ waits ─ joined
//	thread 1        ─ begins ─ work ──┤  barrier ─ work ──────── ended ─ waits
//	                                  └─ one section each: the barrier's, the region's
//
// What is recorded is exact, and so needs no rounds to show what it is: a region
// has a token while it is executed, which all of its threads bring along. A part is
// what a thread executed from where it begins (or came out of the barrier before)
// to where it arrives. While it waits it may execute tasks: these belong to what it
// waits for, and are known when it is next heard of.

// forks have a team call a function; meetings end what its threads do side by side.
var (
	gompForks = []string{"GOMP_parallel", "GOMP_parallel_sections", "GOMP_parallel_loop_static", "GOMP_parallel_loop_dynamic", "GOMP_parallel_loop_guided",
		"GOMP_parallel_loop_runtime", "GOMP_parallel_loop_nonmonotonic_dynamic", "GOMP_parallel_loop_nonmonotonic_guided",
		"GOMP_parallel_loop_nonmonotonic_runtime", "GOMP_parallel_loop_maybe_nonmonotonic_runtime"}
	kmpcForks    = []string{"__kmpc_fork_call", "__kmpc_fork_teams"}
	teamMeetings = []string{"GOMP_barrier", "GOMP_barrier_cancel", "GOMP_loop_end", "GOMP_loop_end_cancel", "GOMP_sections_end", "GOMP_sections_end_cancel",
		"__kmpc_barrier", "__kmpc_cancel_barrier", "__kmpc_copyprivate"}
)

// What a rule calls that a thread of a team begins what the team was forked for
// (Arrive), or has ended it (Leave): the two kinds above those of the fork.
const (
	begunGomp   = "(team of libgomp)"
	begunReduce = "(team of libgomp that reduces)"
	begunKmpc   = "(team of libomp)"
	begunDecide = "(team of libomp, if at all)"
)

// teamRule makes sections of what teams do.
type teamRule struct {
	t         *Tracker
	teams     map[uint64]*team // at work, by token
	forked    map[*thread][]uint64
	in        map[*thread][]*member // what a thread is at, the innermost last
	ended     map[*thread]*member   // that have not been heard of since
	seats     map[teamSeat]profile.ThreadID
	ofRuntime map[*thread]bool // created for a team
	before    map[*thread]int  // how many were in the team before, by who forked it
	ways      map[outlined][]uint64
	tasks     []*team          // regions of tasks that are at work: see tasks.go
	recent    []*team          // of those that were
	tokens    uint64           // how many there were,
	shared    bool             // and some at the same time
	crew      map[*thread]bool // who has executed tasks for others
}

// team is one execution of a region.
type team struct {
	master  *thread
	site    profile.Addr
	chain   []uint64
	members []*member
	epochs  []*meet  // barriers that not all have left,
	first   int      // and how many there were before
	over    bool     // the master went on,
	end     uint64   // then,
	waits   int      // and so many others are to be heard of
	before  *arrival // what the master did before, in a part of its own
	level   int      // teams that the master was in then
	begun   bool     // the master is at work
	anew    bool     // its threads are created for it, and end with it
	sheds   bool     // its runtime lets those threads end that it has no need of
	born    int
	tasks   tasksOf
}

// teamSeat is a thread's place in a team: that of its master, how deep it is in
// others, and a number.
type teamSeat struct {
	master   profile.ThreadID
	level, n int
}

// member is a thread of a team.
type member struct {
	t      *thread
	team   *team
	passed int      // barriers
	inside int      // calls of them that it is in: libomp executes GOMP_barrier by its own __kmpc_barrier
	last   *arrival // its part behind all of them, once that has ended
	cuts   int      // of the thread, then
	open   uint64   // when all was done, where the thread has not said what it did: see tasks; else 0
}

// meet is a barrier of a team.
type meet struct {
	arrivals []arrival
	left     int
	broken   bool // somebody left before all had come: it was cancelled
}

// outlined is a function that was outlined, and the calls that led to the fork.
type outlined struct {
	fn    uint64
	chain *uint64
}

func teams(t *Tracker) rule {
	m := &teamRule{t: t, crew: map[*thread]bool{}, teams: map[uint64]*team{}, forked: map[*thread][]uint64{}, in: map[*thread][]*member{}, ended: map[*thread]*member{},
		seats: map[teamSeat]profile.ThreadID{}, ofRuntime: map[*thread]bool{}, before: map[*thread]int{}, ways: map[outlined][]uint64{}}
	if t != nil {
		t.teams = m
	}
	return rule{
		calls: []call{
			{names: gompForks, arrive: m.forkOutlined, leave: m.joined, meets: true, starts: true, team: record.Libgomp},
			{names: []string{begunGomp}, arrive: m.begin, leave: m.end, starts: true, member: true},
			{names: []string{"GOMP_parallel_reductions"}, arrive: m.forkOutlined, leave: m.joined, meets: true, starts: true, team: record.LibgompReduces},
			{names: []string{begunReduce}, arrive: m.begin, leave: m.end, starts: true, member: true},
			{names: kmpcForks, arrive: m.fork, leave: m.joined, meets: true, starts: true, team: record.Libomp},
			{names: []string{begunKmpc}, arrive: m.begin, leave: m.end, starts: true, member: true},
			{names: []string{"__kmpc_fork_call_if"}, arrive: m.fork, leave: m.joined, meets: true, starts: true, team: record.LibompDecides},
			{names: []string{begunDecide}, arrive: m.begin, leave: m.end, starts: true, member: true},
			{names: teamMeetings, arrive: m.comes, leave: m.goes, meets: true, executes: true},
		},
		born:  m.born,
		end:   m.finish,
		dying: m.heard,
	}
}

// forkOutlined is fork where the compiler gives the outlined function the place of
// the region, and the call some other one.
func (m *teamRule) forkOutlined(x *thread, r record.Record) {
	if r.Arg3 != 0 {
		way := outlined{fn: r.Arg3}
		if len(r.Chain) > 0 {
			way.chain = &r.Chain[0]
		}
		if m.ways[way] == nil {
			m.ways[way] = append([]uint64{r.Arg3}, r.Chain...)
		}
		r.Site, r.Chain = r.Arg3, m.ways[way]
	}
	m.fork(x, r)
	g := m.teams[r.Arg1]
	g.anew, g.sheds = g.level > 0, true
}

// born: a runtime creates threads before the one that forks is at work itself. The
// place of the k-th is that of the k-th of its team before, unless that one lives on.
func (m *teamRule) born(x *thread) {
	if x.parent == nil || len(m.forked[x.parent]) == 0 {
		return
	}
	g := m.teams[m.forked[x.parent][len(m.forked[x.parent])-1]]
	if g.begun {
		return
	}
	m.t.joins.adopted(x)
	if g.born == 0 && !g.anew {
		for _, y := range m.t.threads {
			if y != x && y.alive && y.parent == x.parent && m.ofRuntime[y] {
				g.born++
			}
		}
	}
	m.ofRuntime[x] = true
	g.born++
	at := teamSeat{g.master.place, g.level, g.born}
	if _, taken := m.seats[at]; !taken {
		m.seats[at] = x.id
	}
	x.place = m.seats[at]
}

func (m *teamRule) fork(x *thread, r record.Record) {
	g := &team{master: x, site: profile.Addr(r.Site), chain: r.Chain, level: len(m.in[x])}
	m.teams[r.Arg1] = g
	m.forked[x] = append(m.forked[x], r.Arg1)
	if len(m.in[x]) > 0 || x.parent != nil || m.t.joins.groups[x] != nil { // it has a part in something else
		a := x.whole(r)
		g.before = &a
	}
}

// whole is a thread's arrival with what it did, and had others do, before it last began.
func (x *thread) whole(r record.Record) arrival {
	a := x.arrive(r).after(x.before)
	a.inner, a.innerBusy = record.Add(a.inner, x.inner), a.innerBusy+x.innerBusy
	return a
}

// ends is whole, and ends the part.
func (x *thread) ends(r record.Record) arrival {
	a := x.whole(r)
	x.cut(x.arrive(r), r.TSC)
	return a
}

// begin: a thread begins what the team was forked for.
func (m *teamRule) begin(x *thread, r record.Record) {
	m.heard(x)
	g := m.teams[r.Arg1]
	if g == nil {
		return
	}
	if x != g.master {
		m.t.joins.adopted(x)
	} else {
		g.begun = true
	}
	y := &member{t: x, team: g}
	g.members = append(g.members, y)
	m.in[x] = append(m.in[x], y)
	x.before, x.inner, x.innerBusy = nil, nil, 0
	x.restart(profile.Addr(r.Arg3), r.TSC)
}

// inside is the innermost that a thread is at, nil where it is in no team.
func (m *teamRule) inside(x *thread) *member {
	if list := m.in[x]; len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
}

// end: it has ended that.
func (m *teamRule) end(x *thread, r record.Record) {
	y := m.inside(x)
	if y == nil || m.teams[r.Arg1] != y.team {
		return
	}
	m.in[x] = m.in[x][:len(m.in[x])-1]
	a := x.ends(r)
	y.last, y.cuts = &a, x.cuts
	m.ended[x] = y
}

// heard: what a thread has done since it ended its part were tasks, which are of it.
func (m *teamRule) heard(x *thread) {
	y := m.ended[x]
	if y == nil {
		return
	}
	delete(m.ended, x)
	switch {
	case y.open != 0:
		y.did()
	case y.cuts == x.cuts:
		y.last.tasks(x)
	}
	if g := y.team; g.over {
		if g.waits--; g.waits == 0 {
			m.complete(g)
		}
	}
}

// tasks adds to a part what its thread has executed since, while it waited. How long
// that took is not known.
func (a *arrival) tasks(x *thread) {
	if len(x.acc) > 0 {
		a.delta, a.timed = record.Add(a.delta, x.acc), false
		a.byChance = record.Add(a.byChance, x.acc)
		a.until = x.rounds.latest()
	}
}

// tasksUntil says when the last of them was over at the latest.
func (a *arrival) tasksUntil(tsc uint64) {
	if len(a.byChance) > 0 {
		a.worked = max(a.worked, tsc)
	}
}

// joined: the thread that forked goes on, so all have ended.
func (m *teamRule) joined(x *thread, r record.Record) {
	n := len(m.forked[x]) - 1
	if n < 0 {
		return
	}
	token := m.forked[x][n]
	g := m.teams[token]
	delete(m.teams, token)
	m.forked[x] = m.forked[x][:n]
	m.heard(x)
	for _, y := range g.members {
		if m.ended[y.t] == y {
			g.waits++
		}
	}
	x.before, x.inner, x.innerBusy = nil, nil, 0
	left(x, r)
	if g.before != nil {
		m.within(g, x)
	}
	g.end = r.TSC
	if g.over = true; g.waits == 0 {
		m.complete(g)
	}
	m.spares(g)
}

// spares: threads of an earlier team that libgomp had no need of in this one end, at some
// time: those that are created for the next one have their places.
func (m *teamRule) spares(g *team) {
	if g.sheds && !g.anew && len(g.members) < m.before[g.master] {
		for x := range m.ofRuntime {
			if x.parent == g.master && !g.has(x) {
				delete(m.ofRuntime, x)
			}
		}
	}
	m.before[g.master] = len(g.members)
}

// has reports whether a thread is in a team.
func (g *team) has(x *thread) bool {
	return slices.ContainsFunc(g.members, func(y *member) bool { return y.t == x })
}

// complete: it is known what all threads of a team did.
func (m *teamRule) complete(g *team) {
	if g.tasks.are {
		m.keep(g)
	} else {
		m.file(g)
	}
}

// within: the thread that forked has a part in something else. It did alone what was
// done alone; else it waited for the longest part, which is as good as done by it.
func (m *teamRule) within(g *team, x *thread) {
	work := func(a *arrival) uint64 { return m.t.c.Work(a.delta) + m.t.c.Work(a.inner) }
	x.before = g.before
	x.inner, x.innerBusy, g.before.inner, g.before.innerBusy = g.before.inner, g.before.innerBusy, nil, 0
	var longest *arrival
	for _, y := range g.members {
		if y.last == nil {
			continue
		}
		if len(g.members) == 1 && y.t == g.master {
			a := y.last.after(g.before)
			x.inner, x.innerBusy, a.inner, a.innerBusy = record.Add(x.inner, a.inner), x.innerBusy+a.innerBusy, nil, 0
			x.before = &a
			return
		}
		if longest == nil || work(y.last) > work(longest) {
			longest = y.last
		}
	}
	if longest != nil {
		x.inner = record.Add(x.inner, record.Add(longest.delta, longest.inner))
		x.innerBusy += longest.busyNS + longest.innerBusy
	}
}

// file makes an instance of what all did last.
func (m *teamRule) file(g *team) {
	var parts []arrival
	for _, y := range g.members {
		if y.last != nil {
			y.last.site, y.last.chain = g.site, g.chain
			y.last.tasksUntil(g.end)
			parts = append(parts, *y.last)
		}
	}
	m.meet(g, parts)
}

// comes: a thread comes to a barrier of its team.
func (m *teamRule) comes(x *thread, r record.Record) {
	y := m.inside(x)
	if y == nil {
		return
	}
	if y.inside++; y.inside > 1 {
		return
	}
	g := y.team
	at := y.passed - g.first
	if at < 0 || at > len(g.epochs) {
		return
	}
	if at == len(g.epochs) {
		g.epochs = append(g.epochs, &meet{})
	}
	g.epochs[at].arrivals = append(g.epochs[at].arrivals, x.ends(r))
}

// goes: it goes on behind it.
func (m *teamRule) goes(x *thread, r record.Record) {
	y := m.inside(x)
	if y == nil {
		return
	}
	if y.inside = max(0, y.inside-1); y.inside > 0 {
		return
	}
	if y.passed < y.team.first || y.passed-y.team.first >= len(y.team.epochs) {
		return
	}
	g := y.team
	e := g.epochs[y.passed-g.first]
	i := slices.IndexFunc(e.arrivals, func(a arrival) bool { return a.t == x })
	if i < 0 {
		return
	}
	y.passed++
	a := &e.arrivals[i]
	a.tasks(x)
	a.tasksUntil(r.TSC)
	left(x, r)
	if len(e.arrivals) < len(g.members) {
		e.broken = true
	}
	if len(g.members) == 1 { // nobody to meet: its part goes on
		b := *a
		x.before = &b
		x.inner, x.innerBusy, b.inner, b.innerBusy = b.inner, b.innerBusy, nil, 0
	}
	if e.left++; e.left < len(g.members) {
		return
	}
	if !e.broken {
		m.meet(g, e.arrivals)
	}
	for len(g.epochs) > 0 && g.epochs[0].left >= len(g.members) {
		g.epochs = g.epochs[1:]
		g.first++
	}
}

// finish files what is complete when the program has ended, and the barriers that all
// had come to by then.
func (m *teamRule) finish() {
	for _, id := range slices.Sorted(maps.Keys(m.t.threads)) {
		m.heard(m.t.threads[id])
	}
	m.fileRecent(len(m.recent))
	for _, token := range slices.Sorted(maps.Keys(m.teams)) {
		g := m.teams[token]
		for _, e := range g.epochs {
			if !e.broken && e.left < len(g.members) {
				m.meet(g, e.arrivals)
			}
		}
	}
}

// meet files an instance of a team.
func (m *teamRule) meet(g *team, parts []arrival) {
	if len(parts) != len(g.members) || g.tasks.shared {
		return
	}
	m.t.file(g.kind(), parts, byLibrary)
	m.doubt(g, parts)
}

// doubt warns of a section much of which were tasks that threads executed as they
// came to wait, or were free.
func (m *teamRule) doubt(g *team, parts []arrival) {
	all, tasks := uint64(0), uint64(0)
	for i := range parts {
		all, tasks = all+m.t.c.Work(parts[i].delta), tasks+m.t.c.Work(parts[i].byChance)
	}
	o := m.t.out.latest
	if o == nil || tasks == 0 || tasks*fewTasks < all || slices.ContainsFunc(o.s.Warnings, func(w profile.Warning) bool { return w.Code == selfScheduled }) {
		return
	}
	w := profile.Warning{Code: selfScheduled, Message: "The threads take tasks as they come to wait: who is free executes more, and who got the large ones is chance."}
	if g.tasks.are {
		w.Message = "The threads take tasks as they are free: how many each executes, and who got the large ones, is chance; what can be uneven is the tasks."
	}
	o.s.Warnings = append(o.s.Warnings, w)
}

const (
	selfScheduled = "self-scheduled"
	fewTasks      = 20 // it is of interest if one in so many instructions was of tasks
)
