// Package section turns the stream of what threads did (calls that wait,
// births, deaths) into sections, instances and parts. It is pure: records in,
// profile sections out, whatever backend they come from.
//
//	Hook: which functions matter ─▶ a backend ─▶ records of every thread
//	                                                │
//	Tracker: all of them, in the order of time  ◀───┘
//	  └─▶ rules, one a file                            when is a meeting complete?
//	        barriers    pthread_barrier_wait           as many came as it counts
//	        conditions  pthread_cond_wait, _broadcast  all others wait: a barrier made by hand
//	        gates       any code that only synchronises  nobody leaves before all have entered
//	        pools       any code that only waits       a thread waits until all that it let work have
//	        joins       pthread_create, join, death    all workers were joined
//	        teams       what OpenMP's runtimes fork    all have ended, or come to the team's barrier
//	  └─▶ collector: instances by section; the oldest are folded into a sum
//	  └─▶ Finish: solve the parts' counters ─▶ []profile.Section
//
// A part is what a thread executed from where it last began (its birth, the
// wait before, its last create) until it arrives. Whatever a library does
// while it waits is not counted, so nothing has to be subtracted.
//
// A new rule is a function that makes a [rule], in a file of its own, and an
// entry of the table in rules.go. It names the functions that it wants records
// of and handles them; backends ask [Hook] and need not know of it.
package section
