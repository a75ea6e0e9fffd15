// Package section turns the stream of what threads did (calls that wait,
// births, deaths) into sections, instances and parts. It is pure: records in,
// profile sections out.
//
//	records of every thread ─▶ Tracker, in the order of time
//	    pthread_barrier_wait          ─▶ epoch of a barrier: complete when all have come
//	    pthread_cond_wait, _broadcast ─▶ a barrier made by hand, if all others wait
//	    pthread_create, join, death   ─▶ a join of all workers
//	complete ─▶ solve the parts' counters ─▶ keep, or fold into the sum of the oldest
//
// A part is what a thread executed from where it last began (its birth, the
// wait before, its last create) until it arrives. Whatever a library does
// while it waits is not counted, so nothing has to be subtracted.
package section

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Kinds of records.
const (
	barrierInit uint32 = 1 + iota
	barrierWait
	barrierLeft
	condWait
	condBroadcast
	join
	create
)

// hooks: which library functions are recorded. Waits that a thread can be
// cancelled in get no record when they return: that would put a frame under
// them that the unwinder does not know.
var hooks = map[string]record.Hook{
	"pthread_barrier_init": {Arrive: barrierInit},
	"pthread_barrier_wait": {Arrive: barrierWait, Leave: barrierLeft},

	"pthread_cond_wait":      {Arrive: condWait, Waits: true},
	"pthread_cond_timedwait": {Arrive: condWait, Waits: true},
	"pthread_cond_clockwait": {Arrive: condWait, Waits: true},
	"pthread_cond_broadcast": {Arrive: condBroadcast, Wakes: true},
	"cnd_wait":               {Arrive: condWait, Waits: true},
	"cnd_timedwait":          {Arrive: condWait, Waits: true},
	"cnd_broadcast":          {Arrive: condBroadcast, Wakes: true},
	"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE": {Arrive: condWait, Waits: true},
	"_ZNSt18condition_variable10notify_allEv":                   {Arrive: condBroadcast, Wakes: true},

	"pthread_join":         {Arrive: join},
	"pthread_timedjoin_np": {Arrive: join},
	"pthread_clockjoin_np": {Arrive: join},
	"thrd_join":            {Arrive: join},
	"_ZNSt6thread4joinEv":  {Arrive: join},

	"pthread_create": {Arrive: create},
	"thrd_create":    {Arrive: create},
	"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE": {Arrive: create},
}

// Hook tells whether and how a library function is recorded.
func Hook(name string) (record.Hook, bool) {
	h, ok := hooks[name]
	return h, ok
}

// Catches tells whether a thread can be inside a library function while its
// counters are read, or never comes out of it by a return.
func Catches(name string) bool {
	_, ok := hooks[name]
	return ok || name == "pthread_exit" || name == "thrd_exit"
}

// Config is what the tracker needs from outside.
type Config struct {
	Solve func([]record.Delta) profile.Counts
	// Work is the instructions of a part, much cheaper than solving it.
	Work func([]record.Delta) uint64
	// Line names the source line of a call, so that copies of one call made by
	// the compiler are one section; its address when there is no line.
	Line func(profile.Addr) string
	// Entered tells whether a part entered a function.
	Entered   func(profile.Counts, profile.Addr) bool
	BeginTSC  uint64 // of the run
	NSPerTick float64
	MaxBytes  int // of counts kept; what is over it is folded, oldest first
}

// ArgIsFunction tells whether a record's third argument is a function's address.
func ArgIsFunction(kind uint32) bool { return kind == create }
