// Package cachesim simulates the caches of a machine with several cores: which
// access misses, where, and why.
//
//	                       core 0        core 1   …  (at most 128)
//	Access(core, addr) ──▶ ┌────┐        ┌────┐
//	                       │ L1 │        │ L1 │
//	                       ├────┤        ├────┤        private; the L2 holds all that
//	                       │ L2 │        │ L2 │        its L1 holds, or is absent
//	                       └─┬──┘        └─┬──┘
//	                         │  directory  │           who holds a line, who wrote
//	                         └──────┬──────┘           which of its bytes since when
//	                             ┌──┴──┐
//	                             │ L3  │               shared, or absent
//	                             └──┬──┘
//	                             memory
//	        Outcome ◀── who served the access, and the kind of the miss before that
//
// It is used twice: a simulator in C that runs inside the profiled process has the
// same rules and is compared with this one, access by access; and of machines that that
// one does not know, a running program tells of its accesses, which are simulated here. So the rules are meant to
// be few and exact, rather than those of one make of processor:
//
//   - Replacement is true LRU in all levels. An L1 hit is not seen by the L2. Writes
//     allocate; what is written back costs nothing.
//   - A private line is Invalid, Shared or Writable. What another core's write takes
//     away becomes Invalid and keeps its way until it is evicted, so that coming back
//     to it is known as a miss that only sharing caused.
//   - The directory is exact: it forgets a core at the moment that the core evicts.
//     A line that only one core still holds stays Shared until it is written.
//   - The L3 neither includes the private caches nor excludes what they hold. It is
//     looked up, and filled, whenever the last private level misses.
//   - No prefetching, no translation, no time: accesses take effect in the order in
//     which they come.
//
// Misses are of five kinds (Hill's three, and Torrellas' two of sharing). Cold: this
// core never touched the line. Conflict and Capacity are told apart by one tag for
// each set, that of the line evicted last: who comes back to it would have hit with
// one way more (the miss classification table of Collins and Tullsen, MICRO-32,
// 1999; an approximation, which a second buffer line in the same set hides).
// True and false sharing are told apart by bytes: see record.
//
// Latencies are a model: cycles that are added to the one cycle of an instruction,
// whatever else goes on. Nothing here measures them.
package cachesim
