package cachesim

import (
	"fmt"
	"math/bits"
)

// System is the caches of a machine with some cores. It is used by one goroutine
// at a time.
type System struct {
	shift   int // of an address, to its line
	machine Machine
	cores   []core
	l3      *cache // nil: absent
	lines   directory
}

// core has what is private.
type core struct{ l1, l2 *cache } // l2 nil: absent

// outer is the last private level.
func (c *core) outer() *cache {
	if c.l2 != nil {
		return c.l2
	}
	return c.l1
}

// New returns the machine's caches, empty. It panics if Validate finds something,
// and unless the cores are 1 to MaxCores: whoever reads these says so better.
func New(m Machine, cores int) *System {
	if err := m.Validate(); err != nil {
		panic("cachesim: " + err.Error())
	}
	if cores < 1 || cores > MaxCores {
		panic(fmt.Sprintf("cachesim: %d cores: want 1 to %d", cores, MaxCores))
	}
	s := &System{
		shift: bits.TrailingZeros(uint(m.Line)), machine: m,
		cores: make([]core, cores),
		l3:    newCache(m.L3, m.Line),
		lines: directory{pages: map[uint64]*page{}},
	}
	return s
}

// core has caches from its first access on.
func (s *System) core(n int) *core {
	c := &s.cores[n]
	if c.l1 == nil {
		*c = core{newCache(s.machine.L1, s.machine.Line), newCache(s.machine.L2, s.machine.Line)}
	}
	return c
}

// Access is a core's read or write (whoever does both at once, writes) of size bytes
// from addr on, by the instruction or whatever else op stands for. All lines that it
// touches are touched, from the lowest on; the outcome is that of one of them, the
// first of those that were served from deepest. No byte is no access, and a hit.
func (s *System) Access(core int, addr uint64, size int, write bool, op uint32) Outcome {
	if size <= 0 {
		return Outcome{}
	}
	end := addr + uint64(size) - 1 // the last byte
	if end < addr {
		end = ^uint64(0) // beyond the last address there is nothing
	}
	in := uint64(1)<<s.shift - 1
	first, last := addr>>s.shift, end>>s.shift
	a := access{core: core, write: write, op: op, span: span{from: int(addr & in)}}
	var worst Outcome
	for line := first; ; line++ {
		a.span.to = int(in) + 1
		if line == last {
			a.span.to = int(end&in) + 1
		}
		if o := s.touch(&a, line); line == first || o.Level > worst.Level {
			worst = o
		}
		if line == last {
			return worst
		}
		a.span.from = 0
	}
}

// Reset empties a core's private caches and forgets what it touched: its thread has
// ended, and another one begins there. What it wrote stays written. It looks at all
// lines that were ever touched.
func (s *System) Reset(core int) {
	c := s.core(core)
	c.l1.clear()
	if c.l2 != nil {
		c.l2.clear()
	}
	for i := range s.lines.n {
		l := s.lines.entry(i)
		l.touched.remove(core)
		l.holders.remove(core)
		if l.record != nil {
			l.record.leave(core)
		}
	}
}
