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
// the program runs on unprofiled. After that moment the text is never written
// again: section events are hooks, not breakpoints, and counters are data.
package probe
