package probe

import (
	"fmt"
	"sort"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Hook asks for a record when a library function is called. Kinds are the
// caller's; 0 means none.
type Hook struct {
	Arrive uint32 // recorded before the call, with the counters that changed
	Leave  uint32 // recorded after it. Not for cancellation points: it puts a frame of ours under the function
}

// Options turn off what makes counting cheap, each by itself, so that its
// worth can be measured.
type Options struct {
	NoCounters  bool // only move the code
	NoTree      bool // a counter in every block and on every edge
	NoInduction bool
	NoAlign     bool
	NoLeaf      bool // no call is made from the copy
}

// ParseOptions reads a list like "no-tree,no-align".
func ParseOptions(list string) (o Options, err error) {
	for _, w := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		switch w {
		case "no-counters":
			o.NoCounters = true
		case "no-tree":
			o.NoTree = true
		case "no-induction":
			o.NoInduction = true
		case "no-align":
			o.NoAlign = true
		case "no-leaf":
			o.NoLeaf = true
		default:
			return o, fmt.Errorf("no probe option is called %q: no-counters, no-tree, no-induction, no-align, no-leaf", w)
		}
	}
	return o, nil
}

// Spec is everything about the copy that does not depend on a process.
type Spec struct {
	Program *cfg.Program
	Layout  Layout
	Sites   []Site // indirect calls whose targets are counted, by number
	moved   []*plan
	byFunc  map[*cfg.Func]*plan
	hooks   func(name string) (Hook, bool)
	siteOf  map[uint64]int
	opt     Options
	used    byteSet // original bytes that are not dead
}

// Site is an indirect call or tail jump in the program.
type Site struct {
	Addr  uint64
	Block *cfg.Block
	Tail  bool
}

// New plans a program. Functions that turn out not to be movable get their
// reason in cfg.Func.Skip.
func New(p *cfg.Program, hooks func(name string) (Hook, bool), opt Options) *Spec {
	pl := newPlanner(p)
	pl.noLeaf, pl.freeReturns = opt.NoLeaf || p.Traces(), !p.Unwinds()
	pl.run()
	s := &Spec{Program: p, hooks: hooks, opt: opt, byFunc: map[*cfg.Func]*plan{}, siteOf: map[uint64]int{}}
	opt.NoInduction = opt.NoInduction || leavesLoops(p)
	next := int32(0)
	for _, f := range p.Funcs {
		q := pl.plans[f]
		if f.Skip != "" || q == nil {
			continue
		}
		next = q.w.place(next, opt)
		s.moved = append(s.moved, q)
		s.byFunc[f] = q
		s.collectSites(q)
	}
	s.Layout = NewLayout(int(next), len(s.Sites))
	s.used = newByteSet(pl.lo, pl.used)
	return s
}

// leavesLoops reports whether a signal handler or another thread can take a
// thread out of a loop for good.
func leavesLoops(p *cfg.Program) bool {
	for _, n := range []string{"siglongjmp", "longjmp", "_longjmp", "__longjmp_chk", "pthread_cancel"} {
		if p.Image.Imports[n] || p.Image.Static && p.HasFunc(n) {
			return true
		}
	}
	return false
}

// collectSites numbers the function's calls and jumps through pointers.
func (s *Spec) collectSites(q *plan) {
	add := func(b *cfg.Block, in *x86.Insn, tail bool) {
		if in.HasMem && (in.Mem.Base == x86.R11 || in.Mem.Index == x86.R11 || in.Mem.Segment != 0) || in.Mem.RIP && s.Program.Image.GOT[in.RIPTarget] != "" {
			return
		}
		s.siteOf[in.Addr] = len(s.Sites)
		s.Sites = append(s.Sites, Site{in.Addr, b, tail})
	}
	for _, b := range q.f.Blocks {
		for i := range b.Calls {
			c := &b.Calls[i]
			if !c.Known() && !q.chained[c.Insn.Addr] && !q.inPlace[c.Insn.Addr] {
				add(b, c.Insn, false)
			}
		}
		if last := b.Last(); last.Kind == x86.JmpInd {
			if _, ok := q.f.Targets(last.Addr); !ok {
				add(b, last, true)
			}
		}
	}
}

// CodeSize is an upper bound for the cache, in bytes.
func (s *Spec) CodeSize() uint64 {
	n := uint64(1 << 16)
	for _, q := range s.moved {
		n += uint64(len(q.f.Insns))*24 + uint64(len(q.f.Edges))*48 + 256
	}
	return (n + 0xfffff) &^ 0xfffff
}

// Moved reports whether a function runs in the cache.
func (s *Spec) Moved(f *cfg.Func) bool { return s.byFunc[f] != nil }

// Code is what goes into the target.
type Code struct {
	Bytes   []byte // at the cache's base
	Patches []Patch
	// GOT slots that get a hook instead of the library function: slot's
	// link-time address → value.
	Slots map[uint64]uint64

	starts []int // offset of each moved function
	base   uint64
	bias   uint64
}

// Origin translates an offset in the cache: the original address of the
// instruction copied there, or, with after, of the one last executed when the
// offset lies in code of ours behind it. ok is false outside of moved code.
func (s *Spec) Origin(c *Code, offset uint64) (addr uint64, after, ok bool) {
	i := sort.SearchInts(c.starts, int(offset)+1) - 1
	if i < 0 || offset >= uint64(len(c.Bytes)) {
		return 0, false, false
	}
	best := -1
	s.emitAgain(c, i, func(x uint64, start, end int) { // emission is deterministic
		switch {
		case start <= int(offset) && int(offset) < end:
			addr, after, ok, best = x, false, true, start
		case end <= int(offset) && end > best:
			addr, after, ok, best = x, true, true, end
		}
	})
	return addr, after, ok
}

// Patch replaces Old by New at a link-time address.
type Patch struct {
	Addr     uint64
	Old, New []byte
}

// Assemble writes the copy for a cache at base and a program loaded at bias.
// word reads a 64-bit word of the running program at a link-time address.
func (s *Spec) Assemble(base, bias uint64, word func(uint64) (uint64, error)) (*Code, error) {
	a := &assembler{base: base, bias: bias, labels: make(map[label]int, 4*len(s.moved)), buf: make([]byte, 0, s.CodeSize())}
	a.b(recorderCode...)
	m := &emitter{assembler: a, s: s}
	slots, err := m.hookLibrary(word)
	if err != nil {
		return nil, err
	}
	c := &Code{Slots: slots, base: base, bias: bias}
	for _, q := range s.moved {
		c.starts = append(c.starts, len(a.buf))
		m.function(q)
	}
	a.resolve()
	c.Bytes = a.buf
	for _, q := range s.moved {
		m.landings(q, c)
		m.retarget(q, c)
	}
	m.patchStubs(c)
	sort.Slice(c.Patches, func(i, j int) bool { return c.Patches[i].Addr < c.Patches[j].Addr })
	for i := range c.Patches {
		p := &c.Patches[i]
		p.Old = append([]byte(nil), s.Program.Image.Bytes(p.Addr)[:len(p.New)]...)
		if i > 0 && c.Patches[i-1].Addr+uint64(len(c.Patches[i-1].New)) > p.Addr {
			a.fail("patches overlap at %#x", p.Addr)
		}
	}
	return c, a.err
}

// FullTrap reports whether a stop at an offset of the cache says that the
// thread's ring is full: the recorder's only int3 lies right before it.
func (s *Spec) FullTrap(offset uint64) bool {
	return offset > 0 && offset <= uint64(len(recorderCode)) && recorderCode[offset-1] == 0xcc
}
