// Package native is the backend that runs the user's own binary at nearly its
// own speed: it moves the program's functions into a code cache with counters
// inline (package probe), lets the threads run free, and collects what they
// recorded (package section).
//
//	Job ─▶ read: image ─▶ cfg ─▶ relocate.Spec      analysis, kept.go, survey.go, golayout.go
//	         │   tracee: stopped at the program's entry
//	         ▼
//	       inject: code cache, patches, one shared memory area a thread; libraries (library.go), and those of which
//	         │     only the accesses are simulated (beside.go)
//	         │   tracee: runs; stops only at births and deaths, unless these are many, at signals and full rings
//	         ▼
//	       session: a handler for each kind of stop      handlers.go
//	         ├─ threads   birth, draining of records, death
//	         ├─ births    of threads that nobody traces, where many are born
//	         ├─ signals   delivery at original addresses, diverted handlers
//	         ├─ cores     threads that are kept together in virtual time (package virtual), where asked for
//	         ├─ loader    libraries that dlopen maps
//	         ├─ mutable   code that the program is about to change
//	         ├─ lineage   the programs before and after, by exec
//	         ▼
//	       records ─▶ section.Tracker ─▶ backend.Outcome
//
// Every thread of the target counts in its own area, which GS points to. The
// areas are one memfd, mapped here too, so that counters and rings are read
// while the program runs, without stopping anything.
package native
