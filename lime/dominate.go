package lime

// flow is one function's control flow, or its reverse, over blocks 0 … n−1.
type flow struct {
	to, from [][]int32
	root     []bool // where it can be entered
	last     int    // the root that is walked last, so that it comes first; −1: any
}

// domTree is a dominator tree. Blocks that can be reached have places 1, 2, …
// in reverse postorder; place 0 is one root outside, before all entries.
type domTree struct {
	place []int32 // by block; 0: not reached
	at    []int32 // by place: the block
	up    []int32 // by place: the immediate dominator's place
}

// dominators follows Cooper, Harvey and Kennedy, A Simple, Fast Dominance
// Algorithm.
func (f *flow) dominators() domTree {
	order := f.postorder()
	t := domTree{make([]int32, len(f.to)), make([]int32, len(order)+1), make([]int32, len(order)+1)}
	for i, b := range order {
		k := len(order) - i
		t.place[b], t.at[k], t.up[k] = int32(k), b, -1
	}
	for changed := true; changed; {
		changed = false
		for k := 1; k <= len(order); k++ {
			now := int32(-1)
			if f.root[t.at[k]] {
				now = 0
			}
			for _, b := range f.from[t.at[k]] {
				if from := t.place[b]; from > 0 && t.up[from] >= 0 {
					now = t.meet(now, from)
				}
			}
			if t.up[k] != now {
				t.up[k], changed = now, true
			}
		}
	}
	return t
}

// meet returns the nearest common dominator of two places; a may be unknown.
func (t *domTree) meet(a, b int32) int32 {
	if a < 0 {
		return b
	}
	for a != b {
		for a > b {
			a = t.up[a]
		}
		for b > a {
			b = t.up[b]
		}
	}
	return a
}

// postorder lists the blocks that can be reached, each after those that it
// leads to but for cycles.
func (f *flow) postorder() []int32 {
	seen := make([]bool, len(f.to))
	var order []int32
	type frame struct{ b, k int32 }
	var stack []frame
	visit := func(r int) {
		if seen[r] {
			return
		}
		seen[r] = true
		stack = append(stack, frame{int32(r), 0})
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if int(top.k) == len(f.to[top.b]) {
				order = append(order, top.b)
				stack = stack[:len(stack)-1]
				continue
			}
			next := f.to[top.b][top.k]
			top.k++
			if !seen[next] {
				seen[next] = true
				stack = append(stack, frame{next, 0})
			}
		}
	}
	for r := len(f.root) - 1; r >= 0; r-- {
		if f.root[r] && r != f.last {
			visit(r)
		}
	}
	if f.last >= 0 {
		visit(f.last)
	}
	return order
}
