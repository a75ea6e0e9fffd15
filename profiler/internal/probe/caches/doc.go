// Package caches simulates the caches of a multi-core machine inside the process
// that runs on it: each thread is a core, and what is found is by package
// cachesim's rules, which is the oracle that the tests compare with.
//
//	moved code ──the line used last in its set──▶ nothing to do (relocate, in line)
//	     │
//	     ▼ any other
//	hierarchy.c: the core's rows ─▶ directory, other cores' rows ─▶ last level
//	     │
//	     ▼
//	the thread's counters: sixteen for each access, by who served it and why
//
// Of machines that hierarchy.c does not know, it tells of all accesses instead, and package
// cachesim simulates them beside the program (Telling).
//
// What lies in the target and is no thread's own is in one piece of shared
// memory, which this package lays out and reads. Misses are counters as those of
// edges are, and come with the same records.
package caches
