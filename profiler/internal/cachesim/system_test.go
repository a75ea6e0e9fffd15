package cachesim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomMachine has few sets, so that everything happens soon.
func randomMachine(r *rand.Rand) Machine {
	line := minLine << r.IntN(5)
	level := func(sets, ways int) Geometry {
		w := 1 + r.IntN(ways)
		return Geometry{Size: int64(w*line) << r.IntN(sets), Ways: w}
	}
	m := Machine{Name: "random", Line: line, L1: level(4, 4)}
	if r.IntN(3) > 0 {
		m.L2 = level(5, 8)
	}
	if r.IntN(3) > 0 {
		m.L3 = level(6, 16)
	}
	return m
}

// traced is one random access.
type traced struct {
	core  int
	addr  uint64
	size  int
	write bool
	op    uint32
	reset bool // the core, before it
}

// trace is of accesses to few lines, most of them within one.
func trace(r *rand.Rand, m Machine, cores, n int) []traced {
	room := uint64(1+r.IntN(96)) * uint64(m.Line)
	writes, resets := 1+r.IntN(8), r.IntN(2)*500
	all := make([]traced, n)
	for i := range all {
		size := 1 << r.IntN(4)
		if r.IntN(50) == 0 {
			size = 1 + r.IntN(3*m.Line)
		}
		all[i] = traced{
			core: r.IntN(cores), addr: 1<<40 + r.Uint64N(room), size: size,
			write: r.IntN(8) < writes, op: uint32(i), reset: resets > 0 && r.IntN(resets) == 0,
		}
	}
	return all
}

// random calls f for many machines with traces.
func random(t *testing.T, f func(t *testing.T, m Machine, cores int, all []traced)) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		m, cores := randomMachine(r), 1+r.IntN(6)
		if seed%3 == 0 {
			cores = 1
		}
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		all := trace(r, m, cores, 2000)
		if seed%10 == 1 { // far apart: of several words of a set
			const apart = 25
			for i := range all {
				all[i].core *= apart
			}
			cores = (cores-1)*apart + 1
		}
		f(t, m, cores, all)
		if t.Failed() {
			t.Fatalf("seed %d: %d cores of %+v", seed, cores, m)
		}
	}
}

func TestSystemIsTheNaiveOne(t *testing.T) {
	seen, merged := Counts{}, 0
	random(t, func(t *testing.T, m Machine, cores int, all []traced) {
		s, n := New(m, cores), newNaive(m, cores)
		n.merged = &merged
		for i, a := range all {
			if a.reset {
				s.Reset(a.core)
				n.reset(a.core)
			}
			got, want := s.Access(a.core, a.addr, a.size, a.write, a.op), n.access(a.core, a.addr, a.size, a.write, a.op)
			if got != want {
				t.Errorf("access %d, %+v: %+v, want %+v", i, a, got, want)
				return
			}
			seen.Add(got)
		}
	})
	for c := range Class(Classes) {
		k, miss := c.Kind()
		never := miss && c.Level() == L2 && k != Capacity && k != Conflict
		if never != (seen[c] == 0) {
			t.Errorf("%v: %d of them in all traces", c, seen[c])
		}
	}
	if merged == 0 {
		t.Error("no line had many epochs: the traces are too simple")
	}
}

// ids are the numbers of all lines' entries.
func ids(s *System) map[uint64]int32 {
	all := map[uint64]int32{}
	for k, p := range s.lines.pages {
		for i, id := range p {
			if id > 0 {
				all[(k-1)*pageLines+uint64(i)] = id - 1
			}
		}
	}
	return all
}

// invariants are what must hold between accesses.
func invariants(s *System) error {
	for i := range s.cores {
		c := &s.cores[i]
		if c.l1 == nil || c.l2 == nil {
			continue
		}
		for _, w := range c.l1.all {
			if w.state == empty {
				continue
			}
			if x := c.l2.peek(w.line); x == nil || *x != w {
				return fmt.Errorf("core %d: L1 has %+v, L2 %+v", i, w, x)
			}
		}
	}
	for line, id := range ids(s) {
		e, losers := s.lines.entry(id), cores{}
		if e.recorded() {
			for _, x := range e.record.epochs[:e.record.n] {
				twice := false
				x.losers.each(func(core int) { twice = twice || losers.has(core) })
				if twice {
					return fmt.Errorf("line %#x: some of cores %b lost it twice", line, x.losers)
				}
				losers.addAll(&x.losers)
			}
			if losers.empty() {
				return fmt.Errorf("line %#x has a record of which nobody asks", line)
			}
		}
		for i := range s.cores {
			is := empty
			if w := s.core(i).outer().peek(line); w != nil {
				is = w.state
				if w.id != id {
					return fmt.Errorf("line %#x is %d in core %d, and %d in the directory", line, w.id, i, id)
				}
			}
			switch {
			case is.valid() != e.holders.has(i):
				return fmt.Errorf("line %#x: core %d has state %d, holders are %b", line, i, is, e.holders)
			case (is == invalid) != losers.has(i):
				return fmt.Errorf("line %#x: core %d has state %d, losers are %b", line, i, is, losers)
			case is == writable && e.holders != alone(i):
				return fmt.Errorf("line %#x: core %d may write, holders are %b", line, i, e.holders)
			case is != empty && !e.touched.has(i):
				return fmt.Errorf("line %#x: core %d has it and never touched it", line, i)
			}
		}
	}
	return nil
}

