package flowgraph

// Tree is the dominator tree of the vertices that can be reached from some
// roots. Its own root is a vertex outside the graph that leads to all of them.
type Tree struct {
	Order []int32 // the vertices that can be reached, in reverse postorder
	Place []int32 // by vertex: where in Order; None: it cannot be reached
	Idom  []int32 // by vertex: its immediate dominator; None: that is the root outside, or it cannot be reached
	Pre   []int32 // by vertex: its number in the tree's preorder; None: it cannot be reached
	last  []int32 // by vertex: the greatest Pre of those that it dominates
}

// Dominators finds who dominates whom: every way from the roots to b passes a.
// In reverse postorder the roots' trees come in the order of the roots. It
// follows K. Cooper, T. Harvey and K. Kennedy, A Simple, Fast Dominance
// Algorithm (2001).
func (g *Graph) Dominators(roots []int32) *Tree {
	n := g.Len()
	mem := make([]int32, 4*n)
	t := &Tree{Order: g.reversePostorder(roots), Place: mem[:n], Idom: mem[n : 2*n], Pre: mem[2*n : 3*n], last: mem[3*n:]}
	for i := range mem {
		mem[i] = None
	}
	for i, v := range t.Order {
		t.Place[v] = int32(i)
	}
	// up is the tree by places, which are counted from 1; 0 is the root outside.
	up := make([]int32, len(t.Order)+1)
	for i := range up {
		up[i] = None
	}
	isRoot := make([]bool, n)
	for _, r := range roots {
		isRoot[r] = true
	}
	for changed := true; changed; {
		changed = false
		for i, v := range t.Order {
			d := int32(None)
			if isRoot[v] {
				d = 0
			}
			for _, p := range g.Pred(v) {
				if k := t.Place[p] + 1; k > 0 && up[k] != None {
					d = nearest(up, d, k)
				}
			}
			if up[i+1] != d {
				up[i+1], changed = d, true
			}
		}
	}
	t.number(up)
	return t
}

// nearest returns the nearest common ancestor of two places in a tree whose
// parents come first; a may be None, which is above nobody.
func nearest(up []int32, a, b int32) int32 {
	if a == None {
		return b
	}
	for a != b {
		for a > b {
			a = up[a]
		}
		for b > a {
			b = up[b]
		}
	}
	return a
}

// number translates the tree from places to vertices, and numbers it: siblings
// in the order of their places.
func (t *Tree) number(up []int32) {
	size := make([]int32, len(up)) // of the subtree
	for k := len(up) - 1; k > 0; k-- {
		size[k]++
		size[up[k]] += size[k]
	}
	next := make([]int32, len(up)) // by place: the number of its next child
	for k := 1; k < len(up); k++ { // parents come first
		v, d := t.Order[k-1], up[k]
		pre := next[d]
		t.Pre[v], t.last[v] = pre, pre+size[k]-1
		next[d], next[k] = pre+size[k], pre+1
		if d > 0 {
			t.Idom[v] = t.Order[d-1]
		}
	}
}

// Reached reports whether v can be reached from the roots.
func (t *Tree) Reached(v int32) bool { return t.Place[v] != None }

// Dominates reports whether every way from the roots to b passes a; both can
// be reached. A vertex dominates itself.
func (t *Tree) Dominates(a, b int32) bool {
	return t.Reached(a) && t.Pre[a] <= t.Pre[b] && t.Pre[b] <= t.last[a]
}

// reversePostorder lists the vertices that can be reached, each before those
// that it leads to but for cycles.
func (g *Graph) reversePostorder(roots []int32) []int32 {
	order := make([]int32, g.Len())
	at := len(order)
	seen := make([]bool, g.Len())
	type frame struct{ v, next int32 }
	var stack []frame
	for i := len(roots) - 1; i >= 0; i-- {
		if r := roots[i]; !seen[r] {
			seen[r] = true
			stack = append(stack, frame{r, 0})
		}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			to := g.Succ(top.v)
			if int(top.next) == len(to) {
				at--
				order[at] = top.v
				stack = stack[:len(stack)-1]
				continue
			}
			w := to[top.next]
			top.next++
			if !seen[w] {
				seen[w] = true
				stack = append(stack, frame{w, 0})
			}
		}
	}
	return order[at:]
}
