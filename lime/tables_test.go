package lime

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
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

// differs lists where the repaired rules and the prototype part on purpose, and
// what is right there; testdata/README.md says why.
var differs = map[string]goldenCause{
	"root-3":        {Addr: 0x12fa, Kind: "branch", Share: 1},
	"root-8":        {Addr: 0x12fa, Kind: "branch", Share: 1},
	"root-16":       {Addr: 0x12fa, Kind: "branch", Share: 1},
	"two-3":         {Addr: 0x132a, Kind: "branch", Share: 1},
	"two-8":         {Addr: 0x132a, Kind: "branch", Share: 1},
	"two-16":        {Addr: 0x132a, Kind: "branch", Share: 1},
	"either-3":      {Addr: 0x136c, Kind: "branch", Share: 1},
	"either-8":      {Addr: 0x136c, Kind: "branch", Share: 1},
	"either-16":     {Addr: 0x136c, Kind: "branch", Share: 1},
	"complement-3":  {Addr: 0x1323, Kind: "loop", Share: 1},
	"complement-8":  {Addr: 0x1323, Kind: "loop", Share: 1},
	"complement-16": {Addr: 0x1323, Kind: "loop", Share: 1},
}

func eachTable(t *testing.T, f func(t *testing.T, name string, g *goldenTable, p *profile.Profile)) {
	paths, _ := filepath.Glob("testdata/table-*.json")
	if len(paths) < 20 {
		t.Fatalf("only %d tables in testdata", len(paths))
	}
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "table-"), ".json")
		t.Run(name, func(t *testing.T) {
			g, p := readTable(t, path)
			f(t, name, g, p)
		})
	}
}

func TestTablesExact(t *testing.T) {
	eachTable(t, func(t *testing.T, name string, g *goldenTable, p *profile.Profile) {
		res := analyse(t, p, Options{})
		if !near6(res.Imbalance, g.Imbalance) {
			t.Errorf("imbalance %v, prototype %v", res.Imbalance, g.Imbalance)
		}
		want, other := g.Exact, false
		if d, ok := differs[name]; ok {
			want, other = []goldenCause{d}, true
		}
		if len(res.Causes) == 0 || len(want) == 0 {
			if len(res.Causes) != len(want) {
				t.Errorf("%d causes, prototype %d", len(res.Causes), len(want))
			}
			return
		}
		got, first := res.Causes[0], want[0]
		if got.Addr != first.Addr || string(got.Leader) != first.Kind {
			t.Fatalf("first cause is %s at %#x, want %s at %#x", got.Leader, uint64(got.Addr), first.Kind, uint64(first.Addr))
		}
		within := 1e-6
		if other {
			within = 0.01
		}
		if math.Abs(got.Share-min(1, first.Share)) > within {
			t.Errorf("share %v, want %v", got.Share, first.Share)
		}
		if !other && (!near6(got.Gain, first.Gain) || !near6(res.R2, g.ExactR2)) {
			t.Errorf("gain %v, R² %v; prototype %v, %v", got.Gain, res.R2, first.Gain, g.ExactR2)
		}
	})
}

func TestTablesPaper(t *testing.T) {
	eachTable(t, func(t *testing.T, name string, g *goldenTable, p *profile.Profile) {
		res := analyse(t, p, Options{Method: Paper})
		// A vertex that leads two clusters has a score for each (figure 4);
		// the prototype adds them up.
		got := map[profile.Addr]float64{}
		for _, c := range res.Causes {
			got[c.Addr] += c.Score
		}
		for _, c := range g.Paper {
			if strings.HasPrefix(name, "either") {
				continue // it adds a negative score, which is not listed
			}
			if c.Score > 1e-6 && !near6(got[c.Addr], c.Score) {
				t.Errorf("score %v at %#x, prototype %v", got[c.Addr], uint64(c.Addr), c.Score)
			}
		}
		if len(res.Causes) > 0 && !strings.HasPrefix(name, "either") {
			if !near6(res.R2, g.PaperR2) {
				t.Errorf("R² %v, prototype %v", res.R2, g.PaperR2)
			}
			if first := res.Causes[0]; first.Addr != g.Paper[0].Addr {
				t.Errorf("first cause at %#x, prototype %#x", uint64(first.Addr), uint64(g.Paper[0].Addr))
			}
		}
	})
}
