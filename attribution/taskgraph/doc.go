// Package taskgraph makes a graph of tasks of a run, and finds its critical path:
// what the run cannot be shorter than, however many cores there are.
//
//	profile: threads, who created and joined them ─┐
//	         parts, when they began and arrived ───┼─▶ New ─▶ Graph ─▶ Longest ─▶ Path: length,
//	         meetings, rounds of pools ────────────┘            (what-if: lengths)   steps, slack
//
// Tasks are those of Contech (B. P. Railing, Collecting and representing parallel
// programs with high performance instrumentation, 2015, 2.3): work, create, join,
// barrier and sync. Work tasks are stretches of a thread between two moments at
// which something depends on it, or it on something. The others have no length of
// their own; a sync, the wait for a lock or a condition, is a stretch of the work
// task that it happened in, because the profile adds waits up.
//
//	thread 0  ──work──●create──────────────●join──work──▷
//	thread 1          └──work──●barrier──┤ │
//	thread 2          └────work●─────────┴─┘
//
// The path is that of algorithm 2 there: the length of the longest path up to a
// task is its own length and that of the longest of those it depends on. A length
// is the time that a task needed by itself: CPU time, and what its thread waited
// for files, memory, locks and conditions, as it was measured. What it waited for
// at a meeting or a join is no length, since the graph says for whom; nor is what
// it waited for a core. So no path is longer than the run, whatever the cores did:
// each task is as long as its stretch of time at most, and depends only on what
// was over when it began.
//
// It is pure mathematics over a profile. Rule 27 of docs/method.md has the
// equations, and what is not known.
package taskgraph
