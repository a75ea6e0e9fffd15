package probe

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Options turn off what makes counting cheap, each by itself, so that its
// worth can be measured.
type Options struct {
	NoCounters  bool // only move the code
	NoTree      bool // a counter in every block and on every edge
	NoInduction bool
	NoAlign     bool
	NoLeaf      bool  // no call is made from the copy
	reach       int64 // of short jumps, when not 0: for tests of what happens when there is no room
	HoldSome    bool  // a fourth of what can stay in place behind a landing does: for tests, since only crowded code needs it
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
	moved   []*plan
	byFunc  map[*cfg.Func]*plan
	hooks   func(name string) (record.Hook, bool)
	opt     Options
	from    Numbers
	next    Numbers // complete once the copy was written
	size    uint64
	used    byteSet // original bytes that are not dead
}

// Numbers are the first free ones of functions, counters and indirect calls.
// Modules of one process are numbered one behind the other.
type Numbers struct{ Function, Chord, Site int32 }

// Next is where the module behind this one begins.
func (s *Spec) Next() Numbers { return s.next }

// New plans a program. Functions that turn out not to be movable get their
// reason in cfg.Func.Skip.
func New(p *cfg.Program, hooks func(name string) (record.Hook, bool), opt Options, from Numbers) *Spec {
	pl := newPlanner(p)
	pl.noLeaf, pl.holdSome, pl.freeReturns = opt.NoLeaf || p.Traces(), opt.HoldSome, !p.Unwinds()
	if opt.reach != 0 {
		pl.reach = opt.reach
	}
	pl.run()
	s := newSpec(p, hooks, opt, from)
	for _, f := range p.Funcs {
		q := pl.plans[f]
		if f.Skip != "" || q == nil {
			continue
		}
		q.site = s.next.Site
		s.next.Site += q.sites
		s.size += q.size
		s.add(q)
	}
	s.size = (s.size + 0xfffff) &^ 0xfffff
	s.used = newByteSet(pl.lo, pl.used)
	return s
}

func newSpec(p *cfg.Program, hooks func(name string) (record.Hook, bool), opt Options, from Numbers) *Spec {
	opt.NoInduction = opt.NoInduction || p.Leaps()
	return &Spec{Program: p, hooks: hooks, opt: opt, from: from, next: from, byFunc: make(map[*cfg.Func]*plan, len(p.Funcs)), size: 1 << 16}
}

func (s *Spec) add(q *plan) {
	q.number = s.next.Function
	s.next.Function++
	s.moved = append(s.moved, q)
	s.byFunc[q.f] = q
}

// CodeSize is an upper bound for the cache, in bytes.
func (s *Spec) CodeSize() uint64 { return s.size }

// Home is where the cache lies best, as a link-time address: right below the
// program, since its heap grows upwards from it; or, where a program lies too
// low for that, as far above it as code can reach.
func (s *Spec) Home() uint64 {
	im := s.Program.Image
	if !im.Relocatable {
		return (im.Lowest + Reach - s.size) &^ 0xfff
	}
	return (im.Lowest - homeGap - s.size) &^ 0xfff
}

const (
	homeGap = 16 << 20
	Reach   = 1<<31 - 64<<20 // of code, from a program's lowest address, whatever it names
)

// eachSite calls do for the calls (c) and the jumps (no c) through pointers
// whose targets are counted, always in the same order.
func eachSite(p *cfg.Program, q *plan, g *cfg.Graph, do func(b *cfg.Block, c *cfg.Call)) {
	counted := func(in *x86.Insn) bool {
		return !(in.HasMem && (in.Mem.Base == x86.R11 || in.Mem.Index == x86.R11 || in.Mem.Segment != 0) || in.Mem.RIP && p.Image.GOT[in.RIPTarget] != "")
	}
	for _, b := range g.Blocks {
		for i := range b.Calls {
			if c := &b.Calls[i]; !c.Known() && !q.is(c, chained) && !q.is(c, inPlace) && counted(c.Insn) {
				do(b, c)
			}
		}
		if last := b.Last(); last.Kind == x86.JmpInd && counted(last) {
			if _, ok := g.Targets(last.Addr); !ok {
				do(b, nil)
			}
		}
	}
}

