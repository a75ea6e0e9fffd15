package lime

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// unswitched is a function whose loop was copied for one thread, as compilers
// do with a test that does not change in the loop. Its blocks have 10
// instructions each:
//
//	0 ─▶ 1 (others' loop, meets) ─▶ 1, 4
//	└──▶ 2 (one thread's, meets) ─▶ 3 (its work) ─▶ 3, 2, 4
//
// Each part begins where its thread last met the others. With resumes, that is
// before a block to which no edge was counted.
func unswitched(rounds int, resumes bool) *profile.Profile {
	p := &profile.Profile{}
	g := &p.Graph
	for b := range profile.BlockID(5) {
		at := profile.Addr(0x1000 + 0x40*int(b))
		p.Events = append(p.Events, profile.Event{Kind: profile.BlockEntered, Block: b, Addr: at, Superior: profile.NoEvent})
		g.Blocks = append(g.Blocks, profile.Block{Start: at, End: at + 0x40, Last: at + 0x3c, Instructions: 10, Count: profile.EventID(b), Resumes: resumes && (b == 1 || b == 2)})
	}
	g.Functions = []profile.Function{{Name: "run", Entry: 0x1000, End: 0x1140, N: 5}}
	edge := map[[2]profile.BlockID]profile.EventID{}
	for _, e := range [][2]profile.BlockID{{profile.NoBlock, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 4}, {2, 3}, {3, 3}, {3, 2}, {3, 4}} {
		k, kind := profile.EventID(len(p.Events)), profile.Jump
		if e[0] < 0 {
			kind = profile.Start
		}
		p.Events = append(p.Events, profile.Event{Kind: profile.EdgeTaken, Edge: int32(len(g.Edges)), Superior: profile.NoEvent})
		g.Edges = append(g.Edges, profile.Edge{From: e[0], To: e[1], Kind: kind, Count: k})
		edge[e] = k
	}
	s := profile.Section{Site: 0x1044, Kind: profile.Barrier}
	for round := range rounds {
		in := profile.Instance{}
		for t := range profile.ThreadID(4) {
			n := map[profile.EventID]uint64{}
			home, begin := profile.BlockID(1), profile.Addr(0x1000)
			if t == 0 {
				home = 2
			}
			if round == 0 {
				n[0], n[edge[[2]profile.BlockID{profile.NoBlock, 0}]], n[edge[[2]profile.BlockID{0, home}]], n[profile.EventID(home)] = 1, 1, 1, 1
			} else {
				begin = g.Blocks[home].Start + 4
				n[profile.EventID(home)] = 1
			}
			if home == 2 {
				n[3], n[edge[[2]profile.BlockID{2, 3}]], n[edge[[2]profile.BlockID{3, 3}]], n[edge[[2]profile.BlockID{3, 2}]] = 50, 1, 49, 1
			} else {
				n[edge[[2]profile.BlockID{1, 1}]] = 1
			}
			if home == 2 && resumes && round > 0 {
				delete(n, edge[[2]profile.BlockID{3, 2}])
			}
			c := profile.Counts{}
			for e := range profile.EventID(len(p.Events)) {
				if n[e] > 0 {
					c.Event, c.N = append(c.Event, e), append(c.N, n[e])
				}
			}
			in.Parts = append(in.Parts, profile.Part{Thread: t, Begin: begin, Site: g.Blocks[home].Start + 4, Counts: c})
		}
		s.Instances = append(s.Instances, in)
	}
	for t := range profile.ThreadID(4) {
		p.Threads = append(p.Threads, profile.Thread{ID: t, Start: 0x1000})
	}
	p.Sections = []profile.Section{s}
	return p
}

// TestParted: who goes round in a copy of the loop is blamed on the branch that
// once chose the copy, not on the copy's own code.
func TestParted(t *testing.T) {
	for _, resumes := range []bool{false, true} {
		p := unswitched(10, resumes)
		res, err := New(p).Section(&p.Sections[0], Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Causes) != 1 {
			t.Fatalf("%d causes: %+v", len(res.Causes), res.Causes)
		}
		c := res.Causes[0]
		if c.Leader != Branch || c.Addr != p.Graph.Blocks[0].Last || c.To != p.Graph.Blocks[2].Start || c.Share < 0.99 {
			t.Errorf("resumes %v: %s at %#x to %#x, share %g", resumes, c.Leader, c.Addr, c.To, c.Share)
		}
		if c.Counts[0] != 10 || c.Counts[1] != 0 {
			t.Errorf("it is taken %v times", c.Counts)
		}
		found := false
		for _, w := range res.Warnings {
			found = found || w.Code == "decided-before-section"
		}
		if !found {
			t.Error("nothing says that it was decided before the section")
		}
	}
}
