package relocate

import (
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestEmittedCodeDecodes reads back what was emitted for a whole program:
// every byte of the copy belongs to an instruction that the decoder knows.
func TestEmittedCodeDecodes(t *testing.T) {
	programs := probetest.Programs(t)
	for i, path := range append(programs, programs...) {
		opt := probe.Options{}
		if i >= len(programs) {
			opt.Caches = probe.Front{Sets: 64, Shift: 6}
		}
		s := New(probetest.Open(t, path), probetest.NoHooks, opt, Numbers{})
		base := s.Home()
		c, err := s.Assemble(base)
		if err != nil {
			t.Fatal(err)
		}
		if uint64(len(c.Bytes)) > s.CodeSize() {
			t.Errorf("%s: %d bytes, planned %d", path, len(c.Bytes), s.CodeSize())
		}
		n, tables := 0, tablesOf(s, c)
		for a := len(threadarea.Recorder); a < len(c.Bytes); {
			if size := tables[a]; size > 0 {
				a += size
				continue
			}
			in, err := x86.Decode(c.Bytes[a:min(a+15, len(c.Bytes))], base+uint64(a))
			if err != nil {
				t.Fatalf("%s: copy at +%#x: % x: %v", path, a, c.Bytes[a:min(a+15, len(c.Bytes))], err)
			}
			a += in.Len()
			n++
		}
		t.Logf("%s: %d instructions, %d bytes", path, n, len(c.Bytes))
	}
}

// tablesOf are the bytes of the copy's own tables, by where they lie.
func tablesOf(s *Spec, c *Code) map[int]int {
	size := map[int]int{}
	for i, q := range s.plans {
		m, skip := s.again(c, i)
		m.function(q)
		for _, t := range m.tables {
			size[t.at+skip] = t.size()
		}
	}
	return size
}

// TestCrowdedCode plans with short jumps that reach next to nothing, so that
// most springboards have to do without, and again and again something is planned
// anew: no two patches may overlap, and most functions still move.
func TestCrowdedCode(t *testing.T) {
	for _, path := range append(probetest.Programs(t), "/usr/lib/x86_64-linux-gnu/libstdc++.so.6") { // full of landing pads
		im, err := image.OpenLibrary(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, reach := range []int64{4, 24, 122} {
			p := cfg.Build(im, probetest.Catches)
			s := plan(p, probetest.NoHooks, probe.Options{}, Numbers{}, reach)
			if _, err := s.Assemble(s.Home()); err != nil {
				t.Errorf("%s, reach %d: %v", path, reach, err)
			}
			moved, total, _, _ := p.Summary()
			if moved*100 < total*90 {
				t.Errorf("%s, reach %d: %d of %d functions moved", path, reach, moved, total)
			}
		}
	}
}

// TestSpringboardsLeadToTheCopy: every springboard of every plan leads to the
// copy of its function, also over an island, and what it takes is used.
func TestSpringboardsLeadToTheCopy(t *testing.T) {
	for _, o := range []probe.Options{{}, {NoLeaf: true, HoldSome: true, NoAlign: true}, {NoTree: true}, {NoCounters: true}, {Looks: true}, {Units: true}, {Caches: probe.Front{Sets: 32, Shift: 5}}} {
		s := New(probetest.Open(t, probetest.Programs(t)[0]), probetest.NoHooks, o, Numbers{Function: 3, Chord: 70, Site: 9})
		c, err := s.Assemble(s.Home())
		if err != nil {
			t.Fatal(err)
		}
		if n := s.Next(); int(n.Function) != 3+len(s.Plans()) || n.Chord < 70 || n.Site < 9 {
			t.Errorf("the next module begins at %v", n)
		}
		islands, far := 0, 0
		for i, q := range s.Plans() {
			lo, hi := uint64(c.starts[i]), uint64(len(c.Bytes))
			if i+1 < len(c.starts) {
				hi = uint64(c.starts[i+1])
			}
			if s.Plan(q.Func) != q || c.Function(lo) != i || c.Function(hi-1) != i {
				t.Fatalf("%s is not where it is", q.Func.Name)
			}
			for _, list := range [][]arrival{q.springboards, q.shorts} {
				for _, a := range list {
					offset, ok := c.Springboard(a.at)
					if !ok && len(q.hops) > len(q.shorts) {
						far++ // over two hops
						continue
					}
					if !ok || offset < lo || offset >= hi || !s.Uses(a.at) || !s.Uses(a.at+1) {
						t.Fatalf("%s: from %#x to +%#x %v, want +%#x … +%#x", q.Func.Name, a.at, offset, ok, lo, hi)
					}
				}
			}
			islands += len(q.islands)
		}
		if islands == 0 || far > islands/2 {
			t.Errorf("%d islands, %d over two hops", islands, far)
		}
		testIslands(t, c)
		if _, ok := c.Springboard(1); ok {
			t.Error("a springboard where there is no code")
		}
		if !s.FullTrap(threadarea.RecordEnd+2) || s.FullTrap(0) {
			t.Error("the recorder's trap is elsewhere")
		}
	}
}

// testIslands: islands are where short jumps of ours lead, and nowhere else.
func testIslands(t *testing.T, c *Code) {
	t.Helper()
	led := map[uint64]bool{}
	for _, at := range c.Jumps() {
		if to, n := c.JumpAt(at); n == asm.ShortJumpLen {
			led[to] = true
		}
	}
	for _, x := range c.Texts {
		for a := x.Addr; a < x.Addr+uint64(len(x.New)); a++ {
			if c.Island(a) != led[a] {
				t.Fatalf("an island at %#x: %v, want %v", a, !led[a], led[a])
			}
		}
	}
}

// TestSwitchesComeToTheBlock: who comes from a switch to a block where that is not
// counted, comes to the block itself, and else to what counts it.
func TestSwitchesComeToTheBlock(t *testing.T) {
	s := New(probetest.Open(t, probetest.Programs(t)[0]), probetest.NoHooks, probe.Options{}, Numbers{})
	c, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	counted, plain, before := 0, 0, 0
	for i, q := range s.Plans() {
		copied := s.Copied(c, i)
		g := s.Program.Graph(q.Func, nil)
		w := s.Counters(q, g, nil)
		for _, a := range slices.Concat(q.springboards, q.islands) {
			if a.to.kind != atTable {
				continue
			}
			offset, ok := c.Springboard(a.at)
			b := g.Blocks[a.to.id]
			k := slices.IndexFunc(copied, func(x Copied) bool { return x.Addr >= b.Start && x.Addr < b.End })
			if !ok || k < 0 {
				continue // padding alone
			}
			in, err := x86.Decode(c.Bytes[offset:], offset)
			if err != nil {
				t.Fatal(err)
			}
			first := uint64(copied[k].Start)
			switch counter := w.Edges[w.FromHub(b)].Counter; {
			case counter < 0:
				plain++
				if in.Kind == x86.Jmp && offset != first {
					t.Errorf("%s: from %#x to a jump at +%#x", q.Func.Name, a.at, offset)
				}
			case b.LiveIn&^x86.CF == 0:
				counted++
				if in.Opcode != 0xff || in.Ext() != 0 || in.Mem.Disp != int32(threadarea.CounterOffset(counter)) {
					t.Errorf("%s: from %#x to % x, wants counter %d", q.Func.Name, a.at, in.Bytes, counter)
				}
				if next, _ := x86.Decode(c.Bytes[offset+uint64(in.Len()):], 0); next.Kind != x86.Jmp {
					before++
				}
			}
		}
	}
	if plain == 0 || counted == 0 || before == 0 {
		t.Errorf("%d are not counted, %d are, %d right before the block", plain, counted, before)
	}
	t.Logf("%d are not counted, %d are, %d right before the block", plain, counted, before)
}
