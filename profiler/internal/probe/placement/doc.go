// Package placement chooses where a function counts, so that counting costs
// least and still tells how often every block and every edge ran.
//
//	cfg.Graph  ─▶ network    the function as a circulation of control
//	exclusions ─▶ tree       edges without a counter: a spanning tree of maximal weight
//	           ─▶ induction  loops whose own register counts for them
//	           ─▶ Network    every edge's counter, or none
//
// Counting by flow conservation. Every function is a circulation: what enters
// a block leaves it, and all that leaves the function comes in again at node
// 0. So only the edges outside a spanning tree need a counter (Knuth, 1973;
// Ball and Larus, "Optimally profiling and tracing programs", 1994), and with
// a tree of maximal weight these are the ones that run least.
//
// A block is an edge as well, from its in-node to its out-node: a counter in
// the middle of a block is often cheaper than one on an edge. The targets of
// switches are counted where they arrive, so the edges between several
// switches and their shared targets are not known one by one: they meet in a
// hub, jump → hub → target.
//
// What no counter can stand on (cfg.Edge.Uncountable, and the exclusions that
// the caller names) goes into the tree first. An uncountable edge that would
// close a cycle has only uncountable ones in that cycle: these counts, and
// only these, are unknown.
//
// All of it is a function of the graph and of what is excluded, so that it is
// made again wherever it is needed instead of being kept.
package placement
