package ranks

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// made is the profile of one rank of a made-up program: calls collective calls, before
// each of which a team of threads has met, and blocks functions that ran. work says how
// often block b was entered before call k.
type made struct {
	rank, size, calls, threads, blocks int
	work                               func(rank, thread, k, b int) uint64
}

func (m made) profile() *profile.Profile {
	p := &profile.Profile{Program: profile.Program{Path: "/bin/made", BuildID: "0123", Args: []string{"x"}},
		Run:   profile.Run{Backend: "native", WallNS: int64(m.calls+1) * 1000, Cores: 1},
		Ranks: []profile.Rank{{Rank: m.rank, Size: m.size, Host: "a", Job: "7", Launcher: "slurm", StartNS: 1_700_000_000_000_000_000}}}
	for b := range m.blocks {
		at := profile.Addr(0x1000 + 0x40*b)
		p.Graph.Functions = append(p.Graph.Functions, profile.Function{Name: fmt.Sprint("f", b), Entry: at, End: at + 0x40, First: profile.BlockID(b), N: 1, EntryBlock: profile.BlockID(b)})
		p.Graph.Blocks = append(p.Graph.Blocks, profile.Block{Function: profile.FunctionID(b), Start: at, End: at + 0x20, Last: at + 0x1c, Instructions: 10, Count: profile.EventID(b)})
		p.Graph.Edges = append(p.Graph.Edges, profile.Edge{From: profile.NoBlock, To: profile.BlockID(b), Kind: profile.Start, Count: profile.EventID(b)})
		p.Events = append(p.Events, profile.Event{Kind: profile.BlockEntered, Block: profile.BlockID(b), Edge: -1, Addr: at, Superior: profile.NoEvent})
	}
	counts := func(thread, k int) (c profile.Counts) {
		for b := range m.blocks {
			if n := m.work(m.rank, thread, k, b); n > 0 {
				c.Event, c.N = append(c.Event, profile.EventID(b)), append(c.N, n)
			}
		}
		return c
	}
	call := profile.Section{Kind: profile.MPI, Site: 0x1010}
	team := profile.Section{Kind: profile.OpenMP, Site: 0x1014}
	for t := range m.threads {
		p.Threads = append(p.Threads, profile.Thread{ID: profile.ThreadID(t), Start: profile.Addr(0x1000), EndNS: p.Run.WallNS, CPUNS: 900, Totals: counts(t, 0)})
	}
	for k := range m.calls {
		begin, end := int64(k)*1000, int64(k)*1000+900
		in := profile.Instance{Folded: 1, SpanNS: 900}
		for t := range m.threads {
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(t), Counts: counts(t, k), Timed: true, BusyNS: 800, WaitNS: 50, BeginNS: begin, ArriveNS: end})
		}
		if m.threads > 1 {
			team.Instances = append(team.Instances, in)
		}
		q := in.Parts[0]
		q.Site = 0x1010
		call.Instances = append(call.Instances, profile.Instance{Folded: 1, SpanNS: 900, Call: profile.MPICall{Comm: "world", First: uint64(k), N: 1}, Parts: []profile.Part{q}})
	}
	p.Sections = []profile.Section{call}
	if m.threads > 1 {
		p.Sections = append(p.Sections, team)
	}
	p.Locations = []profile.Location{{Address: 0x1010, Frame: profile.Frame{File: "/src/made.c", Line: 9, Function: "main"}}, {Address: 0x1014, Frame: profile.Frame{File: "/src/made.c", Line: 7, Function: "main"}}}
	return p
}

// source is a profile that is in memory.
func source(p *profile.Profile) Source {
	get := func() (*profile.Profile, error) { return p, p.CheckValid() }
	return Source{Name: fmt.Sprint("rank ", p.Ranks), Head: get, Read: get}
}

