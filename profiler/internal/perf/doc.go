// Package perf counts what the kernel and the processor do for each thread of a
// program, from record to record: CPU time, page faults, context switches, migrations;
// and where there is hardware for it cycles, instructions, misses of caches, and at
// which instructions these were.
//
//	thread: a record's time ──▶ breakpoint on that word ──▶ sample: all counters, at that moment
//	                            every so many misses    ──▶ sample: an instruction
//	                                                            │ ring of the thread
//	                                 Thread.Next, Thread.End ◀──┘ what was counted since the record before
//
// Counters must be read where a part begins and ends, by whom they count for, or else
// what it did while somebody came to read them is in them, too. The program's own code
// could do that by a system call, but then it would have descriptors that it did not
// open. So a breakpoint of the kernel's stands on a word of the thread's area that each
// record writes once (threadarea: the record's time). It costs some microseconds a
// record, and tens where a host sets breakpoints, nothing is put into the program, and as each record makes one sample, the n-th
// of the one is that of the other. Where a sample is lost, all that hangs on it is lost:
// a number is exact, or is not there.
//
// The hardware has few counters, and others may have them. What is not counted all the
// time is scaled by the kernel's account of for how long it was, and said. Counters are
// believed only where they count known work right (Known): virtual machines have some
// that stand still, or count what they like.
package perf
