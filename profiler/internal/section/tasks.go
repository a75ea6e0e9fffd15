package section

import (
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Runtimes that deal tasks out among threads of their own (oneTBB, and with it the
// parallel algorithms of C++; rayon): a thread has tasks executed and waits for their
// end, which is a region, and whoever is free takes one.
//
//	thread 0  awaits ─ task ─ task ─────────▷ goes on     awaits ─ …
//	thread 1          └ task ── task ─ task                       └ task ─ …
//	                    told: begins                                told: what it did
//
// A thread tells of the first task that it begins in a region. What it executes from
// then on until it is next heard of, in another region, is its part: in between are
// none but the runtime's own instructions, which are not counted. So what a thread did is
// known later, and how long it took is not. Threads that have executed tasks before, and
// had none in a region, have an empty part in it. Regions inside of tasks are none
// of their own.
//
// Regions of several threads at the same time share the runtime's threads, and whose
// task one executes is not known: they are left out, which is said.

// tasksOf is what is known of a region of tasks beside its team.
type tasksOf struct {
	are    bool
	token  uint64
	waits  bool // the thread has come to where it waits for all of them,
	idle   bool // and executes none
	shared bool // there was another one at the same time
	over   uint64
}

// kind of its sections.
func (g *team) kind() profile.SectionKind {
	if g.tasks.are {
		return profile.Join
	}
	return profile.OpenMP
}

const tbb = "_ZN3tbb6detail2r1"

var (
	tbbSpawns = []string{tbb + "5spawnERNS0_2d14taskERNS2_18task_group_contextE", tbb + "5spawnERNS0_2d14taskERNS2_18task_group_contextEt"}
	tbbAwaits = []string{tbb + "16execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_",
		tbb + "4waitERNS0_2d112wait_contextERNS2_18task_group_contextE", tbb + "17parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE"}
)

func tasks(t *Tracker) rule {
	var m *teamRule
	if t != nil {
		m = t.teams
	}
	return rule{calls: []call{
		{names: append(slices.Clone(tbbSpawns), record.Spawn), arrive: m.spawns, tasks: record.SpawnsTask},
		{names: tbbAwaits, arrive: m.awaits, leave: m.allDone, tasks: record.AwaitsTasks, meets: true},
		{names: []string{record.AwaitAll}, arrive: m.idles, leave: m.allDone, tasks: record.AwaitsTasks, meets: true},
		{names: []string{record.Task}, arrive: m.task, tasks: record.IsTask},
	}}
}

// region is the innermost of a thread's that is at work.
func (m *teamRule) region(x *thread) *team {
	i := slices.IndexFunc(m.tasks, func(g *team) bool { return g.master == x })
	if i < 0 {
		return nil
	}
	return m.tasks[i]
}

// spawns: a thread has the first task of a region made.
func (m *teamRule) spawns(x *thread, r record.Record) {
	if g := m.region(x); g != nil {
		m.abandon(g) // nobody waited for it, or an exception passed by
	}
	m.tokens++
	r.Arg1, r.Arg3 = m.tokens, uint64(r.Site)
	m.fork(x, r)
	m.begin(x, r)
	g := m.teams[r.Arg1]
	g.tasks = tasksOf{are: true, token: r.Arg1}
	m.overlap(g)
	m.tasks = append(m.tasks, g)
}

// overlap notes that regions overlap.
func (m *teamRule) overlap(g *team) {
	for _, other := range m.tasks {
		other.tasks.shared, g.tasks.shared, m.shared = true, true, true
	}
}

// Doubts are those that concern the whole run.
func (t *Tracker) Doubts() []profile.Warning {
	doubts := append(t.mpi.doubts, t.locks.doubts()...)
	if !t.teams.shared {
		return doubts
	}
	return append(doubts, profile.Warning{Code: "shared-tasks", Message: "several threads had tasks executed at the same time, by threads that all share: whose work was whose is not known, and is of no section"})
}

// awaits: it waits for all of them, and executes some.
func (m *teamRule) awaits(x *thread, r record.Record) {
	g := m.region(x)
	if g == nil || g.tasks.waits {
		m.spawns(x, r)
		g = m.region(x)
	}
	g.tasks.waits = true
	g.site, g.chain = profile.Addr(r.Site), r.Chain
}

// idles is awaits, by a thread that is none of the runtime's.
func (m *teamRule) idles(x *thread, r record.Record) {
	m.awaits(x, r)
	m.region(x).tasks.idle = true
}

// abandon gives a region up.
func (m *teamRule) abandon(g *team) {
	m.tasks = slices.DeleteFunc(m.tasks, func(h *team) bool { return h == g })
	delete(m.teams, g.tasks.token)
	m.forked[g.master] = slices.DeleteFunc(m.forked[g.master], func(t uint64) bool { return t == g.tasks.token })
	for _, y := range g.members {
		m.in[y.t] = slices.DeleteFunc(m.in[y.t], func(z *member) bool { return z == y })
	}
}

// task: a thread begins a task, the first since something has begun or ended.
func (m *teamRule) task(x *thread, r record.Record) {
	if len(m.tasks) == 0 {
		m.heard(x)
		x.restart(profile.Addr(r.Site), r.TSC)
		return
	}
	g := m.tasks[len(m.tasks)-1]
	if g.has(x) {
		return
	}
	if !m.crew[x] && m.region(x) == nil {
		m.joinsCrew(x)
	}
	r.Arg1, r.Arg3 = g.tasks.token, uint64(r.Site)
	m.begin(x, r)
}

// allDone: who waited goes on.
func (m *teamRule) allDone(x *thread, r record.Record) {
	g := m.region(x)
	if g == nil {
		return
	}
	r.Arg1, g.tasks.over = g.tasks.token, r.TSC
	for _, y := range g.members {
		if y.t != x {
			m.in[y.t] = slices.DeleteFunc(m.in[y.t], func(z *member) bool { return z == y })
			y.open = r.TSC
			m.ended[y.t] = y
		}
	}
	m.end(x, r)
	if g.tasks.idle {
		g.members = slices.DeleteFunc(g.members, func(y *member) bool { return y.t == x })
	}
	m.absent(g)
	m.tasks = slices.DeleteFunc(m.tasks, func(h *team) bool { return h == g })
	m.joined(x, r)
}

// joinsCrew: a thread executes a task for others, the first. It had none in the last
// regions, though it was there.
func (m *teamRule) joinsCrew(x *thread) {
	m.crew[x] = true
	for _, g := range m.recent {
		if x.born <= g.tasks.over {
			g.without(x)
		}
	}
}

// without: a thread has an empty part in a region.
func (g *team) without(x *thread) {
	g.members = append(g.members, &member{t: x, team: g, last: &arrival{t: x, tsc: g.tasks.over, begin: g.site, beginTSC: g.tasks.over, cpu: -1}})
}

// mostRecent is how many regions are kept for threads that only come to execute tasks
// later: runtimes make their threads one by one, and the system starts them when it can.
const mostRecent = 32

// keep files a region later, and the oldest that was kept.
func (m *teamRule) keep(g *team) {
	if m.recent = append(m.recent, g); len(m.recent) > mostRecent {
		m.fileRecent(1)
	}
}

// fileRecent files regions that were kept.
func (m *teamRule) fileRecent(n int) {
	for _, g := range m.recent[:n] {
		m.file(g)
	}
	m.recent = m.recent[n:]
}

// absent are the threads that had nothing to do in a region.
func (m *teamRule) absent(g *team) {
	for _, id := range slices.Sorted(maps.Keys(m.t.threads)) {
		x := m.t.threads[id]
		if x.alive && m.crew[x] && !g.has(x) {
			g.without(x)
		}
	}
}

// did: what a thread has executed since it began in a region is its part, which was
// over when all was done.
func (y *member) did() {
	a := y.t.whole(record.Record{TSC: y.open, Site: uint64(y.team.site)})
	a.timed, a.byChance = false, a.delta
	y.last = &a
	y.t.cut(a, y.open)
}
