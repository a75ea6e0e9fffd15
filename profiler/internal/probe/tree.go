package probe

import (
	"math"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

const never = 1e30 // weight of what cannot be counted

// weigh estimates what a counter on each edge would cost: its frequency, times
// the price of the code that counts there.
func (w *flow) weigh(opt Options) {
	for i := range w.edges {
		e := &w.edges[i]
		switch {
		case e.uncountable:
			e.weight = never
			continue
		case e.edge != nil:
			x := e.edge
			e.weight = x.Freq * 1.05
			switch x.Kind {
			case cfg.Taken:
				e.weight = x.Freq * 1.3 // needs a jump of its own
			case cfg.Entry, cfg.Pad:
				e.weight = x.Freq * 1.1
			}
			if x.To != nil && x.To.LiveIn&^x86.CF != 0 {
				e.weight *= 4 // the flags have to be saved
			}
		case e.hub > 0:
			for _, p := range e.block.Pred {
				if p.Kind == cfg.Table {
					e.weight += p.Freq * 1.1
				}
			}
		default:
			e.weight = e.block.Freq
			if _, dead := probePoint(e.block); !dead {
				e.weight *= 4
			}
			if !opt.NoInduction && e.block.Loop != nil {
				if v, cost := w.inductionFor(e.block); v != nil && cost < e.weight {
					e.weight, e.induction = cost, v
				}
			}
		}
	}
}

// probePoint returns the instruction before which a block is counted: the
// first place where the flags that incq changes are dead, and before the
// first call, which might not come back. dead is false when there is none.
func probePoint(b *cfg.Block) (k int, dead bool) {
	firstCall := len(b.Insns)
	for i := range b.Insns {
		if b.Insns[i].Kind.IsCall() {
			firstCall = i
			break
		}
	}
	live := b.LiveOut
	best := -1
	for i := len(b.Insns) - 1; i >= 0; i-- {
		live = live&^b.Insns[i].FlagsKilled | b.Insns[i].FlagsRead
		if live&^x86.CF == 0 && i <= firstCall {
			best = i
		}
	}
	if best < 0 {
		return 0, false
	}
	return best, true
}

// place chooses the spanning tree and numbers the counters of all other edges
// from next on; it returns the next free number.
func (w *flow) place(next int32, opt Options, s *flowSpace) int32 {
	w.weigh(opt)
	if s == nil {
		s = &flowSpace{}
	}
	order, set := s.order[:0], s.set[:0]
	for i := range w.edges { // heaviest first, then in their order: as one number, which sorts fast
		order = append(order, uint64(^math.Float32bits(float32(w.edges[i].weight)))<<32|uint64(i))
	}
	for i := range w.nodes {
		set = append(set, i)
	}
	s.order, s.set = order, set
	slices.Sort(order)
	for _, x := range order {
		i := int32(uint32(x))
		e := &w.edges[i]
		if a, b := root(set, e.from), root(set, e.to); a != b && (e.uncountable || !opt.NoTree) {
			set[a] = b
			e.tree, e.induction = true, nil
			continue
		}
		if e.uncountable {
			continue
		}
		e.counter = next
		next++
		if e.induction != nil {
			w.attach(e)
		}
	}
	return next
}

// derive prepares solving: what cannot be known, and how the rest follows
// from the counters.
func (w *flow) derive() {
	for i := range w.edges {
		if e := &w.edges[i]; e.uncountable && !e.tree {
			w.markCycle(int32(i))
		}
	}
	w.eliminate()
}

// markCycle marks a dropped edge and the tree path between its ends unknown.
func (w *flow) markCycle(drop int32) {
	// Edges of the tree by node: first[n] … first[n+1] in at.
	first := make([]int32, w.nodes+1)
	for i := range w.edges {
		if e := &w.edges[i]; e.tree {
			first[e.from]++
			first[e.to]++
		}
	}
	sum := int32(0)
	for n := range first {
		sum += first[n]
		first[n] = sum
	}
	at := make([]int32, sum)
	for i := range w.edges {
		if e := &w.edges[i]; e.tree {
			first[e.from]--
			at[first[e.from]] = int32(i)
			first[e.to]--
			at[first[e.to]] = int32(i)
		}
	}
	w.edges[drop].unknown = true
	from, to := w.edges[drop].from, w.edges[drop].to
	by := make([]int32, w.nodes) // the edge + 1 by which a node was reached
	other := func(i, n int32) int32 { return w.edges[i].from + w.edges[i].to - n }
	for queue := []int32{from}; len(queue) > 0 && by[to] == 0 && from != to; queue = queue[1:] {
		n := queue[0]
		for _, i := range at[first[n]:first[n+1]] {
			if m := other(i, n); m != from && by[m] == 0 {
				by[m] = i + 1
				queue = append(queue, m)
			}
		}
	}
	for n := to; n != from && by[n] != 0; {
		i := by[n] - 1
		w.edges[i].unknown = true
		n = other(i, n)
	}
}

// step derives one tree edge: the sum of plus less the sum of minus.
type step struct {
	edge, node  int32
	leaves      bool // the edge leaves the node
	plus, minus []int32
}

// eliminate orders the tree's edges so that each is the last unknown one at
// one of its nodes: leaves first.
func (w *flow) eliminate() {
	degree := make([]int32, w.nodes)
	first := make([]int32, w.nodes+1) // of each node's edges in at
	each := func(do func(i int32, n int32)) {
		for i := range w.edges {
			if e := &w.edges[i]; e.from != e.to && (e.tree || e.counter >= 0) {
				do(int32(i), e.from)
				do(int32(i), e.to)
			}
		}
	}
	trees := 0
	each(func(i, n int32) {
		first[n+1]++
		if w.edges[i].tree {
			degree[n]++
			trees++
		}
	})
	for n := range degree {
		first[n+1] += first[n]
	}
	at := make([]int32, first[w.nodes])
	fill := append([]int32(nil), first...)
	each(func(i, n int32) {
		at[fill[n]] = i
		fill[n]++
	})
	done := make([]bool, len(w.edges))
	queue := make([]int32, 0, w.nodes)
	for n := range degree {
		if degree[n] == 1 {
			queue = append(queue, int32(n))
		}
	}
	w.steps = make([]step, 0, trees/2)
	terms := make([]int32, 0, len(at)) // the steps' plus and minus, one behind the other
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if degree[n] != 1 {
			continue
		}
		s := step{edge: -1, node: n}
		here := at[first[n]:first[n+1]]
		for _, i := range here {
			if e := &w.edges[i]; e.tree && !done[i] {
				s.edge = i
			}
		}
		u := &w.edges[s.edge]
		s.leaves = u.from == n
		// u leaves n: u = inflow − other outflow; u enters n: the reverse.
		collect := func(plus bool) []int32 {
			from := len(terms)
			for _, i := range here {
				if i != s.edge && ((w.edges[i].to == n) == s.leaves) == plus {
					terms = append(terms, i)
				}
			}
			return terms[from:len(terms):len(terms)]
		}
		s.plus = collect(true)
		s.minus = collect(false)
		done[s.edge] = true
		w.steps = append(w.steps, s)
		for _, m := range [2]int32{u.from, u.to} {
			degree[m]--
			if degree[m] == 1 {
				queue = append(queue, m)
			}
		}
	}
}

// solve derives every edge's count from the counters; val has one element per
// edge, those with a counter filled in. open holds, by node, how many units of
// flow stay there for ever: frames that were never left.
func solve(steps []step, val []int64, open map[int32]int64) {
	total := int64(0)
	for _, n := range open {
		total += n
	}
	for _, s := range steps {
		v := int64(0)
		for _, i := range s.plus {
			v += val[i]
		}
		for _, i := range s.minus {
			v -= val[i]
		}
		if total != 0 {
			stay := open[s.node]
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
