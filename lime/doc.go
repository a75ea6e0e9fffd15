// Package lime finds where a parallel program's load imbalance is introduced.
// It is an implementation of LIME (Oh, Hughes, Venkataramani, Prvulovic: LIME:
// A Framework for Debugging Load Imbalance in Multi-threaded Execution, ICSE
// 2011), with rules repaired where exact counts showed the written ones to
// fail; [Paper] keeps those. Section and equation numbers in comments are the
// paper's.
//
//	profile.Section ── per instance ──┐
//	                                  ▼
//	   table      counts, dense: a row per event, a column per thread
//	   causality  hardware events less what their superiors explain    3.1
//	   cluster    events that vary alike                               3.2, 3.3
//	   leader     the vertices where a cluster's variation appears     3.4, eq. 1
//	   copies     one leader for what the source has once
//	   cost       the instructions that each leader steers
//	                                  │
//	              pursuit             │             regress
//	      exact counts: which costs   │   measured times: forward
//	      add up to T's differences   │   selection by F tests         3.5, eq. 2
//	                                  ▼
//	   gain       time that evening each cause out would save
//	   combine    instances, weighted by the thread-time they lost    3.6
//	                                  │
//	                                  ▼
//	                               Result
//
// The program's structure (dominators, loops, recursion: graph) is worked out
// once for a profile. Nothing here reads files or clocks; the same profile
// gives the same result, to the bit.
package lime
