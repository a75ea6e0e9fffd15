// Package probe is the options of counting; its folders are how a program
// comes to count itself: its functions are moved into a code cache with
// counters inline, and the originals get jumps into the copy.
//
//	placement   which edges of a function get a counter: flow network, spanning
//	    │       tree, induction variables
//	    ▼
//	relocate    where control comes back into original code; the copy, the hooks
//	    │       of library functions, the jumps from old code to new (by asm)
//	    ├──────▶ livepatch   more such jumps while the program runs, for addresses
//	    │                    that a signal's handler sees
//	    ▼
//	threadarea  the memory in which each thread counts and records
//	    │
//	    ▼
//	solve       counters → counts of every block and edge, as a profile has them
//
// Package blocking stands beside these: it moves nothing but the few bytes
// before each system call of the libraries, and times those that block.
//
// Package asm has the machine code that is emitted, as mnemonics. All but
// livepatch is computed without a process, and livepatch only asks for bytes
// to be written; the live part is package native's.
//
// Why writing a program's text is safe is said at the top of relocate, for
// what is written before the program runs, and of livepatch, for the rest.
package probe
