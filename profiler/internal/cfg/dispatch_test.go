package cfg

import (
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestDispatch asks of each function's jump whether it may read another table: only where
// it surely reads that one, which nobody writes, and nobody sees the difference.
func TestDispatch(t *testing.T) {
	p, l := readSource(t, "testdata/dispatch.s").build(t)
	for name, may := range map[string]bool{"near": true, "before": true, "labels": true, "written": false, "readagain": false, "returned": false, "either": false, "lost": false, "other": false} {
		f := find(t, p, name)
		g := p.Blocks(f, nil)
		k := slices.IndexFunc(g.Blocks, func(b *Block) bool { return b.Last().Kind == x86.JmpInd })
		if k < 0 {
			t.Errorf("%s: no jump", name)
			continue
		}
		b := g.Blocks[k]
		d, ok := p.Dispatch(g, b)
		if ok != may {
			t.Errorf("%s: %v, wants %v", name, ok, may)
		}
		if !ok {
			continue
		}
		load := &b.Insns[d.Load]
		if load.Mem.Index == x86.None || d.Base != load.Mem.Base || d.Named != d.Addr || l.name(d.Addr) != name+"_table" || d.Wide != (name == "labels") {
			t.Errorf("%s: %+v", name, d)
		}
		if len(d.Entries) < 2 || l.name(d.Entries[0]) != name+"_a" || l.name(d.Entries[1]) != name+"_b" || d.Wide && len(d.Entries) != 2 {
			t.Errorf("%s: entries %x", name, d.Entries)
		}
		for _, b := range g.Blocks {
			if b.Last().Kind != x86.JmpInd {
				if _, ok := p.Dispatch(g, b); ok {
					t.Errorf("%s: a block without such a jump", name)
				}
			}
		}
	}
}