// Moved reports whether a function runs in the cache.
func (s *Spec) Moved(f *cfg.Func) bool { return s.byFunc[f] != nil }

// Code is what goes into the target. It fits a cache that lies as far from the
// program as base from its link-time addresses.
type Code struct {
	Bytes []byte // at the cache's base, but for what Settled puts in
	Texts []Text
	Slots []Slot

	sites    []siteRef
	starts   []int32  // offset of each moved function
	landings []uint64 // addresses in Texts of jumps into the copy, sorted
	base     uint64
}

// Text is a section of the program's code, as it was and as it shall be.
type Text struct {
	Addr     uint64
	Old, New []byte
}

// Slot is a GOT slot that gets a hook instead of the library function. The
// hook wants the slot's old value at an offset of the cache.
type Slot struct {
	Addr          uint64
	Hook, Literal int32 // offsets in the cache
}

// Origin translates an offset in the cache: the original address of the
// instruction copied there, or, with after, of the one last executed when the
// offset lies in code of ours behind it. ok is false outside of moved code.
func (s *Spec) Origin(c *Code, offset uint64) (addr uint64, after, ok bool) {
	i := sort.Search(len(c.starts), func(i int) bool { return uint64(c.starts[i]) > offset }) - 1
	if i < 0 || offset >= uint64(len(c.Bytes)) {
		return 0, false, false
	}
	// Emission is deterministic: emit the function once more, at the same
	// place, and listen.
	best := -1
	s.replay(c, i, func(x uint64, start, end int) {
		switch at := int(offset); {
		case start <= at && at < end:
			addr, after, ok, best = x, false, true, start
		case end <= at && end > best:
			addr, after, ok, best = x, true, true, end
		}
	})
	return addr, after, ok
}

// replay emits a function again, telling of every copied instruction where in
// the cache it is.
func (s *Spec) replay(c *Code, function int, origin func(addr uint64, start, end int)) {
	skip := int(c.starts[function])&^63 - 64 // alignment stays, and no label is at 0
	m := newEmitter(s, c.base+uint64(skip))
	m.buf = make([]byte, int(c.starts[function])-skip)
	m.origin = func(addr uint64, start, end int) { origin(addr, start+skip, end+skip) }
	m.function(s.moved[function])
}

// Assemble writes the copy for a cache at base, a link-time address.
func (s *Spec) Assemble(base uint64) (*Code, error) {
	m := newEmitter(s, base)
	m.next = s.from.Chord
	m.buf = make([]byte, 0, s.CodeSize()/4) // most copies come to a fifth of the bound
	m.b(recorderCode...)
	c := &Code{base: base, starts: make([]int32, 0, len(s.moved)), Slots: m.hookLibrary()}
	m.code = c
	c.Texts = texts(s.Program.Image)
	for i := range c.Texts {
		c.Texts[i].New = slices.Clone(c.Texts[i].Old)
	}
	m.written = make([]uint64, (s.Program.Image.Highest-s.Program.Image.Lowest)/64+1)
	for _, q := range s.moved {
		c.starts = append(c.starts, int32(len(m.buf)))
		q.first = m.next
		m.function(q)
		m.blur(q)
		q.after = m.next
		m.landings(q)
		m.retarget(q)
	}
	m.resolve()
	m.patchCalls()
	m.patchStubs()
	slices.Sort(c.landings)
	s.next.Chord = m.next
	c.Bytes, c.sites = m.buf, m.siteRefs
	return c, m.err
}

// texts are the sections of a program's code, with nothing new yet.
func texts(im *image.Image) (list []Text) {
	for i := range im.Sections {
		if x := &im.Sections[i]; x.Exec {
			list = append(list, Text{Addr: x.Addr, Old: x.Data})
		}
	}
	return list
}

// FullTrap reports whether a stop at an offset of the cache says that the
// thread's ring is full: the recorder's only int3 lies right before it.
func (s *Spec) FullTrap(offset uint64) bool {
	return offset > 0 && offset <= uint64(len(recorderCode)) && recorderCode[offset-1] == 0xcc
}
