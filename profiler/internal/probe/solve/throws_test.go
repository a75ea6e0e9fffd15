package solve

import (
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// throwing is a function of a few blocks in a solver without code: what was
// thrown, by hand. Edge i of its network counts the exceptions of call i, the
// next ones those that came to its pads.
type throwing struct {
	v *Solver
	x []*function
}

func newThrowing(functions int) *throwing {
	t := &throwing{v: &Solver{broken: map[int32]bool{}}}
	for fn := range functions {
		x := &function{fn: int32(fn), total: make([]int64, 16), edges: make([]networkEdge, 16)}
		for b := range 8 {
			x.blocks = append(x.blocks, block{count: profile.EventID(100*fn + b)})
		}
		t.x = append(t.x, x)
		t.v.funcs = append(t.v.funcs, x)
	}
	return t
}

// call adds a call to a function's block, from which n exceptions came and
// landed at a block of it (−1: in a caller). callee −1: it raises them.
func (t *throwing) call(fn, block int, n int64, pad, callee int) {
	x := t.x[fn]
	site := uint64(1000*fn + block)
	x.throws = append(x.throws, throwOf{block: int32(block), flow: int32(block), pad: int32(pad), throws: callee < 0, site: site})
	x.total[block] = n
	if callee >= 0 {
		x.graph = append(x.graph, edge{from: int32(block), to: -1, callee: int32(callee), kind: profile.Call, site: site})
	}
}

// pad adds a landing pad that exceptions came to n times.
func (t *throwing) pad(fn, block int, n int64) {
	x := t.x[fn]
	x.pads = append(x.pads, padOf{flow: int32(8 + block), edge: int32(len(x.graph)), block: int32(block)})
	x.graph = append(x.graph, edge{from: -1, to: int32(block), callee: -1, kind: profile.Pad, event: profile.EventID(100*fn + 50 + block)})
	x.total[8+block] = n
}

// from lists where the exceptions at a function's n-th pad come from: function, block, event.
func (t *throwing) from(fn, n int) (list [][3]int) {
	for _, e := range t.v.catch()[caught{int32(fn), t.x[fn].pads[n].edge}] {
		list = append(list, [3]int{int(e.by.x.fn), int(e.by.block), int(e.event)})
	}
	return list
}

func (t *throwing) want(tt *testing.T, what string, fn, n int, want ...[3]int) {
	tt.Helper()
	got := t.from(fn, n)
	same := len(got) == len(want)
	for i := range got {
		same = same && got[i] == want[i]
	}
	if !same {
		tt.Errorf("%s: from %v, want %v", what, got, want)
	}
}

// TestThrows: exceptions come from where nothing else is possible.
func TestThrows(t *testing.T) {
	// One throw in the function itself; another call never threw.
	p := newThrowing(1)
	p.call(0, 1, 5, 3, -1)
	p.call(0, 2, 0, 3, -1)
	p.pad(0, 3, 5)
	p.want(t, "a throw", 0, 0, [3]int{0, 1, 53})

	// Two throws, each with its count; then one that threw more than came here.
	p = newThrowing(1)
	p.call(0, 1, 5, 3, -1)
	p.call(0, 2, 2, 3, -1)
	p.pad(0, 3, 7)
	p.want(t, "two throws", 0, 0, [3]int{0, 1, 1}, [3]int{0, 2, 2})
	p.x[0].total[2] = 4
	p.want(t, "too many", 0, 0)
	p.x[0].total[2] = 2
	p.x[0].blocks[1].count = profile.NoEvent
	p.want(t, "a throw whose count is not known", 0, 0)

	// Through two functions, the middle one's own handler catching other things.
	p = newThrowing(3)
	p.call(0, 1, 6, 3, 1)
	p.pad(0, 3, 6)
	p.call(1, 1, 6, 4, 2)
	p.pad(1, 4, 0)
	p.call(2, 1, 6, -1, -1)
	p.want(t, "deep", 0, 0, [3]int{2, 1, 53})

	// The function that throws is called from elsewhere too: still the only place.
	p.x[2].total[1] = 9
	p.want(t, "shared", 0, 0, [3]int{2, 1, 53})
	p.x[2].total[1] = 4 // it threw too little: something else did
	p.want(t, "contradictory", 0, 0, [3]int{1, 1, 53})
	p.x[2].edges[1].unknown = true
	p.want(t, "unknown", 0, 0, [3]int{1, 1, 53})
	p.x[2].edges[1].unknown = false

	// Two throws of which some went elsewhere: as far as the call is known.
	p.x[2].total[1] = 9
	p.call(2, 2, 3, -1, -1)
	p.want(t, "two deep throws", 0, 0, [3]int{1, 1, 53})
	p.x[2].total[1] = 3
	p.want(t, "two deep throws, all of them", 0, 0, [3]int{2, 1, 201}, [3]int{2, 2, 202})
	p.v.broken[2] = true
	p.want(t, "broken", 0, 0, [3]int{1, 1, 53})
	p.v.broken[0] = true
	p.want(t, "broken itself", 0, 0)

	// A function that calls itself ends the search.
	p = newThrowing(2)
	p.call(0, 1, 6, 3, 1)
	p.pad(0, 3, 6)
	p.call(1, 1, 6, -1, 1)
	if got := p.from(0, 0); len(got) != 1 {
		t.Errorf("recursion: from %v", got)
	}
	// A longjmp through the call: more did not come back than came to the pad.
	p.x[0].total[1] = 8
	p.want(t, "longjmp", 0, 0)
}

// TestThrowsInPrograms: of real programs' functions, walked at random, every
// edge to a pad has a count or is from START.
func TestThrowsInPrograms(t *testing.T) {
	p := newProcess(t)
	p.walkAll(rand.New(rand.NewPCG(31, 32)))
	c := p.v.SolveLife(p.deltas())
	x := p.count(c)
	p.check(t, x)
	pads, thrown := 0, 0
	for _, e := range x.g.Edges {
		if e.Kind != profile.Pad {
			continue
		}
		pads++
		if e.From != profile.NoBlock {
			thrown++
			if e.Count == profile.NoEvent || e.Site == 0 {
				t.Errorf("%+v", e)
			}
		}
	}
	t.Logf("%d pads, %d with a throw", pads, thrown)
}
