// Package record is what a backend hears from a running program: that a thread
// came to a function that matters (a [Hook] asked for it), when, and what its
// counters grew by since it was last heard of.
//
//	section: which functions matter ─▶ Hook ─▶ a backend, by whatever it counts with
//	section: what their calls mean  ◀─ Record ◀┘
//
// It is all that the rules of package section and the backends that feed them
// know of each other.
package record

import "github.com/skewlens/skewlens/profile"

// Hook asks for a record when a library function is called. Kinds are the
// caller's; 0 means none.
type Hook struct {
	Arrive uint32 // recorded before the call, with the counters that changed
	Leave  uint32 // recorded after it. Not for cancellation points: it puts a frame of ours under the function
	// Waits: the call waits on the object of its first argument. Wakes: it wakes
	// those who do, and is only recorded if there may be any.
	Waits, Wakes bool
	Chain        bool // who made the call matters: what led to it is recorded before it
	Inside       bool // counted code may run in the call: Leave has the counters that changed, too
	Team         Team
	Tasks        Tasks
	Negative     bool // of a function in Go: only where its second argument is
	Args         Args
	Brief        bool // a program may call it often: without counters, which the next record has, too
	Locks        bool // in Go: it waits for a lock, and may have it at Leave, which is without counters as if it were Brief
	Quiet        bool // with Leave: nobody asks what it blocks in, which is not recorded
}

// Args says which of a call's arguments its records have, where that is not the first
// and the third one, and how many there are in all: those beyond the sixth lie on the
// stack, and have to be passed on where the function is left by way of the hook.
type Args struct {
	N          uint8 // 0: six at most, and the first and third are recorded
	Arg1, Arg3 Arg   // of Arrive
	Out        Arg   // where the function puts something that Leave has as Arg1
}

// Arg is an argument, counted from 1; 0: none, which is recorded as 0.
type Arg struct {
	At uint8
	By By
}

// By is how an argument is passed.
type By uint8

const (
	Value     By = iota
	Pointer32    // to 32 bits, which are recorded
	Pointer64    // to 64
)

// Team says that a function has a team of threads call another one, how it is
// told which, and with what. Its address, and where it is kept while the team is
// at work, are Arg3 and Arg1 of Arrive. When each thread begins and when it has ended
// is recorded too, by the two kinds above Leave, with the same Arg1 and Arg3.
type Team uint8

const (
	NoTeam         Team = iota
	Libgomp             // f(function, its argument, …)
	LibgompReduces      // likewise; the runtime reads the argument's first word
	Libomp              // f(place, number, function, so many arguments …)
	LibompDecides       // f(place, number, function, whether, its argument)
)

// Outlines tells whether it is libgomp's: the function is the first argument, and stands
// where the region does.
func (t Team) Outlines() bool { return t == Libgomp || t == LibgompReduces }

// Tasks says what a function has to do with tasks that a runtime deals out among
// threads of its own. No frame of ours is put under it: exceptions may pass.
type Tasks uint8

const (
	NoTasks     Tasks = iota
	SpawnsTask        // has one made; recorded where nobody waits for tasks that were made before
	AwaitsTasks       // returns when all were executed: Leave is recorded where the program goes on behind it
	IsTask            // is one; recorded where the thread was not heard of since others were first made, or all executed
)

// Task is what a rule calls functions that are tasks, Spawn and AwaitAll those in the
// program itself that make them and wait for them.
const (
	Task     = "(task)"
	Spawn    = "(spawn)"
	AwaitAll = "(await all)"
)

// Done is what a rule calls a function in which a thread says that it has done what
// its creator waits for.
const Done = "(done)"

// Hands is what a rule calls functions by which a runtime in the program hands work out
// to threads that it has.
const Hands = "(hands)"

// Gate is what a rule calls the passing of a gate, among the functions that it
// wants records of: Arrive when a thread comes into code that does nothing but
// synchronise, Leave when it comes out. Arg3 numbers the code, alike for copies of it.
const Gate = "(gate)"

// Idle is the same for code that waits and does nothing else, with what led
// there. Arg3 numbers the code.
const Idle = "(idle)"

// First is that a goroutine which has made none receives something for the first time.
const First = "(first)"

// Parked, Slept and Polled are that a goroutine goes on which has waited for others, for
// its time, or for a file. Arg1 is its number, Arg3 since when. Woke is that a goroutine lets
// the one go on whose number is Arg1.
const (
	Parked = "(parked)"
	Slept  = "(slept)"
	Polled = "(polled)"
	Woke   = "(woke)"
)

// Await is the same for code that waits for a future.
const Await = "(await)"

// Unit is what a rule calls a loop that may deal work out: Arrive when a thread
// begins a round of it, Leave when it has left. Arg3 numbers the loop, Arg1 is
// what it counts by, Site how many passes are left out before the next record, and
// where it leaves how many still were.
const Unit = "(unit)"

// Record is one section event of a thread.
type Record struct {
	Kind  uint32
	TSC   uint64
	Site  uint64 // run-time return address of the user's call
	Arg1  uint64 // the call's first argument: the barrier, the condition variable …
	Arg3  uint64 // its third: a thread's start function, a barrier's count
	CPUNS int64  // the thread's CPU clock; 0: not read
	Delta []Delta
	Whole bool // Delta is all that the counters grew by until now, if anything

	Stack   *Stack   // as it was at the call; nil where nobody asked
	Chain   []uint64 // the program's calls that led there, from the inside outwards, as far as they are known; Site is the first
	Library bool     // a shared library made the call

	Raw  []byte // all of a record that holds something else than counters; only until the next one is asked for
	Wait *Wait  // the record tells of a wait that has ended
}

// Stack is what is needed to find the callers of a call: the stack pointer and
// the registers that functions restore (rbx, rbp, r12 to r15) as they are when
// it returns, and what lay on the stack from there on.
type Stack struct {
	SP    uint64
	Saved [6]uint64
	Words []byte
}

// Wait is a call in which a thread blocked, or by which it let others go on.
type Wait struct {
	Kind   profile.WaitKind // "": it waited for nothing
	Site   profile.Addr     // the call, in code that is the user's own
	Begin  uint64           // time stamp; the record has that of the end
	Object uint64           // the address of a futex; 0: none, or nobody ended the wait
	Wakes  int              // how many it let go on that waited on Object

	// Of page faults, which keep the thread on its core: how long the system took
	// for how many.
	NS int64
	N  int
}

// Delta is how much a counter grew since the thread's record before.
type Delta struct {
	Counter int32
	N       uint64
}
