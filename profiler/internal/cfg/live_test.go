package cfg

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestLiveRegisters: at the end of each block of real programs those registers are
// live that a successor may read, all where one is not known; and what an
// instruction reads is live before it, what it makes anew is not.
func TestLiveRegisters(t *testing.T) {
	for _, path := range []string{"/bin/bash", "/bin/tar"} {
		p := Build(open(t, path), func(string) bool { return false })
		var l Live
		for _, f := range p.Funcs {
			if f.Skip != "" {
				continue
			}
			g := p.Graph(f, nil)
			g.LiveRegisters(&l)
			for _, b := range g.Blocks {
				checkLive(t, &l, b)
			}
		}
	}
}

func checkLive(t *testing.T, l *Live, b *Block) {
	t.Helper()
	at := l.At(b, nil)
	behind := l.out[b.ID]
	for _, e := range b.Succ {
		if e.To == nil && behind != x86.AllRegs || e.To != nil && l.in[e.To.ID]&^behind != 0 {
			t.Fatalf("behind %#x %v are live, not all that is read there", b.Last().Addr, behind)
		}
	}
	for k := len(b.Insns) - 1; k >= 0; k-- {
		in := &b.Insns[k]
		if !in.Kind.IsCall() && in.Use&^at[k] != 0 || in.Kind == x86.Normal && (in.Def&^in.Use)&at[k] != 0 || in.Kind == x86.Normal && behind&^in.Def&^at[k] != 0 {
			t.Fatalf("before %#x %v are live, %v behind; it reads %v and makes %v", in.Addr, at[k], behind, in.Use, in.Def)
		}
		behind = at[k]
	}
	if l.in[b.ID] != at[0] {
		t.Fatalf("%#x: %v are live, %v at its first instruction", b.Start, l.in[b.ID], at[0])
	}
}
