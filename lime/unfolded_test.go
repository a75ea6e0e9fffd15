package lime

import (
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// fibonacci counts, by recursion, what one thread is to count; gcc -O3 makes loops of
// the calls in tail position, and puts first levels into the caller.
func fibonacci(m *machine, n func(*walker) int) (p *profile.Profile, loop *repeat) {
	var stack []int
	top := func() *int { return &stack[len(stack)-1] }
	f := m.function("fib")
	recur := &when{
		cond: func(*walker) bool { return *top() >= 2 },
		then: []stmt{
			before(func() { stack = append(stack, *top()-1) }), &call{f: f},
			before(func() { *top()-- }), &call{f: f}, before(func() { stack = stack[:len(stack)-1] })}}
	m.p.Graph.Blocks, m.p.Graph.Edges, m.p.Events = nil, nil, nil // f is laid out below
	f.define(m, recur, &work{instructions: 7})
	second := &repeat{trips: func(w *walker) int { return n(w) * n(w) / 4 }, instructions: 2, body: []stmt{
		beforeOf(func(w *walker) { stack = []int{5*n(w) - 27} }), &call{f: f}}}
	loop = &repeat{trips: n, instructions: 2, body: []stmt{second}}
	return m.run(all(m.function("main", loop), 4)...), loop
}

// A recursion whose first level was inlined into what calls it: a little more at
// that level is a lot more in all. The loop is the cause where it is of the
// recursive function; of any other one something else is to blame.
func TestUnfoldedRecursion(t *testing.T) {
	for _, of := range []string{"fib", "other"} {
		m := newMachine()
		p, _ := fibonacci(m, func(w *walker) int {
			if w.id == 2 {
				return 8
			}
			return 7
		})
		located(m)
		for i := range p.Locations {
			if l := &p.Locations[i]; l.Function == "main" {
				l.Function, l.InlinedAt = of, []profile.Frame{{File: "a.c", Line: 1, Function: "main"}}
			}
		}
		res := analyse(t, p, Options{})
		if of == "other" {
			if len(res.Causes) > 0 {
				t.Errorf("of another function: causes %+v", res.Causes)
			}
			continue
		}
		if len(res.Causes) != 1 || res.Causes[0].Leader != Loop || res.Causes[0].Share < 0.99 {
			t.Errorf("causes %+v, want the loop", res.Causes)
		}
	}
	// Inlined into itself, level by level: all of it.
	m := newMachine()
	p, loop := fibonacci(m, func(*walker) int { return 6 })
	located(m)
	i := slices.IndexFunc(p.Locations, func(l profile.Location) bool { return l.Address == m.last(loop.latch) })
	p.Locations[i].Function, p.Locations[i].InlinedAt = "g", []profile.Frame{{Function: "g"}, {Function: "main"}}
	g := newGraph(p)
	if unfolded := newSources(p, g, newPlaced(p, g), true).unfolded; !unfolded[loop.latch] {
		t.Error("what is inlined into itself is not seen")
	}
}
