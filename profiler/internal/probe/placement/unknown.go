package placement

// MarkUnknown marks the edges whose counts cannot be derived: the uncountable
// ones that are not in the tree, and those with which they close a cycle. It
// reports whether there are any.
func (w *Network) MarkUnknown() (found bool) {
	for i := range w.Edges {
		if e := &w.Edges[i]; e.uncountable && !e.Tree {
			w.markCycle(int32(i))
			found = true
		}
	}
	return found
}

// markCycle marks an edge that is not in the tree and the tree path between its ends.
func (w *Network) markCycle(drop int32) {
	tree := w.treeEdges()
	w.Edges[drop].Unknown = true
	from, to := w.Edges[drop].From, w.Edges[drop].To
	by := make([]int32, w.Nodes) // the edge + 1 by which a node was reached
	other := func(i, n int32) int32 { return w.Edges[i].From + w.Edges[i].To - n }
	for queue := []int32{from}; len(queue) > 0 && by[to] == 0 && from != to; queue = queue[1:] {
		n := queue[0]
		for _, i := range tree.at(n) {
			if m := other(i, n); m != from && by[m] == 0 {
				by[m] = i + 1
				queue = append(queue, m)
			}
		}
	}
	for n := to; n != from && by[n] != 0; {
		i := by[n] - 1
		w.Edges[i].Unknown = true
		n = other(i, n)
	}
}

// edgesByNode lists edges at each node: first[n] … first[n+1] in list.
type edgesByNode struct{ first, list []int32 }

func (x *edgesByNode) at(n int32) []int32 { return x.list[x.first[n]:x.first[n+1]] }

func (w *Network) treeEdges() edgesByNode {
	first := make([]int32, w.Nodes+1)
	for i := range w.Edges {
		if e := &w.Edges[i]; e.Tree {
			first[e.From]++
			first[e.To]++
		}
	}
	sum := int32(0)
	for n := range first {
		sum += first[n]
		first[n] = sum
	}
	list := make([]int32, sum)
	for i := range w.Edges {
		if e := &w.Edges[i]; e.Tree {
			first[e.From]--
			list[first[e.From]] = int32(i)
			first[e.To]--
			list[first[e.To]] = int32(i)
		}
	}
	return edgesByNode{first, list}
}
