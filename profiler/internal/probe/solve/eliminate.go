package solve

import "github.com/skewlens/skewlens/profiler/internal/probe/placement"

// step derives one tree edge: the sum of some edges less the sum of others.
type step struct {
	edge, node int32
	minus, end int32 // in steps.terms, behind those of the step before: up to minus what is added, then what is taken away
	leaves     bool  // the edge leaves the node
}

// steps derive all tree edges, one after the other. A large program has hundreds of
// thousands: lists of their own would take most of the solver's memory.
type steps struct {
	list  []step
	terms []int32
}

// of are a step's edges.
func (x *steps) of(i int) (plus, minus []int32) {
	from := int32(0)
	if i > 0 {
		from = x.list[i-1].end
	}
	s := &x.list[i]
	return x.terms[from:s.minus], x.terms[s.minus:s.end]
}

// eliminator orders the edges of a network's tree.
type eliminator struct {
	w           *placement.Network
	first, list []int32 // edges at node n: list[first[n]:first[n+1]]
	degree      []int32 // of each node: tree edges that no step derives yet
	done        []bool  // edges that one does
	terms       []int32 // the steps', one behind the other
}

// eliminate orders the tree's edges so that each is the last unknown one at
// one of its nodes: leaves first.
func eliminate(w *placement.Network) steps {
	x := newEliminator(w)
	trees := 0
	queue := make([]int32, 0, w.Nodes)
	for n, d := range x.degree {
		trees += int(d)
		if d == 1 {
			queue = append(queue, int32(n))
		}
	}
	list := make([]step, 0, trees/2)
	for ; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		if x.degree[n] != 1 {
			continue
		}
		s := x.derive(n)
		list = append(list, s)
		x.done[s.edge] = true
		for _, m := range [2]int32{w.Edges[s.edge].From, w.Edges[s.edge].To} {
			x.degree[m]--
			if x.degree[m] == 1 {
				queue = append(queue, m)
			}
		}
	}
	return steps{list, x.terms}
}

func newEliminator(w *placement.Network) *eliminator {
	x := &eliminator{w: w, first: make([]int32, w.Nodes+1), degree: make([]int32, w.Nodes), done: make([]bool, len(w.Edges))}
	x.each(func(i, n int32) {
		x.first[n+1]++
		if w.Edges[i].Tree {
			x.degree[n]++
		}
	})
	for n := range x.degree {
		x.first[n+1] += x.first[n]
	}
	x.list = make([]int32, x.first[w.Nodes])
	next := append([]int32(nil), x.first...)
	x.each(func(i, n int32) {
		x.list[next[n]] = i
		next[n]++
	})
	x.terms = make([]int32, 0, len(x.list))
	return x
}

// each calls do for both ends of every edge that takes part.
func (x *eliminator) each(do func(edge, node int32)) {
	for i := range x.w.Edges {
		if e := &x.w.Edges[i]; e.From != e.To && (e.Tree || e.Counter >= 0) {
			do(int32(i), e.From)
			do(int32(i), e.To)
		}
	}
}

// derive is the step that derives the only tree edge left at a node.
func (x *eliminator) derive(n int32) step {
	s := step{edge: -1, node: n}
	here := x.list[x.first[n]:x.first[n+1]]
	for _, i := range here {
		if x.w.Edges[i].Tree && !x.done[i] {
			s.edge = i
		}
	}
	s.leaves = x.w.Edges[s.edge].From == n
	// An edge that leaves n is inflow − other outflow; one that enters n, the reverse.
	collect := func(plus bool) int32 {
		for _, i := range here {
			if i != s.edge && ((x.w.Edges[i].To == n) == s.leaves) == plus {
				x.terms = append(x.terms, i)
			}
		}
		return int32(len(x.terms))
	}
	s.minus = collect(true)
	s.end = collect(false)
	return s
}

// conserve derives every edge's count from the counters; val has one element
// per edge, those with a counter filled in. active holds, by node, how many
// units of flow stay there for ever: frames that were never left. Fewer than none
// are those that were there before: a goroutine that was in one call of a function
// at a record, and is in another one at the next, has one of both.
func conserve(x *steps, val []int64, active map[int32]int64) {
	total := int64(0)
	for _, n := range active {
		total += n
	}
	at := int32(0)
	for k := range x.list {
		s, v := &x.list[k], int64(0)
		for _, i := range x.terms[at:s.minus] {
			v += val[i]
		}
		for _, i := range x.terms[s.minus:s.end] {
			v -= val[i]
		}
		at = s.end
		if len(active) > 0 {
			stay := active[s.node]
			if s.node == 0 {
				stay = -total // what stays inside did not come back out
			}
			if s.leaves {
				v -= stay
			} else {
				v += stay
			}
		}
		val[s.edge] = v
	}
}
