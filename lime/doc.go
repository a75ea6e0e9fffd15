// Package lime finds where a parallel program's load imbalance is introduced.
// It is an implementation of LIME (Oh, Hughes, Venkataramani, Prvulovic: LIME:
// A Framework for Debugging Load Imbalance in Multi-threaded Execution, ICSE
// 2011), with rules repaired where exact counts showed the written ones to
// fail; [Paper] keeps those. Section and equation numbers in comments are the
// paper's, rule numbers those of docs/method.md, which has all rules with
// their equations and reasons.
//
//	profile.Section ──▶ instances    what each thread took: T      rules 1, 13
//	                        │  one by one
//	                        ▼
//	   table        counts, dense: a row per event, a column per part
//	   causality    hardware events less what their superiors explain    3.1
//	   clusters     events that vary alike (linkage, pivots)        3.2, 3.3
//	   regioncost   the instructions that an edge, loop, recursion steers, and
//	                callcost  what a call at each site costs     rules 6, 16
//	   leader       the decisions where a cluster's variation appears    3.4
//	                decision  branch, join, loop, cycle or recursion  rule 5
//	                copies    one for what the source has once       rule 12
//	                        │
//	   explain      which leaders explain T
//	      ┌─────────────────┼──────────────────────┐
//	   matchingpursuit   regression              paper
//	   exact counts:     measured times:         3.4 and 3.5
//	   which costs add   forward selection by    as printed
//	   up to T  rule 7   F tests    3.5, rule 8
//	   start: where parts begin
//	      └─────────────────┼──────────────────────┘
//	                        ▼
//	   gain         time that evening each cause out would save     rule 10
//	   place        the address at which a decision is shown
//	   combine      instances, weighted by the thread-time they lost     3.6
//	   sameline     one line of the source is one cause             rule 11
//	   warnings     what makes the result doubtful                  rule 15
//	                        │
//	                        ▼
//	                     Result
//
// Each word on the left is a file. The program's structure (graph: dominators,
// loops, recursion; sourcelines: what the source has once) is worked out once
// for a profile. Nothing here reads files or clocks; the same profile gives the
// same result, to the bit.
package lime
