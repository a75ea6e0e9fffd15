package relocate

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/caches"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
)

// Code is what goes into the target. It fits a cache that lies as far from the
// program as Base from its link-time addresses.
type Code struct {
	Base  uint64
	Bytes []byte // at the cache's base, but for what Link puts in
	Texts []Text
	Slots []Slot

	sites  siteRefs
	starts []int32  // offset of each moved function
	jumps  []uint64 // addresses in Texts of springboards, islands and hops, sorted
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

// siteRef is a place in the copy that names what lies behind all other
// counters: a site's targets or their counters, a gate's state, whether a
// function was entered. How many counters there are is known at the end.
type siteRef struct {
	pos  int32
	what refKind
}

// siteRefs are of ascending places, packed: 32 bits each, the kind in the highest three. There
// are half a million of them where caches are simulated, and they are read where they are kept.
type siteRefs []byte

func packSites(list []siteRef) siteRefs {
	slices.SortFunc(list, func(x, y siteRef) int { return int(x.pos - y.pos) })
	b := make(siteRefs, 0, 4*len(list))
	for _, x := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(x.pos)|uint32(x.what)<<placeBits)
	}
	return b
}

const placeBits = 29

func (s siteRefs) len() int { return len(s) / 4 }

func (s siteRefs) at(i int) siteRef {
	v := binary.LittleEndian.Uint32(s[4*i:])
	return siteRef{int32(v & (1<<placeBits - 1)), refKind(v >> placeBits)}
}

type refKind uint8

const (
	toCounter refKind = iota
	toTarget
	toGate
	toEntered
	toHash
	toUnit
	toOver
	toFront
)

// Assemble writes the copy for a cache at base, a link-time address.
func (s *Spec) Assemble(base uint64) (*Code, error) {
	m := newEmitter(s, base, 0)
	m.Grow(int(s.CodeSize() / 4)) // most copies come to a fifth of the bound
	c := &Code{Base: base, starts: make([]int32, 0, len(s.plans)), Texts: texts(s.Program.Image)}
	recorder := threadarea.RecorderOf(c.text())
	if s.opt.Caches.Tells {
		threadarea.Telling(recorder)
	}
	m.Raw(recorder...)
	if s.opt.Caches.On() {
		m.Nop(cachesAt - m.Len())
		m.Raw(caches.Code...)
	}
	c.Slots = m.hookLibrary()
	for i := range c.Texts {
		c.Texts[i].New = slices.Clone(c.Texts[i].Old)
	}
	w := newPatcher(m, c)
	next := s.from.Chord
	for _, q := range s.plans {
		c.starts = append(c.starts, int32(m.Len()))
		q.first = next
		m.function(q)
		next = m.counters.Next
		q.After = next
		m.noteUnknown(q)
		q.Always = s.allLive() || !q.entersCopy(m.g)
		w.springboards(q)
		w.noteCalls()
	}
	m.Link()
	w.calls()
	w.stubs()
	slices.Sort(c.jumps)
	s.next.Chord = next
	c.Bytes, c.sites = m.Bytes(), packSites(m.siteRefs)
	if len(c.Bytes) > 1<<placeBits {
		return nil, fmt.Errorf("the copy has %d MB, at most %d can be placed", len(c.Bytes)>>20, 1<<(placeBits-20))
	}
	return c, m.Err()
}

// text is where the program's code begins, from the cache, and how far it reaches.
func (c *Code) text() (from int32, reach uint32) {
	if len(c.Texts) == 0 {
		return 0, 0
	}
	lo, hi := ^uint64(0), uint64(0)
	for _, t := range c.Texts {
		lo, hi = min(lo, t.Addr), max(hi, t.Addr+uint64(len(t.Old)))
	}
	return int32(lo - c.Base), uint32(hi - lo)
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

// piece is how much of the copy Link makes at once: it may be of many megabytes, which
// all would have to be had anew.
const piece = 1 << 16

// Link gives put the copy as it runs, once the counters of all modules are known: bytes
// from an offset on, which are its own until the next ones.
func (c *Code) Link(l threadarea.Layout, put func(b []byte, offset uint64) error) error {
	b, sites := make([]byte, 0, piece), c.sites
	for from := 0; from < len(c.Bytes); {
		to := min(from+piece, len(c.Bytes))
		n := sort.Search(sites.len(), func(i int) bool { return int(sites.at(i).pos)+4 > to })
		if n < sites.len() {
			to = min(to, int(sites.at(n).pos)) // who is in two pieces is in the next one
		}
		b = append(b[:0], c.Bytes[from:to]...)
		for i := range n {
			x := sites.at(i)
			at := b[int(x.pos)-from:]
			binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)+x.what.base(l))
		}
		if err := put(b, uint64(from)); err != nil {
			return err
		}
		from, sites = to, sites[4*n:]
	}
	return nil
}

// base is what is added where a reference is.
func (k refKind) base(l threadarea.Layout) uint32 {
	switch k {
	case toTarget:
		return l.TargetOffset()
	case toGate:
		return l.Gates()
	case toEntered:
		return l.EnteredOffset()
	case toHash:
		return l.HashOffset()
	case toUnit:
		return l.Units()
	case toOver:
		return l.OverOffset()
	case toFront:
		return l.Front()
	}
	return threadarea.CounterOffset(int32(l.Chords))
}

// Function is the index in Plans of the function whose copy begins last at or
// before an offset of the cache; −1: there is none.
func (c *Code) Function(offset uint64) int {
	return sort.Search(len(c.starts), func(i int) bool { return uint64(c.starts[i]) > offset }) - 1
}

// Springboard returns the offset of the cache to which a springboard or island
// at an address leads.
func (c *Code) Springboard(addr uint64) (offset uint64, ok bool) {
	to, n := c.JumpAt(addr)
	for n == asm.ShortJumpLen {
		to, n = c.JumpAt(to)
	}
	return to - c.Base, n == asm.JumpLen
}

// Island reports whether an island, or a hop on the way to one, was planned at
// an address: whatever a hop leads to, which is near.
func (c *Code) Island(addr uint64) bool {
	const most = 128 + asm.ShortJumpLen
	i, _ := slices.BinarySearch(c.jumps, addr-min(addr, most))
	for ; i < len(c.jumps) && c.jumps[i] <= addr+most; i++ {
		if to, n := c.written(c.jumps[i]); n == asm.ShortJumpLen && to == addr {
			return true
		}
	}
	return false
}

// Jumps are the addresses of springboards, islands and hops, sorted.
func (c *Code) Jumps() []uint64 { return c.jumps }

// JumpAt returns the target and the length of what was written at an address; 0: nothing.
func (c *Code) JumpAt(addr uint64) (to uint64, length int) {
	if _, ok := slices.BinarySearch(c.jumps, addr); !ok {
		return 0, 0
	}
	return c.written(addr)
}

// written is JumpAt where something was.
func (c *Code) written(addr uint64) (to uint64, length int) {
	for _, t := range c.Texts {
		if o := addr - t.Addr; o < uint64(len(t.New)) {
			return asm.JumpTarget(t.New[o:], addr)
		}
	}
	return 0, 0
}
