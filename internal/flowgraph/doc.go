// Package flowgraph knows the shape of directed graphs: who dominates whom,
// which vertices form a loop, which lead to each other. It is pure, and knows
// nothing of code or counts; its users number their blocks or functions from 0.
//
//	n, edges ──▶ Graph ──┬──▶ Dominators ──▶ Tree ──▶ Loops, Cycle
//	                     ├──▶ Reverse ─────▶ (Dominators there are the postdominators)
//	                     └──▶ Components     strongly connected, callees first
//
// A flow graph may be entered in several places (threads start, exceptions
// land), so its trees hang from a root outside; vertices that no root leads to
// are in no tree and no loop. Order matters to the users: which edges go
// backwards follows from the reverse postorder, where a cycle has several
// entries, and sums of floating-point numbers follow the dominator tree's
// preorder. Both are fixed by the order of the edges and of the roots.
//
// Gonum's graph/flow and graph/topo find the same dominators and components
// (the tests compare them on random graphs), but through maps and interfaces:
// 24,000 blocks in functions of up to 3,000 take 6 ms and 2 MB here, 137 ms and
// 40 MB there for dominators (53 ms and 15 MB on a graph type made for it), and
// 5 ms against 108 ms (25 ms) for components. It gives neither of the orders,
// nor natural loops.
package flowgraph
