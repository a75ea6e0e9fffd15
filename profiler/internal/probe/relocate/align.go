package relocate

import "github.com/skewlens/skewlens/profiler/internal/cfg"

const (
	cacheLine = 64
	fetchSize = 16 // bytes that a processor fetches at once
	countSize = 9  // bytes of a counter where flags are dead
)

// tightLoops returns the heads of innermost loops that fit into one cache
// line, with their size: crossing a line costs such a loop up to half of its
// speed, and beginning in the middle of what is fetched at once a little.
// Aligning others costs more than it brings.
func (m *emitter) tightLoops() map[*cfg.Block]int {
	if len(m.g.Loops) == 0 {
		return nil
	}
	t := map[*cfg.Block]int{}
	for _, l := range m.g.Loops {
		if !l.Inner {
			continue
		}
		size := 0
		for _, b := range l.Blocks {
			size += m.sizeInLoop(b, l)
		}
		if size <= cacheLine {
			t[l.Head] = size
		}
	}
	return t
}

// sizeInLoop estimates the bytes of a block in the copy, with its counters.
func (m *emitter) sizeInLoop(b *cfg.Block, l *cfg.Loop) int {
	n := int(b.End-b.Start) + growth(b)
	if x := &m.counters.Edges[m.counters.Block(b)]; x.Counter >= 0 && x.Induction == nil {
		n += countSize
	}
	for _, e := range b.Succ {
		if m.hasCount(e) && e.To != nil && l.Has(e.To) {
			n += countSize
		}
	}
	return n
}

// growth is how much longer a block of a tight loop is in the copy, counters
// aside: short branches grow where they lead forward.
func growth(b *cfg.Block) (n int) {
	for i := range b.Insns {
		if in := &b.Insns[i]; isNop(in) {
			n -= in.Len()
		}
	}
	if in := b.Last(); in.Kind.IsJump() && in.Len() == 2 && in.Target > in.Addr {
		n += 4
	}
	return n
}

// align lets a loop of some size begin where it crosses no cache line.
func (m *emitter) align(size int) {
	at := m.Len() % cacheLine
	head := (at + fetchSize - 1) &^ (fetchSize - 1)
	if head+size > cacheLine {
		head = cacheLine
	}
	m.Nop(head - at)
}
