package lime

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// quiet takes from what parts have counted all that has to do with every other function.
func quiet(p *profile.Profile) {
	other := func(b profile.BlockID) bool { return b >= 0 && p.Graph.Blocks[b].Function%2 == 1 }
	silent := func(e profile.EventID) bool {
		switch x := &p.Events[e]; x.Kind {
		case profile.EdgeTaken:
			return other(p.Graph.Edges[x.Edge].From) || other(p.Graph.Edges[x.Edge].To)
		default:
			return other(x.Block)
		}
	}
	for i := range p.Sections[0].Instances {
		parts := p.Sections[0].Instances[i].Parts
		for k := range parts {
			dense := make([]uint64, len(p.Events))
			for j, e := range parts[k].Counts.Event {
				if !silent(e) {
					dense[e] = parts[k].Counts.N[j]
				}
			}
			parts[k].Counts = sparse(dense)
		}
	}
}

// What is found in a section is the same whether the shape of all functions is known or of
// those that it has to do with; and of some that is not looked for.
func TestOnlyWhatSectionsConcern(t *testing.T) {
	causes, left := 0, 0
	for seed := range uint64(400) {
		p := scrambled(rand.New(rand.NewPCG(seed, 11)))
		quiet(p)
		g := newGraph(p)
		if slices.Contains(g.concerns, false) {
			left++
		}
		all := slices.Repeat([]bool{true}, len(p.Graph.Functions))
		for _, opt := range []Options{{}, {Method: Paper}, {Response: profile.BusyTime}} {
			got, err := newAnalyser(p, g).Section(&p.Sections[0], opt)
			if err != nil {
				t.Fatal(err)
			}
			want, err := newAnalyser(p, graphOf(p, sync.OnceValue(p.Graph.IndexBlocks), all)).Section(&p.Sections[0], opt)
			if err != nil {
				t.Fatal(err)
			}
			if causes += len(want.Causes); !reflect.DeepEqual(noNaN(got), noNaN(want)) {
				t.Fatalf("seed %d, %+v: found is\n%+v\nwant\n%+v", seed, opt, got, want)
			}
		}
	}
	if causes < 400 || left < 50 {
		t.Errorf("%d causes, and %d profiles with functions that nothing has to do with: too few to tell", causes, left)
	}
}
