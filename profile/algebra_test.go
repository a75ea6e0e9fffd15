package profile

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// dense is the same vector without its representation.
func dense(p *Profile, c Counts) []uint64 {
	d := make([]uint64, len(p.Events))
	for i, e := range c.Event {
		d[e] += c.N[i]
	}
	return d
}

// sparse checks that a vector keeps the promises of Counts.
func sparse(t *testing.T, p *Profile, c Counts) {
	t.Helper()
	if err := p.checkCounts(c); err != nil {
		t.Error(err)
	}
}

func TestPlusAndMinus(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	p := &Profile{Events: make([]Event, 12)}
	for range 2000 {
		a, b := randomCounts(r, p), randomCounts(r, p)
		sum, left := a.Plus(b), a.Minus(b)
		sparse(t, p, sum)
		sparse(t, p, left)
		for e := range p.Events {
			id := EventID(e)
			if got, want := sum.Of(id), a.Of(id)+b.Of(id); got != want {
				t.Fatalf("%v + %v has %d of event %d, want %d", a, b, got, e, want)
			}
			want := uint64(0)
			if a.Of(id) > b.Of(id) {
				want = a.Of(id) - b.Of(id)
			}
			if got := left.Of(id); got != want {
				t.Fatalf("%v − %v has %d of event %d, want %d", a, b, got, e, want)
			}
		}
		if back := sum.Minus(b); !reflect.DeepEqual(dense(p, back), dense(p, a)) {
			t.Fatalf("%v + %v − the latter is %v", a, b, back)
		}
	}
}

// The sums are checked against plain additions into a table.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	summed := 0
	for range 500 {
		p := randomProfile(r)
		for i := range p.Sections {
			s := &p.Sections[i]
			several := false
			for _, q := range s.Totals {
				several = several || q.Several
			}
			if len(s.Totals) == 0 || several {
				summed += checkSums(t, p, s, s.PartsByThread(), func(q *Part) int32 { return int32(q.Thread) })
			} else if got := s.PartsByThread(); !reflect.DeepEqual(got, s.Totals) {
				t.Fatalf("the totals of a folded section are %v, want those that it kept", got)
			}
			got := s.PartsBySlot()
			if len(s.Totals) == 0 {
				summed += checkSums(t, p, s, got, (*Part).Place)
				continue
			}
			for k := range got {
				if k > 0 && got[k-1].Place() >= got[k].Place() || !slices.ContainsFunc(s.Totals, func(q Part) bool { return reflect.DeepEqual(q, got[k]) }) {
					t.Fatalf("the totals of a folded section are %v, want those that it kept, by slot", got)
				}
			}
		}
	}
	if summed < 100 {
		t.Errorf("only %d sums were compared", summed)
	}
}

func checkSums(t *testing.T, p *Profile, s *Section, got []Part, key func(*Part) int32) (compared int) {
	t.Helper()
	want := map[int32]*Part{}
	events, inner := map[int32][]uint64{}, map[int32][]uint64{}
	for j := range s.Instances {
		if s.Instances[j].Folded > 1 {
			continue
		}
		for _, q := range s.Instances[j].Parts {
			k := key(&q)
			if want[k] == nil {
				want[k], events[k] = &Part{Thread: q.Thread, Slot: q.Slot, Timed: true}, make([]uint64, len(p.Events))
				inner[k] = make([]uint64, len(p.Events))
			}
			w := want[k]
			w.InnerBusyNS += q.InnerBusyNS
			for e, n := range dense(p, q.Inner) {
				inner[k][e] += n
			}
			w.Several = w.Several || w.Thread != q.Thread
			w.Thread = min(w.Thread, q.Thread)
			if w.Slot != q.Slot {
				w.Slot = 0
			}
			w.Waits, w.Wakes = SumWaits(append(w.Waits, q.Waits...)), SumWakes(append(w.Wakes, q.Wakes...))
			w.BusyNS, w.WaitNS, w.Timed = w.BusyNS+q.BusyNS, w.WaitNS+q.WaitNS, w.Timed && q.Timed
			for e, n := range dense(p, q.Counts) {
				events[k][e] += n
			}
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d sums, want %d", len(got), len(want))
	}
	for k, q := range got {
		if k > 0 && key(&got[k-1]) >= key(&q) {
			t.Fatalf("%v after %v", q, got[k-1])
		}
		sum, of := q.Counts, key(&q)
		if !reflect.DeepEqual(dense(p, q.Inner), inner[of]) {
			t.Fatalf("%d: inner %v, want %v", of, q.Inner, inner[of])
		}
		q.Counts, q.Inner = Counts{}, Counts{}
		if w := want[of]; !reflect.DeepEqual(&q, w) || !reflect.DeepEqual(dense(p, sum), events[of]) {
			t.Fatalf("%d: %v %v, want %v %v", of, q, sum, w, events[of])
		}
	}
	return len(got)
}

// Time is the union of what overlaps: counted here nanosecond by nanosecond.
func TestTime(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		s := Section{}
		covered := map[int64]bool{}
		for range r.IntN(6) {
			from := r.Int64N(60)
			to := from + 1 + r.Int64N(20)
			for at := from; at < to; at++ {
				covered[at] = true
			}
			s.Instances = append(s.Instances, Instance{Folded: 1, SpanNS: to - from, Parts: []Part{{BeginNS: from, ArriveNS: to - 1}, {BeginNS: from + 1, ArriveNS: to}}})
		}
		if got := s.Time(); got != int64(len(covered)) {
			t.Fatalf("%v: %d ns, want %d", s.Instances, got, len(covered))
		}
	}
	if s := (Section{TimeNS: 7, Instances: []Instance{{Folded: 3, SpanNS: 9}}}); s.Time() != 7 {
		t.Errorf("%d ns, not what was kept", s.Time())
	}
	if s := (Section{Instances: []Instance{{Folded: 3, SpanNS: 9}, {Folded: 1, SpanNS: 2, Parts: []Part{{}}}}}); s.Time() != 11 {
		t.Errorf("%d ns, not the sum of spans where no moments are known", s.Time())
	}
}

