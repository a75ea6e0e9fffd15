// Package solve turns the counters of moved code into the counts of every
// block and edge, and those into the graph and the events of a profile.
//
//	deltas of counters ─▶ Resolve    pairs of call site and target get numbers
//	                   ─▶ Solve      flow conservation gives all other edges
//	                   │    ▲        active frames and loops: what a thread never left
//	                   │    └ eliminate: the order in which edges follow from others
//	                   ─▶ Work       the same, as instructions only
//	functions that ran ─▶ Graph      blocks, edges, events
//
// A function's network is made again from its graph (relocate's
// Spec.Counters); nothing is kept of functions that did not run.
package solve
