// Package cpuclock samples where a program spends its CPU time, by a clock of the
// kernel that ticks only while a thread runs. It needs no hardware counter, and
// nothing is put into the program.
//
//	the thread that starts the program ─Open─▶ a disabled event on each processor
//	    │ fork: inherited by the program, its threads and children
//	    ▼ exec: enabled
//	kernel ─▶ a ring for each processor: registers and the top of the stack
//	    │ what is mapped where
//	    ▼
//	Clock, in the order of time ─▶ Resolver: the user's line ─▶ Counts
//
// Events are opened for each processor, because the kernel does not map a ring of
// an event that is inherited and counts on all of them.
//
// A sample in a library of the system's, or in the kernel, is the user's where it was
// called: the stack is unwound by call frame information, as far as it was copied, to
// the first line of the user's own. Where there is none, the library's function is
// the place.
//
// Interrupts come behind the instruction that took long. Where that is sure to be the
// one before and it accesses memory, the sample is its (skid.go).
//
// Each thread loses the part of a period that it has begun when it ends, on each
// processor: threads that live shorter than a period are rarely seen. Whoever may
// not look into the kernel gets no samples there.
package cpuclock