func TestThreadCounts(t *testing.T) {
	part := func(id ThreadID, n uint64) Part { return Part{Thread: id, Counts: Counts{[]EventID{0}, []uint64{n}}} }
	p := &Profile{Events: make([]Event, 1), Threads: []Thread{{ID: 3}, {ID: 7}, {ID: 9}}, Sections: []Section{
		{Instances: []Instance{{Folded: 1, Parts: []Part{part(3, 1), part(9, 2)}}, {Folded: 1, Parts: []Part{part(3, 10), part(9, 20)}}}},
		{Instances: []Instance{{Folded: 1, Parts: []Part{part(3, 100)}}}},
	}}
	got := p.ThreadCounts()
	for i, want := range []uint64{111, 0, 22} {
		if n := got[i].Of(0); n != want {
			t.Errorf("thread %d has %d in its sections, want %d", p.Threads[i].ID, n, want)
		}
	}
	p.Threads[1].Totals = Counts{[]EventID{0}, []uint64{5}}
	if got := p.ThreadCounts(); got[0].Of(0) != 0 || got[1].Of(0) != 5 {
		t.Errorf("%v, want the whole lives where any was kept", got)
	}
}

func TestEachCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 100 {
		p := randomProfile(r)
		want := len(p.Threads)
		for _, s := range p.Sections {
			want += 2 * len(s.Totals)
			for _, in := range s.Instances {
				want += 2 * len(in.Parts)
			}
		}
		seen := map[*Counts]bool{}
		p.EachCounts(func(c *Counts) {
			seen[c] = true
			*c = Counts{}
		})
		if len(seen) != want {
			t.Fatalf("%d vectors, want %d", len(seen), want)
		}
		for i := range p.Threads {
			if len(p.Threads[i].Totals.Event) > 0 {
				t.Fatal("a vector was not replaced")
			}
		}
	}
}

func TestLoad(t *testing.T) {
	p := &Profile{
		Events: []Event{{Kind: BlockEntered, Block: 0}, {Kind: BlockEntered, Block: 1}, {Kind: EdgeTaken}},
		Graph:  Graph{Blocks: []Block{{Instructions: 3}, {Instructions: 5, Spin: true}}},
	}
	part := func(n, spins uint64) Part {
		return Part{Counts: Counts{[]EventID{0, 1, 2}, []uint64{n, spins, 99}}}
	}
	l := p.Load(&Instance{Folded: 1, Parts: []Part{part(10, 700), part(4, 1), part(6, 5)}})
	if !reflect.DeepEqual(l, Load{[]uint64{30, 12, 18}, 30, 60}) || l.Idle() != 30 || math.Abs(l.Imbalance()-1./3) > 1e-15 {
		t.Errorf("%v, idle %d, imbalance %v, want 30, 12 and 18 instructions, idle 30, imbalance 1/3", l, l.Idle(), l.Imbalance())
	}
	for _, in := range []Instance{{}, {Parts: make([]Part, 2)}} {
		if l := p.Load(&in); l.Idle() != 0 || l.Imbalance() != 0 {
			t.Errorf("%d parts that did nothing: idle %d, imbalance %v, want 0", len(in.Parts), l.Idle(), l.Imbalance())
		}
	}
}

