// Package threadarea is the shared memory in which one thread of the target
// counts and records: what lies where (Layout), the code that writes records
// there and says how far it is (Recorder, from recorder.S and look.S), and the
// profiler's view of it (Area, Clocks).
//
//	the copy's counters ──GS──▶ counters ─┐
//	hooks ─▶ Recorder ──GS──▶ ring: kind, time, site, changed counters
//	loops, functions ─▶ look ──▶ clocks   └──▶ Area: Records, Rest, All
//
// An area is written by its own thread only, and read beside it, without
// stopping it: a record is published by one store of the ring position. When
// the ring is full the thread stops at an int3 (IsFull) until it was emptied.
package threadarea
