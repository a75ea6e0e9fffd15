package profile

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
)

// large is a run of a middling program: 20 000 blocks, 16 threads, 500
// instances in which each thread meets a tenth of the blocks.
func large() *Profile {
	const blocks, threads, instances = 20000, 16, 500
	r := rand.New(rand.NewPCG(1, 1))
	p := &Profile{Sections: []Section{{Kind: Barrier, Site: 0x1040}}}
	for i := range blocks {
		a := Addr(0x400000 + 16*i)
		if i%20 == 0 {
			p.Graph.Functions = append(p.Graph.Functions, Function{Name: "function", Entry: a, End: a + 320, First: BlockID(i), N: 20, EntryBlock: BlockID(i)})
		}
		p.Graph.Blocks = append(p.Graph.Blocks, Block{Function: FunctionID(i / 20), Start: a, End: a + 16, Last: a + 13, Instructions: 4, Count: EventID(2 * i)})
		p.Graph.Edges = append(p.Graph.Edges, Edge{From: BlockID(i), To: BlockID(r.IntN(blocks)), Kind: Taken, Site: a + 13, Count: EventID(2*i + 1)})
		p.Events = append(p.Events, Event{Kind: BlockEntered, Block: BlockID(i), Addr: a, Superior: NoEvent},
			Event{Kind: EdgeTaken, Block: BlockID(i), Edge: int32(i), Addr: a + 13, Superior: NoEvent})
	}
	for i := range ThreadID(threads) {
		p.Threads = append(p.Threads, Thread{ID: i})
	}
	for range instances {
		in := Instance{Folded: 1}
		for i := range ThreadID(threads) {
			var c Counts
			for e := EventID(0); e < 2*blocks; e += EventID(1 + r.IntN(20)) {
				c.Event, c.N = append(c.Event, e), append(c.N, 1+uint64(r.ExpFloat64()*1000))
			}
			in.Parts = append(in.Parts, Part{Thread: i, Counts: c, BusyNS: 1000, Timed: true})
		}
		p.Sections[0].Instances = append(p.Sections[0].Instances, in)
	}
	return p
}

func BenchmarkFile(b *testing.B) {
	p := large()
	var file bytes.Buffer
	if err := Write(&file, p); err != nil {
		b.Fatal(err)
	}
	counts := 0
	for i := range p.Sections[0].Instances {
		for j := range p.Sections[0].Instances[i].Parts {
			counts += len(p.Sections[0].Instances[i].Parts[j].Counts.N)
		}
	}
	b.Run("write", func(b *testing.B) {
		for range b.N {
			if err := Write(io.Discard, p); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(counts), "counts")
		b.ReportMetric(float64(file.Len())/float64(counts), "B/count")
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, err := Read(bytes.NewReader(file.Bytes())); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("check", func(b *testing.B) {
		for range b.N {
			if err := p.CheckValid(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
