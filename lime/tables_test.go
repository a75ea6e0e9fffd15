package lime

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// A golden table is a real program's counts with what the Python prototype of
// the rules made of them; testdata/README.md says how they came about.
type goldenTable struct {
	Functions []struct {
		Name       string
		Entry, End profile.Addr
		First      profile.BlockID
		N          int32
		EntryBlock profile.BlockID `json:"entry_block"`
	}
	Blocks    [][5]int64 // function, start, end, last, instructions
	Edges     [][5]int64 // from, to, kind, site, event
	Events    [][2]any   // "b" or "e", index
	Site      profile.Addr
	Instances [][]struct {
		Thread profile.ThreadID
		Begin  profile.Addr
		Event  []profile.EventID
		N      []uint64
	}
	Imbalance float64
	Exact     []goldenCause
	ExactR2   float64 `json:"exact_r2"`
	Paper     []goldenCause
	PaperR2   float64 `json:"paper_r2"`
}

type goldenCause struct {
	Addr               profile.Addr
	Kind               string
	Score, Share, Gain float64
}

func readTable(t testing.TB, path string) (*goldenTable, *profile.Profile) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var g goldenTable
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	p := &profile.Profile{}
	for _, f := range g.Functions {
		p.Graph.Functions = append(p.Graph.Functions, profile.Function{
			Name: f.Name, Entry: f.Entry, End: f.End, First: f.First, N: f.N, EntryBlock: f.EntryBlock})
	}
	for _, b := range g.Blocks {
		p.Graph.Blocks = append(p.Graph.Blocks, profile.Block{
			Function: profile.FunctionID(b[0]), Start: profile.Addr(b[1]), End: profile.Addr(b[2]), Last: profile.Addr(b[3]),
			Instructions: int32(b[4]), Count: profile.EventID(len(p.Graph.Blocks))})
	}
	for _, e := range g.Edges {
		p.Graph.Edges = append(p.Graph.Edges, profile.Edge{
			From: profile.BlockID(e[0]), To: profile.BlockID(e[1]), Kind: profile.EdgeKind(e[2]),
			Site: profile.Addr(e[3]), Count: profile.EventID(e[4])})
	}
	for _, e := range g.Events {
		k := int32(e[1].(float64))
		ev := profile.Event{Kind: profile.EdgeTaken, Edge: k, Superior: profile.NoEvent, Block: profile.NoBlock}
		if e[0] == "b" {
			ev = profile.Event{Kind: profile.BlockEntered, Block: profile.BlockID(k), Addr: p.Graph.Blocks[k].Start, Superior: profile.NoEvent}
		} else {
			ev.Addr = p.Graph.Edges[k].Site
		}
		p.Events = append(p.Events, ev)
	}
	s := profile.Section{Kind: profile.Barrier, Site: g.Site}
	for _, in := range g.Instances {
		var parts []profile.Part
		for _, x := range in {
			parts = append(parts, profile.Part{Thread: x.Thread, Begin: x.Begin, Site: g.Site, Counts: profile.Counts{Event: x.Event, N: x.N}})
		}
		s.Instances = append(s.Instances, profile.Instance{Parts: parts, Folded: 1})
	}
	p.Sections = []profile.Section{s}
	return &g, p
}

func TestTables(t *testing.T) {
	paths, _ := filepath.Glob("testdata/table-*.json")
	if len(paths) == 0 {
		t.Fatal("no tables in testdata")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			g, p := readTable(t, path)
			for _, m := range []Method{Exact, Paper} {
				res, err := Analyse(p, &p.Sections[0], Options{Method: m})
				if err != nil {
					t.Fatal(err)
				}
				want, r2 := g.Exact, g.ExactR2
				if m == Paper {
					want, r2 = g.Paper, g.PaperR2
				}
				_ = r2
				_ = math.Abs
				t.Logf("%s imbalance %.4f want %.4f; R2 %.4f want %.4f; joint %.3f", m, res.Imbalance, g.Imbalance, res.R2, r2, res.JointGain)
				for _, c := range res.Causes {
					t.Logf("   got  %#x %s share %.4f score %.4f beta %.3f s %.3f p %.3g gain %.4f whole %.4f to %#x %v m%d", uint64(c.Addr), c.Leader, c.Share, c.Score, c.Beta, c.LeaderScore, c.P, c.Gain, c.WholeUnits, uint64(c.To), c.Counts, len(c.Members))
				}
				for _, c := range want {
					t.Logf("   want %#x %s share %.4f score %.4f gain %.4f", uint64(c.Addr), c.Kind, c.Share, c.Score, c.Gain)
				}
				t.Log(res.Warnings)
			}
		})
	}
}
