package solve

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
)

// imported counts the calls and jumps through a slot; unknown: some are not known.
func (p *process) imported(slot uint64) (calls int64, unknown bool) {
	add := func(x *walked, edge int32) {
		calls += x.truth[edge]
		unknown = unknown || x.w.Edges[edge].Unknown
	}
	p.each(func(x *walked) {
		if p.v.funcs[x.q.Number] == nil || x.m != &p.mods[0] {
			return
		}
		for _, b := range x.w.Graph.Blocks {
			for i := range b.Calls {
				if at, ok := x.m.Spec.ImportOfCall(&b.Calls[i]); ok && at == slot {
					add(x, x.w.Block(b))
				}
			}
			if at, ok := x.m.Spec.ImportOfJump(b); ok && at == slot {
				for _, e := range append(relocate.TailEdges(b), b.Succ[:1]...)[:1] {
					add(x, x.w.Edge(e))
				}
			}
		}
	})
	return calls, unknown
}

// TestBind lets slots of one module lead to functions of the other: one slot to each.
func TestBind(t *testing.T) {
	p := newProcess(t)
	p.walkAll(rand.New(rand.NewPCG(21, 22)))
	c := p.v.Solve(p.deltas())
	slots := map[uint64]*relocate.Plan{} // run-time address → where it leads
	var callees []*relocate.Plan
	p.each(func(x *walked) {
		if x.m == &p.mods[1] && p.v.funcs[x.q.Number] != nil && !x.w.Edges[x.w.Edge(x.w.Graph.Edges[0])].Unknown && !x.q.CallersUnknown {
			callees = append(callees, x.q)
		}
	})
	for _, f := range p.v.funcs {
		if f == nil || p.v.moduleOf(f.fn) != &p.mods[0] {
			continue
		}
		for _, k := range f.imports {
			if at := k.slot + p.mods[0].Bias; slots[at] == nil && len(slots) < len(callees) {
				slots[at] = callees[len(slots)]
			}
		}
	}
	if len(slots) < 20 {
		t.Fatalf("only %d slots", len(slots))
	}
	before := p.count(p.v.Explain(c))
	read := func(addr uint64) (uint64, error) {
		if q := slots[addr]; q != nil {
			return q.Func.Ranges[0].Lo + p.mods[1].Bias, nil
		}
		return 0, errors.New("not mapped")
	}
	p.v.Bind(func(addr uint64) (uint64, error) { return addr, nil }) // no function begins there: not bound yet
	p.v.Bind(read)
	after := p.count(p.v.Explain(c))
	p.check(t, after)
	for at, q := range slots {
		calls, unknown := p.imported(at - p.mods[0].Bias)
		entry := profile.Addr(q.Func.Ranges[0].Lo + p.mods[1].Base)
		if got := after.into(entry, profile.Call) + after.into(entry, profile.TailCall); !unknown && got < calls {
			t.Errorf("%s: %d calls through the slot, not %d", q.Func.Name, got, calls)
		}
		switch was, is := before.into(entry, profile.Start), after.into(entry, profile.Start); {
		case unknown && is >= 0, !unknown && is != max(0, was-calls):
			t.Errorf("%s: %d entries from START, of %d without the %d calls through the slot (unknown: %v)", q.Func.Name, is, was, calls, unknown)
		}
	}
	for at, q := range slots { // bound to something else
		slots[at] = callees[(q.Number+1)%int32(len(callees))]
	}
	p.v.Bind(read)
	again := p.count(p.v.Explain(c))
	for _, q := range callees {
		entry := profile.Addr(q.Func.Ranges[0].Lo + p.mods[1].Base)
		if was, is := before.into(entry, profile.Start), again.into(entry, profile.Start); is != was {
			t.Errorf("%s: %d entries from START, want %d: nobody knows where the slot led", q.Func.Name, is, was)
		}
	}
}

// into sums the edges of a kind to the function at an address; −1: unknown.
func (x *counted) into(entry profile.Addr, kind profile.EdgeKind) (n int64) {
	for _, e := range x.g.Edges {
		if e.Kind != kind || e.To == profile.NoBlock || x.g.Blocks[e.To].Start != entry {
			continue
		}
		if x.of(e.Count) < 0 {
			return -1
		}
		n += x.of(e.Count)
	}
	return n
}
