// Package livepatch writes springboards while the program runs, for addresses
// that a signal's handler is about to see.
//
// A handler is to see where its thread would stand had nothing moved, and
// returns to the address that it saw. So from that address the thread has to
// come back to the very place in the copy where it was interrupted, behind the
// counters that it has passed. Calls that stay in place lead there, and some
// springboards of the plan. Else:
//
//	a signal from outside: a jump is written over the instruction, over an
//	island if it is short. Where there is none, the jump may cover further
//	instructions, for such a handler skips none
//
//	a fault: the handler may read the instruction, fix what it reads, return
//	to it or skip it. The original is kept as it is, executes in its place, and
//	behind it stands such a jump, or, where the next instruction is too short
//	and has no island, an int3; the profiler then sets the thread on
//
// Where the plan has springboards of its own, which count who arrives, a
// fault's handler can be shown the original address, but not return to it: the
// profiler has to set the thread on when the handler returns (Fault.Redirected).
//
//	offset in the cache ──Spec.Copied──▶ instruction ──▶ its original address
//	original address    ──claim──▶ dead bytes ──write──▶ springboard, island or int3
//
// A program that is about to change its own code gets it back (GiveBack): the
// bytes as they were, and copies that lead there.
//
// # Why writing the text is safe while the program runs
//
// What is written goes over bytes of instructions that the plan left dead
// (package relocate): nothing jumps, falls or returns there, so no thread has
// fetched them or is about to. The first who can is the thread that gets the
// signal, when its handler returns, and it is stopped until the bytes stand;
// it then comes out of the kernel, which serialises its processor. All that is
// written is written by the profiler's one thread, one springboard at a time,
// and a byte that was claimed, for a springboard or to be kept as it is, is
// never written again. So a thread that is interrupted there later, or goes
// there by what its handler chose, finds whole instructions that will not
// change. The int3 that stands behind a fault is one byte; it is met only by
// who comes back from there, and the profiler knows all of its own. Bytes need
// no alignment: nobody reads them while they are written.
package livepatch