func merged(t *testing.T, list ...*profile.Profile) *profile.Profile {
	t.Helper()
	var sources []Source
	for _, p := range list {
		sources = append(sources, source(p))
	}
	p, err := Merge(sources)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ranksOf makes profiles of n ranks, of which each has a little other work.
func ranksOf(n, calls, threads, blocks int) (list []*profile.Profile) {
	for r := range n {
		list = append(list, made{r, n, calls, threads, blocks, func(rank, thread, k, b int) uint64 { return uint64(1 + rank + 10*thread + 100*((k+b)%3)) }}.profile())
	}
	return list
}

// total is the instructions of a section, and what its instances have lost.
func total(p *profile.Profile, s *profile.Section) (work, most uint64, n int) {
	for i := range s.Instances {
		l := p.Load(&s.Instances[i])
		work, most, n = work+l.Sum, most+l.Most, n+max(1, s.Instances[i].Folded)
	}
	return work, most, n
}

// TestTheSameCallOfAllRanks: the k-th call of each rank is one instance, of all.
func TestTheSameCallOfAllRanks(t *testing.T) {
	p := merged(t, ranksOf(4, 5, 1, 3)...)
	if len(p.Ranks) != 4 || len(p.Sections) != 1 || len(p.Sections[0].Instances) != 5 {
		t.Fatalf("%d ranks, %d sections: %+v", len(p.Ranks), len(p.Sections), p.Sections)
	}
	for k, in := range p.Sections[0].Instances {
		if len(in.Parts) != 4 || in.Call != (profile.MPICall{Comm: "world", First: uint64(k), N: 1}) || in.SpanNS != 900 {
			t.Errorf("call %d: %+v", k, in)
		}
		for r, q := range in.Parts {
			if want := 10 * uint64(3*(1+r)+300); p.Instructions(q.Counts) != want || q.Thread != p.Ranks[r].Main || q.WaitNS != 0 {
				t.Errorf("call %d, rank %d: %d instructions, want %d; %+v", k, r, p.Instructions(q.Counts), want, q)
			}
		}
	}
	if len(p.Warnings) > 0 {
		t.Errorf("warnings: %v", p.Warnings)
	}
}

// TestSumsAreKept: what does not fit is added up, and neither what was executed nor
// what the longest parts were changes.
func TestSumsAreKept(t *testing.T) {
	var list []*profile.Profile
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 6 {
		list = append(list, made{i, 6, 300, 3, 4, func(int, int, int, int) uint64 { return r.Uint64N(1000) }}.profile())
	}
	p := merged(t, list...)
	for i := range p.Sections {
		s := &p.Sections[i]
		work, most, n := total(p, s)
		var wantWork, wantMost uint64
		wantN := 300
		if s.Kind != profile.MPI {
			wantN = 6 * 300
		}
		if s.Kind == profile.MPI {
			for k := range 300 {
				longest := uint64(0)
				for _, q := range list {
					l := q.Load(&q.Sections[0].Instances[k])
					wantWork, longest = wantWork+l.Sum, max(longest, l.Most)
				}
				wantMost += longest
			}
		} else {
			for _, q := range list {
				w, m, _ := total(q, &q.Sections[1])
				wantWork, wantMost = wantWork+w, wantMost+m
			}
		}
		if work != wantWork || most != wantMost || n != wantN {
			t.Errorf("%s: work %d, most %d of %d; want %d, %d of %d", s.Kind, work, most, n, wantWork, wantMost, wantN)
		}
		sum := uint64(0)
		for _, q := range s.PartsBySlot() {
			sum += p.Instructions(q.Counts)
		}
		if sum != wantWork {
			t.Errorf("%s: rows have %d instructions, want %d", s.Kind, sum, wantWork)
		}
		if len(s.Instances) > spare+1 {
			t.Errorf("%s: %d instances are kept", s.Kind, len(s.Instances))
		}
	}
}

// TestFunctionsOfOneRank: what only one rank runs is 0 on the others; what is not known
// on one is not known.
func TestFunctionsOfOneRank(t *testing.T) {
	list := ranksOf(3, 2, 1, 3)
	p := list[2]
	p.Graph.Functions[0].N, p.Graph.Functions[0].EntryBlock, p.Graph.Functions[0].Opaque = 0, profile.NoBlock, true
	p.Graph.Blocks, p.Graph.Edges, p.Events = p.Graph.Blocks[1:], p.Graph.Edges[1:], p.Events[1:]
	for i := range p.Graph.Blocks {
		p.Graph.Functions[i+1].First, p.Graph.Functions[i+1].EntryBlock = profile.BlockID(i), profile.BlockID(i)
		p.Graph.Blocks[i].Count, p.Graph.Edges[i].Count, p.Graph.Edges[i].To = profile.EventID(i), profile.EventID(i), profile.BlockID(i)
		p.Events[i].Block = profile.BlockID(i)
	}
	p.EachCounts(func(c *profile.Counts) {
		k := profile.Counts{}
		for i, e := range c.Event {
			if e > 0 {
				k.Event, k.N = append(k.Event, e-1), append(k.N, c.N[i])
			}
		}
		*c = k
	})
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	m := merged(t, list...)
	if f := m.Graph.Functions[0]; f.N != 1 || f.Opaque {
		t.Errorf("function %+v", f)
	}
	for k, want := range []uint64{1 + 1 + 1, 2 + 2 + 2, 3 + 3} {
		in := m.Sections[0].Instances[0]
		if got := m.Instructions(in.Parts[k].Counts); got != 10*(want+uint64([]int{300, 300, 300}[k])) && k < 2 {
			t.Errorf("rank %d: %d instructions", k, got)
		}
	}
	if m.Sections[0].Instances[0].Parts[2].Counts.Of(m.Graph.Blocks[0].Count) != 0 {
		t.Error("rank 2 has executed what it has not")
	}

	list = ranksOf(3, 2, 1, 3)
	list[1].Graph.Blocks[0].Count, list[1].Graph.Edges[0].Count = profile.NoEvent, profile.NoEvent
	list[1].Events[0] = profile.Event{Kind: profile.Hardware, Name: "x", Addr: 1, Block: profile.NoBlock, Superior: profile.NoEvent}
	m = merged(t, list...)
	if m.Graph.Blocks[0].Count != profile.NoEvent || m.Graph.Edges[0].Count != profile.NoEvent {
		t.Error("what is not known of rank 1 is known of all")
	}
}

// TestMissesOfParts: what an instruction's reads miss, its writes, and what it calls, stay
// apart.
func TestMissesOfParts(t *testing.T) {
	list := ranksOf(2, 2, 1, 3)
	for r, p := range list {
		for part := range 4 {
			e := profile.EventID(len(p.Events))
			p.Events = append(p.Events, profile.Event{Kind: profile.Hardware, Name: "l1d-miss", Reason: "cold", Addr: 0x1000, Block: profile.NoBlock, Edge: -1, Superior: profile.NoEvent,
				Writes: part&1 != 0, Called: part&2 != 0})
			c := &p.Sections[0].Instances[0].Parts[0].Counts
			c.Event, c.N = append(c.Event, e), append(c.N, uint64(10*r+part+1))
		}
	}
	m := merged(t, list...)
	var got [4]uint64
	for i := range m.Events {
		if ev := &m.Events[i]; ev.Kind == profile.Hardware {
			part := missKey{writes: ev.Writes, called: ev.Called}.part()
			for _, q := range m.Sections[0].Instances[0].Parts {
				got[part] += q.Counts.Of(profile.EventID(i))
			}
		}
	}
	if want := [4]uint64{1 + 11, 2 + 12, 3 + 13, 4 + 14}; got != want {
		t.Errorf("%v misses, want %v", got, want)
	}
}

// TestDoubts: what is missing, or is other than the rest, is said, and the rest is
// compared.
func TestDoubts(t *testing.T) {
	for name, x := range map[string]struct {
		change func([]*profile.Profile) []*profile.Profile
		code   string
		ranks  int
		says   string
	}{
		"missing": {func(l []*profile.Profile) []*profile.Profile { return slices.Delete(l, 1, 3) }, "missing-ranks", 2, "ranks 1 and 2 of 4"},
		"build":   {func(l []*profile.Profile) []*profile.Profile { l[3].Program.BuildID = "ff"; return l }, "other-code", 3, "rank 3 ran another build"},
		"program": {func(l []*profile.Profile) []*profile.Profile {
			l[0].Program = profile.Program{Path: "/bin/b", BuildID: "ff"}
			return l
		}, "other-code", 3, "rank 0 ran another program, b"},
		"arguments": {func(l []*profile.Profile) []*profile.Profile { l[2].Program.Args = []string{"y"}; return l }, "other-arguments", 4, "rank 2 was started with other arguments"},
		"killed":    {func(l []*profile.Profile) []*profile.Profile { l[2].Run.Signal = "SIGKILL"; return l }, "ended-ranks", 4, "rank 2 was ended by SIGKILL"},
		"older run": {func(l []*profile.Profile) []*profile.Profile {
			l[3].Ranks[0].Job, l[3].Ranks[0].StartNS = "6", 1
			return l
		}, "other-runs", 3, "1 profile of other runs"},
		"twice": {func(l []*profile.Profile) []*profile.Profile {
			again := made{0, 4, 1, 1, 3, func(int, int, int, int) uint64 { return 1 }}.profile()
			again.Ranks[0].StartNS--
			return append(l, again)
		}, "other-runs", 4, "1 profile of other runs"},
		"warned": {func(l []*profile.Profile) []*profile.Profile {
			l[1].Warnings, l[2].Warnings = []profile.Warning{{Code: "waits", Message: "m"}}, []profile.Warning{{Code: "waits", Message: "m"}, {Code: "one-thread", Message: "x"}}
			return l
		}, "waits", 4, "ranks 1 and 2: m"},
		"no rank": {func(l []*profile.Profile) []*profile.Profile { l[3].Ranks = nil; return l }, "no-rank", 3, "not the profile of one rank"},
		"shorter": {func(l []*profile.Profile) []*profile.Profile {
			l[1].Sections[0].Instances = l[1].Sections[0].Instances[:1]
			return l
		}, "", 4, ""},
		"no calls": {func(l []*profile.Profile) []*profile.Profile { return noCalls(l) }, "no-meeting-ranks", 4, "not compared"},
		"alone":    {func(l []*profile.Profile) []*profile.Profile { l[0].Ranks[0].Size = 1; return l[:1] }, "one-rank", 1, "one rank alone"},
	} {
		t.Run(name, func(t *testing.T) {
			p := merged(t, x.change(ranksOf(4, 3, 1, 3))...)
			i := slices.IndexFunc(p.Warnings, func(w profile.Warning) bool { return w.Code == x.code })
			if len(p.Ranks) != x.ranks || x.code != "" && (i < 0 || !strings.Contains(p.Warnings[i].Message, x.says)) {
				t.Errorf("%d ranks, want %d; warnings %q, want %s: %s", len(p.Ranks), x.ranks, p.Warnings, x.code, x.says)
			}
			if x.code == "" && len(p.Warnings) > 0 {
				t.Errorf("warnings %q", p.Warnings)
			}
		})
	}
}

// TestClocksApart: hosts whose clocks are hours apart are compared as others; when
// something was is not said then.
func TestClocksApart(t *testing.T) {
	list := ranksOf(2, 3, 1, 2)
	together := merged(t, list...)
	list[1].Ranks[0].Host, list[1].Ranks[0].StartNS = "b", list[0].Ranks[0].StartNS+7_200_000_000_000
	apart := merged(t, list...)
	for i := range together.Sections {
		for k, in := range together.Sections[i].Instances {
			for q, want := range in.Parts {
				got := apart.Sections[i].Instances[k].Parts[q]
				if got.BeginNS != 0 || got.ArriveNS != 0 || want.ArriveNS == 0 {
					t.Errorf("part %d of instance %d: %d to %d", q, k, got.BeginNS, got.ArriveNS)
				}
				if got.WaitNS != want.WaitNS || got.BusyNS != want.BusyNS || !slices.Equal(got.Counts.N, want.Counts.N) {
					t.Errorf("part %d of instance %d: %+v, want %+v", q, k, got, want)
				}
			}
		}
	}
}

func noCalls(list []*profile.Profile) []*profile.Profile {
	for _, p := range list {
		p.Sections = nil
	}
	return list
}

// TestNothingToMerge: what cannot be read is said in one line.
func TestNothingToMerge(t *testing.T) {
	broken := func() (*profile.Profile, error) { return nil, errors.New("read profile x: it is cut") }
	good := ranksOf(2, 2, 1, 2)
	p, err := Merge([]Source{source(good[0]), {Name: "x", Head: func() (*profile.Profile, error) { return good[1], nil }, Read: broken}})
	if err != nil || len(p.Ranks) != 1 || p.Warnings[0].Code != "damaged-rank" {
		t.Errorf("%v, %+v", err, p)
	}
	for _, list := range [][]Source{nil, {{Name: "x", Head: broken, Read: broken}}} {
		if _, err := Merge(list); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v", err)
		}
	}
}