func TestUnfoldedAndPlaced(t *testing.T) {
	s := &Section{Instances: []Instance{
		{Folded: 7}, {Folded: 2},
		{Folded: 1, Parts: []Part{{BeginNS: 5, ArriveNS: 9}, {BeginNS: 0, ArriveNS: 9}}},
		{Folded: 1, Parts: []Part{{BeginNS: 5, ArriveNS: 9}, {BeginNS: 9, ArriveNS: 8}}},
		{Folded: 1, Parts: []Part{{}}},
	}}
	ins, folded := s.Unfolded()
	if len(ins) != 3 || ins[0] != &s.Instances[2] || folded != 9 {
		t.Errorf("%d instances and %d folded executions, want 3 and 9", len(ins), folded)
	}
	if !ins[0].Placed() || ins[1].Placed() || ins[2].Placed() {
		t.Error("want the first placed in time, not one that ends before it begins, nor one without times")
	}
}

func TestIsCall(t *testing.T) {
	calls := map[EdgeKind]bool{Call: true, Indirect: true, TailCall: true}
	for k := Fall; k <= Exit; k++ {
		if k.IsCall() != calls[k] {
			t.Errorf("%v is a call: %v", k, k.IsCall())
		}
	}
}

// linearBlockAt is the definition that the index must agree with.
func linearBlockAt(g *Graph, a Addr) BlockID {
	for i := range g.Blocks {
		if b := &g.Blocks[i]; !b.Virtual && b.Start <= a && a < b.End {
			return BlockID(i)
		}
	}
	return NoBlock
}

// coldGraph has functions whose blocks are sorted, and some of them far away
// in a cold area, so that the functions interleave; a few blocks overlap.
func coldGraph(r *rand.Rand) *Graph {
	g := &Graph{}
	hot, cold := Addr(0x1000), Addr(0x100000)
	for f := range FunctionID(1 + r.IntN(9)) {
		add := func(at *Addr) {
			b := Block{Function: f, Start: *at, End: *at + Addr(1+r.IntN(20)), Virtual: r.IntN(6) == 0}
			g.Blocks = append(g.Blocks, b)
			if r.IntN(8) > 0 {
				*at = b.End + Addr(r.IntN(2)*r.IntN(9))
			}
		}
		for range r.IntN(6) {
			add(&hot)
		}
		for range r.IntN(3) {
			add(&cold)
		}
	}
	return g
}

func TestBlockIndexAgreesWithALinearSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	found, missed := 0, 0
	for i := range 400 {
		g := coldGraph(r)
		if i%2 == 0 {
			g = &randomProfile(r).Graph
		}
		x := g.IndexBlocks()
		for i := range g.Blocks {
			b := &g.Blocks[i]
			for a := b.Start - 1; a <= b.End; a++ {
				got, want := x.At(a), linearBlockAt(g, a)
				if got != want {
					t.Fatalf("%#x is in block %d, want %d, of %+v", a, got, want, g.Blocks)
				}
				if got == NoBlock {
					missed++
				} else {
					found++
				}
			}
		}
		for _, a := range []Addr{0, 1<<64 - 1} {
			if got := x.At(a); got != NoBlock {
				t.Errorf("%#x is in block %d, want none", a, got)
			}
		}
	}
	if found < 1000 || missed < 100 {
		t.Errorf("only %d addresses in a block and %d in none", found, missed)
	}
}

// TestFarApart: parts are added up by thread however far apart the threads' numbers are.
func TestFarApart(t *testing.T) {
	for _, far := range []ThreadID{1, 1 << 30} {
		var s Section
		for i := range 5 {
			s.Instances = append(s.Instances, Instance{Folded: 1, Parts: []Part{{Thread: 2, BusyNS: int64(i)}, {Thread: 2 + far, BusyNS: 10 * int64(i)}}})
		}
		s.Instances = append(s.Instances, Instance{Folded: 1, Parts: []Part{{Thread: 0, BusyNS: 7}}})
		var ids []ThreadID
		var busy []int64
		for _, q := range s.PartsByThread() {
			ids, busy = append(ids, q.Thread), append(busy, q.BusyNS)
		}
		if !slices.Equal(ids, []ThreadID{0, 2, 2 + far}) || !slices.Equal(busy, []int64{7, 10, 100}) {
			t.Errorf("threads %v were busy for %v", ids, busy)
		}
	}
}