func TestInvariants(t *testing.T) {
	random(t, func(t *testing.T, m Machine, cores int, all []traced) {
		s := New(m, cores)
		for i, a := range all[:500] {
			if a.reset {
				s.Reset(a.core)
			}
			s.Access(a.core, a.addr, a.size, a.write, a.op)
			if err := invariants(s); err != nil {
				t.Errorf("after access %d, %+v: %v", i, a, err)
				return
			}
		}
	})
}

// Who has more ways in each set has all that who has fewer has: true LRU is a stack.
func TestMissesDoNotGrowWithWays(t *testing.T) {
	random(t, func(t *testing.T, m Machine, _ int, all []traced) {
		m.L2, m.L3 = Geometry{}, Geometry{}
		sets, before := m.L1.Sets(m.Line), len(all)+1
		for ways := 1; ways <= 16; ways++ {
			m.L1 = Geometry{Size: sets * int64(ways*m.Line), Ways: ways}
			s, misses := New(m, 1), 0
			for _, a := range all {
				if s.Access(0, a.addr, a.size, a.write, a.op).Level != Hit {
					misses++
				}
			}
			if misses > before {
				t.Errorf("%d misses with %d ways, %d with one less", misses, ways, before)
			}
			before = misses
		}
	})
}

// Epochs that are merged make true sharing of false, never false of true. Here each
// byte is remembered for itself.
func TestTrueSharingIsNeverSaidToBeFalse(t *testing.T) {
	exactly, told := 0, 0
	random(t, func(t *testing.T, m Machine, cores int, all []traced) {
		s := New(m, cores)
		written := make([]map[uint64]bool, cores) // since the core accessed the line last
		for i := range written {
			written[i] = map[uint64]bool{}
		}
		line := func(addr uint64) uint64 { return addr / uint64(m.Line) }
		for i, a := range all {
			a.size = min(a.size, m.Line-int(a.addr)&(m.Line-1)) // not across lines
			o := s.Access(a.core, a.addr, a.size, a.write, a.op)
			meets := false
			for b := a.addr; b < a.addr+uint64(a.size); b++ {
				meets = meets || written[a.core][b]
			}
			if _, ok := o.Class(); ok && o.Kind == False && meets {
				t.Errorf("access %d, %+v: %+v, but another core wrote it", i, a, o)
			} else if ok && o.Kind == True {
				told++
				if meets {
					exactly++
				}
			}
			for b := range written[a.core] {
				if line(b) == line(a.addr) {
					delete(written[a.core], b)
				}
			}
			for j := range cores {
				for b := a.addr; a.write && j != a.core && b < a.addr+uint64(a.size); b++ {
					written[j][b] = true
				}
			}
		}
	})
	if exactly == 0 || told == exactly {
		t.Errorf("%d misses are said to be true sharing, %d are: nothing was merged", told, exactly)
	}
}

func TestAllCoresFitTheSets(t *testing.T) {
	s := New(Machine{Name: "wide", Line: 64, L1: Geometry{Size: 512, Ways: 8}}, MaxCores)
	for i := range MaxCores {
		s.Access(i, 0, 8, false, 1)
	}
	h := s.lines.entry(0).holders
	next := 0
	h.each(func(core int) {
		if core != next || !h.has(core) {
			t.Errorf("core %d, want %d", core, next)
		}
		next++
	})
	if next != MaxCores {
		t.Errorf("holders %b", h)
	}
	if o := s.Access(MaxCores-1, 8, 8, true, 2); !o.Upgrade || o.Level != Hit {
		t.Errorf("%+v, want an upgrade", o)
	}
	if o := s.Access(0, 8, 8, false, 3); o.Kind != True || o.Partner != (Partner{Op: 2, Core: MaxCores - 1}) {
		t.Errorf("%+v, want true sharing with core %d", o, MaxCores-1)
	}
}

func TestNewPanicsOfWhatIsImpossible(t *testing.T) {
	ok := Machine{Name: "small", Line: 64, L1: Geometry{Size: 512, Ways: 8}}
	for _, c := range []struct {
		m     Machine
		cores int
	}{{Machine{}, 1}, {ok, 0}, {ok, MaxCores + 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d cores of %+v", c.cores, c.m)
				}
			}()
			New(c.m, c.cores)
		}()
	}
}

func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x := span{from: r.IntN(maxLine)}
		x.to = x.from + 1 + r.IntN(maxLine-x.from)
		b, got := x.bytes(), []int{}
		for i := range maxLine {
			if b[i/64]>>(i%64)&1 != 0 {
				got = append(got, i)
			}
		}
		if len(got) != x.to-x.from || got[0] != x.from || !slices.IsSorted(got) || got[len(got)-1] != x.to-1 {
			t.Fatalf("%+v: bytes %d", x, got)
		}
	}
}
