package lime

import (
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// scrambled makes a valid profile whose counts need not make sense: unknown
// events, unreachable blocks, irreducible loops, recursion, calls out of the
// graph, events shared by edges, instances of different widths.
func scrambled(rng *rand.Rand) *profile.Profile {
	p := &profile.Profile{}
	g := &p.Graph
	event := func(e profile.Event) profile.EventID {
		if rng.IntN(12) == 0 {
			return profile.NoEvent
		}
		e.Superior = profile.NoEvent
		p.Events = append(p.Events, e)
		return profile.EventID(len(p.Events) - 1)
	}
	for f := range 1 + rng.IntN(4) {
		first, n := len(g.Blocks), 1+rng.IntN(7)
		for i := range n {
			b := profile.BlockID(first + i)
			start := profile.Addr(0x1000*(f+1) + 0x10*i)
			x := profile.Block{Function: profile.FunctionID(f), Start: start, End: start + 0x10, Last: start + 8, Instructions: int32(1 + rng.IntN(30)), Spin: rng.IntN(20) == 0}
			if rng.IntN(15) == 0 {
				x.Virtual, x.Instructions = true, 0
			}
			x.Count = event(profile.Event{Kind: profile.BlockEntered, Block: b, Addr: start})
			g.Blocks = append(g.Blocks, x)
		}
		entry := g.Blocks[first].Start
		g.Functions = append(g.Functions, profile.Function{
			Name: "f", Entry: entry, End: entry + 0x800, First: profile.BlockID(first), N: int32(n), EntryBlock: profile.BlockID(first)})
	}
	for range 3 * len(g.Blocks) {
		from := profile.BlockID(rng.IntN(len(g.Blocks)))
		f := &g.Functions[g.Blocks[from].Function]
		e := profile.Edge{From: from, To: f.First + profile.BlockID(rng.IntN(int(f.N))), Kind: profile.EdgeKind(rng.IntN(10)), Site: g.Blocks[from].Last}
		switch {
		case e.Kind == profile.Exit:
			e.To = profile.NoBlock
		case e.Kind == profile.Start || e.Kind == profile.Pad:
			e.From = profile.NoBlock
		case e.Kind.IsCall():
			e.To = g.Functions[rng.IntN(len(g.Functions))].EntryBlock
			if rng.IntN(8) == 0 {
				e.To = profile.NoBlock
			}
		}
		if e.Kind == profile.Call || e.From >= 0 && rng.IntN(5) == 0 {
			e.Count = g.Blocks[from].Count
		} else {
			e.Count = event(profile.Event{Kind: profile.EdgeTaken, Edge: int32(len(g.Edges)), Addr: e.Site, Block: profile.NoBlock})
		}
		g.Edges = append(g.Edges, e)
	}
	for range rng.IntN(4) {
		p.Events = append(p.Events, profile.Event{
			Kind: profile.Hardware, Name: "miss", Addr: 1, Block: 0, Superior: profile.EventID(rng.IntN(len(p.Events)+1) - 1)})
	}
	s := profile.Section{Kind: profile.Barrier, Site: 1}
	scale := math.Pow(10, 9*rng.Float64())
	for range 1 + rng.IntN(5) {
		in := profile.Instance{Folded: 1}
		for t := range 1 + rng.IntN(12) {
			dense := make([]uint64, len(p.Events))
			for e := range dense {
				if rng.IntN(3) > 0 {
					dense[e] = uint64(rng.Float64() * scale)
				}
			}
			in.Parts = append(in.Parts, profile.Part{
				Thread: profile.ThreadID(t), Begin: profile.Addr(rng.IntN(3)), Counts: sparse(dense), Timed: true, BusyNS: rng.Int64N(1e9)})
		}
		s.Instances = append(s.Instances, in)
	}
	p.Sections = []profile.Section{s}
	if rng.IntN(2) == 0 {
		fewLines(rng, p)
	}
	return p
}

// fewLines gives the code so few source lines that much of it counts as copies.
func fewLines(rng *rand.Rand, p *profile.Profile) {
	at := map[profile.Addr]profile.Location{}
	for i := range p.Graph.Blocks {
		for _, a := range []profile.Addr{p.Graph.Blocks[i].Start, p.Graph.Blocks[i].Last} {
			l := profile.Location{Address: a, Frame: profile.Frame{File: "a.c", Line: 1 + rng.IntN(3), Function: "f"}}
			if rng.IntN(3) == 0 {
				l.InlinedAt = []profile.Frame{{File: "a.c", Line: 1 + rng.IntN(2), Function: "g"}}
			}
			at[a] = l
		}
	}
	for _, a := range slices.Sorted(maps.Keys(at)) {
		p.Locations = append(p.Locations, at[a])
	}
}

func TestScrambledProfiles(t *testing.T) {
	causes := 0
	for seed := range uint64(300) {
		p := scrambled(rand.New(rand.NewPCG(seed, 9)))
		for _, opt := range []Options{{}, {Method: Paper}, {Response: profile.BusyTime}, {Response: profile.BusyTime, Method: Paper}, {Bulk: 0.99}} {
			res := analyse(t, p, opt)
			within := func(what string, v float64, nanOK bool) {
				if math.IsNaN(v) && nanOK {
					return
				}
				if !(v >= 0 && v <= 1) {
					t.Errorf("seed %d, %+v: %s is %v", seed, opt, what, v)
				}
			}
			within("imbalance", res.Imbalance, false)
			within("R²", res.R2, len(res.Causes) == 0)
			within("joint gain", res.JointGain, true)
			for _, c := range res.Causes {
				causes++
				within("share", c.Share, false)
				within("gain", c.Gain, opt.Method == Paper)
				within("whole units", c.WholeUnits, true)
				within("p", c.P, true)
				if math.IsNaN(c.Score) || math.IsInf(c.Score, 0) || math.IsNaN(c.Beta) || len(c.Counts) != len(res.Threads) {
					t.Errorf("seed %d, %+v: %+v", seed, opt, c)
				}
			}
			if again := analyse(t, p, opt); !reflect.DeepEqual(noNaN(res), noNaN(again)) {
				t.Errorf("seed %d, %+v: two runs differ", seed, opt)
			}
			if t.Failed() {
				return
			}
		}
	}
	if causes < 300 {
		t.Errorf("only %d causes: the profiles test too little", causes)
	}
}
