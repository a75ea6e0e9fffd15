// Package blocking times the system calls in which threads block, where they
// are made: in the C library and whatever else a process has loaded. So a wait
// is seen whatever function makes it, in every language, and what does not
// block pays two readings of the time stamp counter.
//
//	image ──Find──▶ sites: a syscall instruction, and five bytes before it
//	                  │
//	               Assemble ─▶ stubs: the moved bytes, a time stamp, the call, a time stamp
//	                  │           └── it took long, or woke a thread ─▶ timer.S: a record with the thread's stack
//	                  └──────▶ a jump over the five bytes, to the stub
//
// In code that was moved the stub stands where the call did (Inline), and calls
// timer.S through a word of the thread's area.
//
// A library's instruction stays where it is. Where a signal interrupts a call
// that was made from a stub, the thread is put behind the original, as if it
// had been made there: what the kernel restarts it makes there, what unwinds
// finds the function that the caller called. Such a wait is not recorded.
//
// Before some calls of the C library the profiler may have to be asked: where
// there are threads that it does not trace (guard.S). A gate stands there, or a
// door before a stub, which is open otherwise.
//
// A site is left alone where anything might jump between the bytes that move.
package blocking
