package livepatch

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
)

// TestGiveBack gives pages back of a program that was interrupted at many
// places: they are what they were, nothing elsewhere leads into them by an
// island, what reaches in is whole or gone, and copies lead to their originals.
func TestGiveBack(t *testing.T) {
	for _, alone := range []bool{true, false} {
		s := relocate.New(probetest.Open(t, probetest.Programs(t)[0]), probetest.NoHooks, probe.Options{}, relocate.Numbers{})
		c, err := s.Assemble(s.Home())
		if err != nil {
			t.Fatal(err)
		}
		m, original := text{}, text{}
		for _, x := range c.Texts {
			original.write(x.Addr, x.Old)
			m.write(x.Addr, x.New)
		}
		p := New(s, c, m.write)
		r := rand.New(rand.NewPCG(3, 4))
		for range 200 {
			for _, k := range s.Copied(c, r.IntN(len(s.Plans()))) {
				if r.IntN(4) == 0 {
					p.Interrupted(uint64(k.Start), false, r.IntN(2) == 0)
				}
			}
		}
		lost := map[string]bool{}
		for range 6 {
			lo := s.Plans()[r.IntN(len(s.Plans()))].Func.Ranges[0].Lo
			given, err := p.GiveBack(lo, lo+uint64(r.IntN(2*page))+1, alone)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range given {
				lost[f.Name] = true
			}
			before := maps.Clone(m)
			if again, err := p.GiveBack(lo, lo+1, alone); len(again) > 0 || err != nil || !maps.Equal(before, m) {
				t.Fatalf("%#x was given back twice: %v", lo, err)
			}
		}
		for a, b := range original {
			if p.gaveBack(a) && m[a] != b {
				t.Fatalf("%#x was given back and is not what it was", a)
			}
		}
		kept := 0
		for _, j := range p.jumps() {
			if p.gaveBack(j.at) || p.undone[j.at] {
				continue
			}
			kept++
			if end := j.at + j.length - 1; p.gaveBack(end) || j.length == asm.ShortJumpLen && p.gaveBack(j.to) {
				t.Errorf("the jump at %#x leads to, or reaches, what was given back", j.at)
			}
		}
		for i, q := range s.Plans() {
			entry := q.Func.Ranges[0].Lo
			if !lost[q.Func.Name] || !p.gaveBack(entry) {
				continue
			}
			for _, x := range s.Copied(c, i) {
				at := c.Base + uint64(x.Start)
				if x.Addr != entry {
					continue
				}
				to, _ := asm.JumpTarget(m.bytes(at, asm.JumpLen), at)
				if left, ok := p.Left(uint64(x.Start)); alone && to != entry || !alone && (!ok || left != entry || m[at] != asm.Breakpoint) {
					t.Errorf("the copy of %s does not lead to its original", q.Func.Name)
				}
			}
		}
		if t.Logf("%d functions are lost, %d jumps kept", len(lost), kept); len(lost) == 0 || kept == 0 {
			t.Error("nothing was tried")
		}
	}
}
