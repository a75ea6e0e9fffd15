package flowgraph

import (
	"cmp"
	"slices"
)

// Loop is a natural loop: the vertices that reach a back edge to its head
// without passing it.
type Loop struct {
	Head    int32
	Parent  int32   // the loop around it, or None
	Latches []int32 // where its back edges come from, in reverse postorder
}

// Loops are the natural loops of a graph. Two either nest or have no vertex in
// common.
type Loops struct {
	All    []Loop  // inner ones first
	Inner  []int32 // by vertex: the innermost loop that holds it, or None
	Headed []int32 // by vertex: the loop that it heads, or None
}

// Loops finds the natural loops: those of edges whose target dominates their
// source. A cycle that can be entered in several places has none.
//
// Heads are taken from the inside outwards (a head inside a loop is dominated
// by that loop's head), so that a walk which meets a finished loop steps over
// it as a whole.
func (g *Graph) Loops(t *Tree) *Loops {
	n := g.Len()
	mem := make([]int32, 2*n)
	for i := range mem {
		mem[i] = None
	}
	ls := &Loops{Inner: mem[:n], Headed: mem[n:]}
	for _, v := range t.Order {
		for _, h := range g.Succ(v) {
			if !t.Dominates(h, v) {
				continue
			}
			if ls.Headed[h] == None {
				ls.Headed[h] = int32(len(ls.All))
				ls.All = append(ls.All, Loop{Head: h, Parent: None})
			}
			l := &ls.All[ls.Headed[h]]
			l.Latches = append(l.Latches, v)
		}
	}
	slices.SortFunc(ls.All, func(a, b Loop) int { return cmp.Compare(t.Pre[b.Head], t.Pre[a.Head]) })
	for i := range ls.All {
		ls.Headed[ls.All[i].Head] = int32(i)
	}
	for i := range ls.All {
		ls.fill(g, t, int32(i))
	}
	return ls
}

// fill finds what loop l holds; those in it are filled.
func (ls *Loops) fill(g *Graph, t *Tree, l int32) {
	head := ls.All[l].Head
	ls.Inner[head] = l
	walk := slices.Clone(ls.All[l].Latches)
	for len(walk) > 0 {
		v := walk[len(walk)-1]
		walk = walk[:len(walk)-1]
		switch in := ls.outermost(v); {
		case in == l:
			continue
		case in != None:
			ls.All[in].Parent = l
			v = ls.All[in].Head
		default:
			ls.Inner[v] = l
		}
		for _, p := range g.Pred(v) {
			if t.Reached(p) {
				walk = append(walk, p)
			}
		}
	}
}

// outermost returns the outermost loop found so far that holds v, or None.
func (ls *Loops) outermost(v int32) int32 {
	l := ls.Inner[v]
	for l != None && ls.All[l].Parent != None {
		l = ls.All[l].Parent
	}
	return l
}

// Holds reports whether v is of loop l.
func (ls *Loops) Holds(l, v int32) bool {
	for i := ls.Inner[v]; i != None; i = ls.All[i].Parent {
		if i == l {
			return true
		}
	}
	return false
}

// Cycle returns the vertices that reach some of a head's latches without
// passing it, and head, in increasing order: a part of its loop, where not all
// latches are given.
func (g *Graph) Cycle(t *Tree, head int32, latches ...int32) []int32 {
	cycle := []int32{head}
	seen := make([]bool, g.Len())
	seen[head] = true
	walk := slices.Clone(latches)
	for len(walk) > 0 {
		v := walk[len(walk)-1]
		walk = walk[:len(walk)-1]
		if seen[v] || !t.Reached(v) {
			continue
		}
		seen[v] = true
		cycle = append(cycle, v)
		walk = append(walk, g.Pred(v)...)
	}
	slices.Sort(cycle)
	return cycle
}
