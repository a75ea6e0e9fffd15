package flowgraph

// None stands for no vertex, no loop, no place.
const None = -1

// Edge leads from one vertex to another.
type Edge struct{ From, To int32 }

// Graph is a directed graph over the vertices 0 … n−1. Edges may repeat, and
// lead from a vertex to itself. A Graph does not change.
type Graph struct{ succ, pred Lists }

// New makes a graph of n vertices. The edges that leave a vertex keep their
// order, on which reverse postorder depends.
func New(n int, edges []Edge) *Graph {
	succ := NewLists(n, len(edges), func(i int) int { return int(edges[i].From) })
	pred := NewLists(n, len(edges), func(i int) int { return int(edges[i].To) })
	for i, e := range succ.item {
		succ.item[i] = edges[e].To
	}
	for i, e := range pred.item {
		pred.item[i] = edges[e].From
	}
	return &Graph{succ, pred}
}

// Len returns how many vertices there are.
func (g *Graph) Len() int { return len(g.succ.start) - 1 }

// Succ returns where the edges that leave v lead, Pred where those that enter
// it come from. The caller must not write to them.
func (g *Graph) Succ(v int32) []int32 { return g.succ.Of(int(v)) }
func (g *Graph) Pred(v int32) []int32 { return g.pred.Of(int(v)) }

// Reverse returns the graph with all edges turned round: the dominators there
// are the postdominators here.
func (g *Graph) Reverse() *Graph { return &Graph{g.pred, g.succ} }

// Lists is a table of lists of indices, stored end to end.
type Lists struct{ start, item []int32 }

// NewLists groups the items 0 … n−1 by key(item), one of 0 … keys−1; a negative
// key is in no list. Items keep their order.
func NewLists(keys, n int, key func(item int) int) Lists {
	l := Lists{start: make([]int32, keys+1)}
	for i := range n {
		if k := key(i); k >= 0 {
			l.start[k+1]++
		}
	}
	for k := range keys {
		l.start[k+1] += l.start[k]
	}
	l.item = make([]int32, l.start[keys])
	for i := range n {
		if k := key(i); k >= 0 {
			l.item[l.start[k]] = int32(i)
			l.start[k]++
		}
	}
	copy(l.start[1:], l.start) // each list's start has moved to its end
	l.start[0] = 0
	return l
}

// Of returns the items with key k.
func (l Lists) Of(k int) []int32 { return l.item[l.start[k]:l.start[k+1]] }
