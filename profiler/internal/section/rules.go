package section

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// rules are all there are, in the order in which they hear of births and
// deaths. Each makes its state for one run; the tracker is nil where only what
// the rule declares is asked for.
var rules = []func(*Tracker) rule{barriers, conditions, gates, pools, joins, teams, tasks, units, mpi, locks, parks, goroutines}

// rule recognises meetings of one make in what threads do.
type rule struct {
	calls []call
	born  func(x *thread)            // nil: it does not care
	dying func(x *thread)            // before its last part is known; nil: it does not care
	died  func(x *thread, a arrival) // with the thread's last part; nil: it does not care
	end   func()                     // of the run; nil: it does not care
}

// call is what a rule wants to hear of library functions that do the same.
// One with no handler is not recorded, but a thread may be inside of it while
// its counters are read, or never come out of it by a return.
type call struct {
	names []string
	// Of the records before and after the call; nil: none is made. Waits that a
	// thread can be cancelled in must have no leave: that would put a frame
	// under them that the unwinder does not know.
	arrive, leave handler
	waits, wakes  bool // as in record.Hook
	locks         bool // likewise
	starts        bool // the third argument is the function that a new thread begins in
	meets         bool // threads meet in it: no run has to show that
	awaits        bool // the thread waits for a future
	inside        bool // it is a library's, and calls what is recorded: that may be called without it
	executes      bool // counted code may run in it
	negative      bool // of a function in Go: only where its second argument is
	args          record.Args
	brief         bool // what was counted until then does not matter
	quiet         bool // a part begins where it is left: nobody asks what it waited for inside
	team          record.Team
	tasks         record.Tasks
	member        bool // a thread of a team tells what it is at
}

// handler handles a record of a thread, whose part reaches up to it already.
type handler func(x *thread, r record.Record)

// declaration is what all rules together want to be told.
type declaration struct {
	calls map[string]*call // by function
	hooks map[string]record.Hook
	kinds []traits // by kind of record, which is asked at each
}

// traits are what a record's kind says of it.
type traits struct {
	starts bool // its third argument is a thread's start function
	awaits bool // of a thread that waits for a future
	gate   bool // of code that does nothing but synchronise
	unit   bool // of a round of a loop
	park   bool // of a goroutine's wait, wherever in the runtime that was
	member bool // of a thread of a team, and of no call
}

func (d *declaration) of(kind uint32) traits {
	if int(kind) >= len(d.kinds) {
		return traits{}
	}
	return d.kinds[kind]
}

var declared = declare()

func declare() declaration {
	const about = 512 // names: maps that grow take most of this
	d := declaration{make(map[string]*call, about), make(map[string]record.Hook, about), []traits{{}}}
	eachCall(makeRules(nil), func(c *call, arrive, leave uint32) {
		gate := slices.ContainsFunc(c.names, func(n string) bool { return n == record.Gate || n == record.Idle || n == record.Await })
		unit := slices.Contains(c.names, record.Unit)
		park := slices.ContainsFunc(c.names, func(n string) bool { return slices.Contains(parked, n) })
		if arrive != 0 {
			d.kinds = append(d.kinds, traits{c.starts, c.awaits, gate, unit, park, c.member})
		}
		if leave != 0 {
			d.kinds = append(d.kinds, traits{gate: gate, unit: unit, member: c.member})
		}
		for _, name := range c.names {
			d.calls[name] = c
			if arrive != 0 || leave != 0 {
				d.hooks[name] = record.Hook{Arrive: arrive, Leave: leave, Waits: c.waits, Wakes: c.wakes,
					Chain: c.meets || c.waits || c.wakes || c.starts || c.negative || c.tasks == record.SpawnsTask, Inside: c.executes, Team: c.team, Tasks: c.tasks, Negative: c.negative, Args: c.args, Brief: c.brief, Locks: c.locks, Quiet: c.quiet}
			}
		}
	})
	return d
}

func makeRules(t *Tracker) []rule {
	list := make([]rule, len(rules))
	for i, r := range rules {
		list[i] = r(t)
	}
	return list
}

// eachCall goes through the calls of all rules and gives their records kinds,
// always the same ones; 0 where none is made.
func eachCall(list []rule, do func(c *call, arrive, leave uint32)) {
	last := uint32(0)
	kind := func(h handler) uint32 {
		if h == nil {
			return 0
		}
		last++
		return last
	}
	for i := range list {
		for j := range list[i].calls {
			c := &list[i].calls[j]
			arrive := kind(c.arrive)
			do(c, arrive, kind(c.leave))
		}
	}
}

// handlers are those of all rules, by kind of record.
func handlers(list []rule) []handler {
	byKind := []handler{nil}
	eachCall(list, func(c *call, _, _ uint32) {
		for _, h := range []handler{c.arrive, c.leave} {
			if h != nil {
				byKind = append(byKind, h)
			}
		}
	})
	return byKind
}

// Hook tells whether and how a library function is recorded.
func Hook(name string) (record.Hook, bool) {
	h, ok := declared.hooks[name]
	return h, ok
}

// Catches tells whether a thread can be inside a library function while its
// counters are read, or never comes out of it by a return.
func Catches(name string) bool { return declared.calls[name] != nil }

// Meets tells whether threads meet in a library function, whatever else they
// do. Waiting on a condition variable is none: only a run shows whether that
// makes a barrier.
func Meets(name string) bool {
	c := declared.calls[name]
	return c != nil && c.meets
}

// OfTeam reports whether a kind of record is of what a thread of a team begins or
// ends, and of no call of the program's.
func OfTeam(kind uint32) bool { return declared.of(kind).member }

// Outlines tells whether a function has a team of threads call one that the compiler
// outlined, which stands where the region does.
func Outlines(name string) bool { return declared.hooks[name].Team.Outlines() }

// ArgIsFunction tells whether the third argument of records of a kind is a
// function's address.
func ArgIsFunction(kind uint32) bool { return declared.of(kind).starts }