func TestListed(t *testing.T) {
	for want, list := range map[string][]int{"rank 3": {3}, "ranks 0 and 1": {0, 1}, "ranks 0 to 2": {0, 1, 2}, "ranks 0, 2 to 5 and 9": {0, 2, 3, 4, 5, 9}} {
		if got := Listed(list); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}

// TestAnyOrder: files come in any order, and the result is the same.
func TestAnyOrder(t *testing.T) {
	list := ranksOf(9, 200, 2, 5)
	text := func(p *profile.Profile) string {
		var b bytes.Buffer
		if err := profile.WriteText(&b, p); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := text(merged(t, list...))
	slices.Reverse(list)
	if text(merged(t, list...)) != want {
		t.Error("the result depends on the order of the files")
	}
}

// BenchmarkThousand merges 1,024 ranks of 8 threads from files, with 1,000 instances
// each: 500 collective calls, before each of which the threads have met.
func BenchmarkThousand(b *testing.B) {
	dir := os.Getenv("RANKS_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	const n, calls, threads, blocks = 1024, 500, 8, 40
	var list []Source
	for r := range n {
		name := filepath.Join(dir, fmt.Sprintf("rank-%04d.a.skewlens", r))
		var bytes bytes.Buffer
		if _, err := os.Stat(name); err != nil {
			p := made{r, n, calls, threads, blocks, func(rank, thread, k, b int) uint64 {
				return uint64(100 + rank%7 + 3*thread + (k*7+b*13)%11)
			}}.profile()
			if err := profile.Write(&bytes, p); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(name, bytes.Bytes(), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		open := func(how func(*os.File) (*profile.Profile, error)) func() (*profile.Profile, error) {
			return func() (*profile.Profile, error) {
				f, err := os.Open(name)
				if err != nil {
					return nil, err
				}
				defer f.Close()
				return how(f)
			}
		}
		list = append(list, Source{Name: name, Head: open(func(f *os.File) (*profile.Profile, error) { return profile.ReadHead(f) }), Read: open(func(f *os.File) (*profile.Profile, error) { return profile.Read(f) })})
	}
	for b.Loop() {
		if _, err := Merge(list); err != nil {
			b.Fatal(err)
		}
	}
}
