// Package probe moves a program's functions into a code cache and counts in
// the copy. The plan and the bytes are computed without a process (Spec); the
// live part only writes them.
//
//	cfg.Program ─▶ planner   where control comes back into original code: landings
//	            ─▶ flow      which edges need a counter: a spanning tree's complement
//	            ─▶ emit      the copy, its counters, hooks of section events
//	            ─▶ Code      bytes for the cache, patches for the text
//	counters    ─▶ Solve     every block's and edge's count
//
// # Why writing the text is safe
//
// The cache and the patches are written while the target is stopped at its
// entry point, before its first own instruction. Only one thread exists (or,
// where a library's constructor has started more, none of them is in the
// program's text: they are stopped as well and checked). So no thread can
// fetch a half-written instruction, and no thread is inside a function that
// moves. Every patch names the bytes that it replaces and is refused as a
// whole when the text does not hold them; nothing has been written then, and
// the program runs on unprofiled. Section events are hooks, not breakpoints,
// and counters are data.
//
// A library that the program loads later is written when the dynamic linker has
// mapped it: the thread that does so is stopped in the linker, and nobody else
// knows yet where it lies. The linker relocates data of it afterwards, no text.
//
// Other than that only late landings are written (Late), for addresses that
// a signal's handler is about to see. They go over bytes of instructions that
// the plan left dead: nothing jumps, falls or returns there, so no thread has
// fetched them or is about to. The first who can is the thread that gets the
// signal, when its handler returns, and it is stopped until the bytes stand;
// it then comes out of the kernel, which serialises its processor. All that is
// written is written by the profiler's one thread, one landing at a time, and
// a byte that was taken, for a landing or to be kept as it is, is never written
// again. So a thread that is interrupted there later, or goes there by what
// its handler chose, finds whole instructions that will not change. The int3
// that stands behind a fault is one byte; it is met only by who comes back from
// there, and the profiler knows all of its own. Bytes need no alignment: nobody
// reads them while they are written.
package probe
