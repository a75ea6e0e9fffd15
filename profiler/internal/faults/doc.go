// Package faults measures how long threads are in the kernel because a page that
// they touch is not there yet: first touched, or read back from a disk.
//
//	         ┌ each 17th fault, at its begin ──────┐
//	kernel ─▶│ each 17th minor one, at its end ────┴▶ Watch ─▶ Fault: how many, how long
//	         └ each major one (a disk was read), at its end
//
// How long one takes at an instruction is the mean of those that were timed there.
//
// The kernel's software counters need no hardware. To have each fault written down
// twice would cost half as much as the fault itself; of each 17th, both counters
// write the begin and the end of the same one, as long as they tick together. They
// do not where a fault fails, or ends on another processor; this is seen by what
// they write, and both begin anew. The time is about a tenth too long, for writing
// down the begin.
//
// The counters are the processors', not the threads': threads are born, switched
// and die at no cost. Where several processes are watched at the same time, each by
// another skewlens, all counters of a processor would count for each fault, and each
// skewlens read those of all: there they are the process's own. Only who may watch
// whole processors can have those (root, CAP_PERFMON, or kernel.perf_event_paranoid at
// 0 or below); for all others, time in page faults is not known.
package faults
