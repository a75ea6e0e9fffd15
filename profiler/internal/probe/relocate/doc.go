// Package relocate moves a program's functions into a code cache, with
// counters inline, and says what has to be written over the original for
// control to go there. All of it is computed without a process: Spec is the
// plan, Code the bytes.
//
//	cfg.Program ─▶ planner  where control comes back into original code, and
//	            │           how it is led away from there: springboards, islands
//	            ▼           (placement says where each function counts)
//	          Spec ─▶ emitter ─▶ Code: bytes of the cache, texts with springboards,
//	            ▲                      hooks of library functions
//	            └── Pack, Unpack       both, kept for the next run
//
// A springboard is a jump from original code into the copy. Where it finds two
// bytes only, it is a short jump (a hop) to an island, a jump of five bytes
// that lies in dead bytes close by.
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
// What is written once the program runs is a matter of its own: package
// livepatch.
package relocate
