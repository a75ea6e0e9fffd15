package report

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// manySections is a run of a program of 24,000 blocks, in functions of twenty,
// with so many sections. Each section runs a few functions of its own, in which
// a branch and a loop depend on the thread.
func manySections(sections int) *profile.Profile {
	const functions, blocks, threads = 1200, 20, 8
	p := &profile.Profile{Run: profile.Run{Backend: "native", Cores: threads}}
	g := &p.Graph
	event := func(e profile.Event) profile.EventID {
		e.Superior = profile.NoEvent
		p.Events = append(p.Events, e)
		return profile.EventID(len(p.Events) - 1)
	}
	edge := func(from, to profile.BlockID, kind profile.EdgeKind, site profile.Addr) {
		i := len(g.Edges)
		id := event(profile.Event{Kind: profile.EdgeTaken, Block: max(from, 0), Edge: int32(i), Addr: site})
		g.Edges = append(g.Edges, profile.Edge{From: from, To: to, Kind: kind, Site: site, Count: id})
	}
	for f := range functions {
		first, entry := profile.BlockID(f*blocks), profile.Addr(0x400000+f*blocks*16)
		g.Functions = append(g.Functions, profile.Function{Name: "function", Entry: entry, End: entry + blocks*16, First: first, N: blocks, EntryBlock: first})
		for k := range blocks {
			b, at := first+profile.BlockID(k), entry+profile.Addr(16*k)
			g.Blocks = append(g.Blocks, profile.Block{Function: profile.FunctionID(f), Start: at, End: at + 16, Last: at + 13, Instructions: 4,
				Count: event(profile.Event{Kind: profile.BlockEntered, Block: b, Addr: at})})
		}
		edge(profile.NoBlock, first, profile.Start, entry)
		for k := range blocks - 1 {
			b, last := first+profile.BlockID(k), entry+profile.Addr(16*k+13)
			edge(b, b+1, profile.Fall, last)
			switch {
			case k%5 == 1: // over the next
				edge(b, b+2, profile.Taken, last)
			case k%5 == 4: // round again
				edge(b, b-1, profile.Taken, last)
			}
		}
		edge(first+blocks-1, profile.NoBlock, profile.Exit, entry+blocks*16-3)
	}
	for t := range profile.ThreadID(threads) {
		p.Threads = append(p.Threads, profile.Thread{ID: t})
	}
	of := make([][]int, functions) // edges by function
	for i := range g.Edges {
		b := max(g.Edges[i].From, 0)
		if g.Edges[i].From == profile.NoBlock {
			b = g.Edges[i].To
		}
		of[g.Blocks[b].Function] = append(of[g.Blocks[b].Function], i)
	}
	for s := range sections {
		in := profile.Instance{Folded: 1, SpanNS: 1e6}
		site := g.Blocks[s*functions/sections*blocks].Last
		for t := range p.Threads {
			n := make([]uint64, len(p.Events))
			for f := s * functions / sections; f < s*functions/sections+5; f++ {
				for i, e := range of[f] {
					n[g.Edges[e].Count] = uint64(1 + (t*(i%3)+f)%7*(i%4))
				}
				for b := f * blocks; b < (f+1)*blocks; b++ {
					n[g.Blocks[b].Count] = uint64(10 + (t*(b%3)+f)%7*(b%4)*t)
				}
			}
			c := profile.Counts{}
			for e, n := range n {
				if n > 0 {
					c.Event, c.N = append(c.Event, profile.EventID(e)), append(c.N, n)
				}
			}
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(t), Site: site, Counts: c})
		}
		p.Sections = append(p.Sections, profile.Section{Kind: profile.Barrier, Site: site, Instances: []profile.Instance{in}})
	}
	return p
}

// A report of many sections of a large program: what is worked out for the
// program must not be worked out again for each of them.
func BenchmarkNew(b *testing.B) {
	p := manySections(20)
	causes := 0
	b.ReportAllocs()
	for b.Loop() {
		r, err := New(p, Options{})
		if err != nil {
			b.Fatal(err)
		}
		causes = 0
		for i := range r.Sections {
			causes += len(r.Sections[i].Causes)
		}
	}
	b.ReportMetric(float64(len(p.Graph.Blocks)), "blocks")
	b.ReportMetric(float64(causes), "causes")
}
