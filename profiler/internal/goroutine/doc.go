// Package goroutine knows where Go's runtime keeps what the profiler wants to know
// of goroutines, and has the code by which a processor's thread counts for the
// goroutine that it runs.
//
//	DWARF of runtime.g ─▶ Layout ─┐
//	gogo ─▶ resume ─┐             ▼
//	                ├─▶ table: g → area ──GS──▶ where it counts
//	mcall ─▶ leave ─┤       ▲
//	gdestroy ─▶ end ┘       └── pool of areas, that the profiler fills
//
// Go goes on with a goroutine in one place only, gogo: its scheduler, a goroutine
// that switches to another, a recovered panic, a stack that has grown. It leaves one
// by mcall, or, having come to the scheduler by a function's check of its stack, in
// goschedImpl or preemptPark. While it is on the scheduler's own stack, GS leads to the
// area that is nobody's, or where threads are kept together in virtual time to the
// thread's own, which says which clock it has. That goes from goroutine to goroutine
// with the thread: one for each processor of Go's, as many as GOMAXPROCS says. A
// goroutine knows its own time as well: it goes on no earlier than it was left.
//
// What a goroutine waits for it says as it leaves to wait (mcall of park_m), and another one
// lets it go on (ready). Where that took long both are recorded, on the stack of whose call
// it was: a goroutine's stack is as it was left while the scheduler is at work.
//
// It asks a goroutine to leave by a signal, too (signalM), which stops the thread for
// the profiler: ask gives it a moment to leave by itself.
//
// It walks up stacks by a runtime.unwinder (initAt, next), or along frame pointers
// (fpTracebackPartialExpand; fpunwindExpand looks up what was found so): return addresses
// in moved code become those of the original there.
//
// The detours stand in the runtime's own code, on the first instructions of these
// functions, where nobody jumps to but who calls them. They change registers only
// that the runtime has no use for there.
package goroutine
