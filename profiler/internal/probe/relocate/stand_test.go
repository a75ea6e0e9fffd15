package relocate

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestStandsAtCopies: who is before a copied instruction stands before the original.
func TestStandsAtCopies(t *testing.T) {
	s := New(probetest.Open(t, probetest.Programs(t)[0]), probetest.NoHooks, probe.Options{}, Numbers{})
	c, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for n := 0; n < 300; n++ {
		i := r.IntN(len(s.plans))
		stands := s.Stands(c, i)
		for _, x := range s.Copied(c, i) {
			if got := StandAt(stands, uint64(x.Start)); got.Addr != x.Addr || got.How != Before && got.How != Left {
				t.Fatalf("+%#x is %#x, StandAt says %#x %v", x.Start, x.Addr, got.Addr, got.How)
			}
		}
	}
}

// TestStandsAtCounters: whatever is counted of a block or an edge, who is before that has
// not come there yet, and who is behind it has.
func TestStandsAtCounters(t *testing.T) {
	inc, flags := []byte{0x65, 0x48, 0xff, 0x04, 0x25}, []byte{0x04, 0x7f} // what follows where flags are kept
	seen := map[How]int{}
	for _, o := range []probe.Options{{}, {NoTree: true}} {
		s := New(probetest.Open(t, probetest.Programs(t)[0]), probetest.NoHooks, o, Numbers{})
		c, err := s.Assemble(s.Home())
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range s.plans {
			g := s.Program.Graph(q.Func, &s.space)
			w := s.Counters(q, g, &s.network)
			k := standCheck{t, w, map[int32]*cfg.Block{}, map[int32]*cfg.Block{}, map[int32]*cfg.Edge{}, s.Stands(c, i), seen}
			k.counters(g)
			lo, hi := int(c.starts[i]), len(c.Bytes)
			if i+1 < len(c.starts) {
				hi = int(c.starts[i+1])
			}
			for at := lo; at < hi; at++ {
				if code := c.Bytes[at:hi]; len(code) > 11 && bytes.HasPrefix(code, inc) && !bytes.HasPrefix(code[9:], flags) {
					k.counter(at, int32((binary.LittleEndian.Uint32(code[5:])-threadarea.CounterOffset(0))/8))
				}
			}
		}
	}
	for how, n := range map[How]int{Before: 1000, Arrives: 1000, Left: 1000, Chosen: 100} {
		if seen[how] < n {
			t.Errorf("%d counters by which a thread stands %v, want %d", seen[how], how, n)
		}
	}
}

// standCheck looks at the counters of one function.
type standCheck struct {
	t      *testing.T
	w      *placement.Network
	blocks map[int32]*cfg.Block // by counter
	chosen map[int32]*cfg.Block // to which switches lead
	edges  map[int32]*cfg.Edge
	stands []Stand
	seen   map[How]int
}

// counters notes what counts what.
func (k *standCheck) counters(g *cfg.Graph) {
	for _, b := range g.Blocks {
		padding := !slices.ContainsFunc(b.Insns, func(in x86.Insn) bool { return !isNop(&in) && in.Kind != x86.Jmp }) // or nothing of its copy is left
		if e := &k.w.Edges[k.w.Block(b)]; e.Counter >= 0 && e.Induction == nil && !b.Enters && !b.Leaves && !padding {
			k.blocks[e.Counter] = b
		}
		if i := k.w.FromHub(b); i >= 0 && k.w.Edges[i].Counter >= 0 {
			k.chosen[k.w.Edges[i].Counter] = b
		}
	}
	for _, e := range g.Edges {
		if i := k.w.Edge(e); i >= 0 && k.w.Edges[i].Counter >= 0 && len(k.w.Updates(e)) == 0 && e.Kind != cfg.Pad {
			k.edges[k.w.Edges[i].Counter] = e
		}
	}
}

// counted: a block has a counter of its own.
func (k *standCheck) counted(b *cfg.Block) bool { return k.w.Edges[k.w.Block(b)].Counter >= 0 }

// counter checks one that stands at an offset.
func (k *standCheck) counter(at int, number int32) {
	before, behind := StandAt(k.stands, uint64(at)), StandAt(k.stands, uint64(at+9))
	in := func(b *cfg.Block, x Stand) bool { return x.How != Left && x.Addr >= b.Start && x.Addr < b.End }
	if b := k.blocks[number]; b != nil {
		point, _ := placement.CountingPoint(b)
		if k.seen[behind.How]++; behind.How != Before || behind.Addr < b.Insns[point].Addr || behind.Addr >= b.End { // there may be no-ops
			k.t.Errorf("behind the counter of %#x a thread stands %v %#x", b.Start, behind.How, behind.Addr)
		}
		if !in(b, before) || before.How == Before || before.How == After && before.Addr >= b.Insns[point].Addr {
			k.t.Errorf("before the counter of %#x a thread stands %v %#x", b.Start, before.How, before.Addr)
		}
	}
	if b := k.chosen[number]; b != nil {
		if k.seen[before.How]++; before.How != Chosen || before.Addr != b.Start {
			k.t.Errorf("before the counter of who comes to %#x from a switch a thread stands %v %#x", b.Start, before.How, before.Addr)
		}
		if behind.Addr != b.Start || behind.How != Arrives && (behind.How != Before || k.counted(b)) {
			k.t.Errorf("behind the counter of who comes to %#x from a switch a thread stands %v %#x", b.Start, behind.How, behind.Addr)
		}
	}
	e := k.edges[number]
	if e == nil {
		return
	}
	want := Stand{How: Left}
	if e.To != nil {
		want = Stand{Addr: e.To.Start, How: Arrives}
	} else {
		want.Addr = e.From.Last().Addr
	}
	if behind.How == Before && e.To != nil && !k.counted(e.To) {
		want.How, behind.Addr = Before, want.Addr
	}
	if k.seen[behind.How]++; behind.How != want.How || behind.Addr != want.Addr {
		k.t.Errorf("behind the counter of an edge a thread stands %v %#x, want %v %#x", behind.How, behind.Addr, want.How, want.Addr)
	}
	if e.From == nil && before.How != Nowhere || e.From != nil && !in(e.From, before) {
		k.t.Errorf("before the counter of an edge a thread stands %v %#x", before.How, before.Addr)
	}
}
