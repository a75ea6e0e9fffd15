package probe

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Late makes landings while the program runs. A signal's handler is to see
// where its thread would stand had nothing moved, and returns to the address
// that it saw. So from that address the thread has to come back to the very
// place in the copy where it was interrupted, behind the counters that it has
// passed. Calls that stay in place lead there, and some landings of the plan.
// Else:
//
//	a signal from outside: a jump is written over the instruction, over a
//	springboard if it is short. Where there is none, the jump may cover further
//	instructions, for such a handler skips none
//
//	a fault: the handler may read the instruction, mend what it reads, return
//	to it or skip it. The original is kept as it is, executes in its place, and
//	behind it stands such a jump, or, where the next instruction is too short
//	and has no springboard, an int3; the profiler then sets the thread on
//
// Where the plan has landings of its own, which count who arrives, a fault's
// handler can be shown the original address, but not return to it: the
// profiler has to set the thread on when the handler returns (Fault.Led).
type Late struct {
	s      *Spec
	c      *Code
	write  func(addr uint64, b []byte) error
	graphs map[*cfg.Func]*cfg.Graph
	copies map[int][]copied  // of functions that were interrupted
	leads  map[uint64]uint64 // address → offset in the cache
	traps  map[uint64]bool   // of these the ones that are an int3
	taken  map[uint64]bool   // bytes that are not free any more
	kept   map[uint64]bool   // of these the ones that were left as they are
	boards map[uint64]bool   // springboards
	spared map[uint64]bool   // bytes that only a landing of their own may take: one in every block
}

// copied is where an instruction was copied to, in offsets of the cache.
type copied struct {
	start, end int
	addr       uint64
}

// NewLate makes late landings for code that was placed. write writes bytes
// to a link-time address of the running program.
func (s *Spec) NewLate(c *Code, write func(addr uint64, b []byte) error) *Late {
	return &Late{s: s, c: c, write: write, graphs: map[*cfg.Func]*cfg.Graph{}, copies: map[int][]copied{}, leads: map[uint64]uint64{}, traps: map[uint64]bool{},
		taken: map[uint64]bool{}, kept: map[uint64]bool{}, boards: map[uint64]bool{}, spared: map[uint64]bool{}}
}

// Interrupted returns the address of a thread that a signal stops at an offset
// of the cache, made to lead back there. restarts: the kernel makes the system
// call before again, by the original instruction. trap: an int3 will do, where
// there is no room for a jump. ok is false in code of ours, and where the
// address cannot be made to lead back.
func (l *Late) Interrupted(offset uint64, restarts, trap bool) (addr uint64, ok bool) {
	begins, ends := l.find(offset)
	switch {
	case restarts && !(ends != nil && goesOn(l.insn(ends.addr)) && l.keep(ends.addr)):
		return 0, false
	case begins != nil:
		addr = begins.addr
	case ends != nil && goesOn(l.insn(ends.addr)):
		addr = l.insn(ends.addr).End()
	default:
		return 0, false
	}
	return addr, l.lead(addr, offset, jumpLen) || trap && l.lead(addr, offset, 1)
}

// Fault is where a thread whose own instruction raised a signal would stand had
// nothing moved, with the offset of the cache at which it goes on from there,
// and the same for the address behind that instruction, should the handler skip
// it (0: there is none).
type Fault struct {
	Addr, Next uint64
	At, Behind uint64
	Led        bool // both addresses lead there by themselves
}

// Faulted says where the thread stands whose instruction at an offset of the
// cache raised a signal. ok is false in code of ours.
func (l *Late) Faulted(offset uint64) (f Fault, ok bool) {
	begins, ends := l.find(offset)
	switch {
	case ends != nil && goesOn(l.insn(ends.addr)): // int3
		f = Fault{Addr: l.insn(ends.addr).End(), At: offset}
		f.Led = l.lead(f.Addr, offset, 1)
		return f, true
	case begins == nil:
		return f, false
	}
	in := l.insn(begins.addr)
	f = Fault{Addr: in.Addr, At: offset}
	comesBack := in.Kind == x86.Normal || in.Kind.IsCall()
	if comesBack {
		f.Next, f.Behind = in.End(), uint64(begins.end)
	}
	if l.keep(in.Addr) && (!comesBack || l.lead(in.End(), uint64(begins.end), 1)) {
		l.leads[in.Addr] = offset
		f.Led = true
	}
	return f, true
}

// Trapped returns where a thread goes on that ran into an int3 of ours.
func (l *Late) Trapped(addr uint64) (offset uint64, ok bool) { return l.leads[addr], l.traps[addr] }

// Passes reports whether a jump of ours stands at an address, which no thread
// of the program could be at: a springboard may lie anywhere.
func (l *Late) Passes(addr uint64) bool {
	_, planned := l.planned(addr)
	return planned || l.boards[addr]
}

// Way tells how a thread that is not to be interrupted at an offset may go on
// from there: by a single step, or, to not 0, until it comes to that offset,
// which is the end of the recorder. ok is false where it would go into the
// kernel and could stay there, or would see that it is stepped.
func (l *Late) Way(offset uint64) (to uint64, ok bool) {
	if offset >= recordBody && offset < recordEnd {
		return recordEnd, true
	}
	begins, _ := l.find(offset)
	if begins == nil {
		return 0, true
	}
	in := l.insn(begins.addr)
	seen := in.Map == 0 && (in.Opcode == 0x9c || in.Opcode == 0x9d || in.Opcode == 0xcf || in.Opcode == 0x8e) // pushf, popf, iret, mov to ss
	return 0, !seen && in.Kind != x86.Stop && !goesOn(in)
}

// find returns the copy that begins at an offset, and the one that ends there.
func (l *Late) find(offset uint64) (begins, ends *copied) {
	i := sort.Search(len(l.c.starts), func(i int) bool { return uint64(l.c.starts[i]) > offset }) - 1
	if i < 0 {
		return nil, nil
	}
	k, ok := l.copies[i]
	if !ok {
		l.s.replay(l.c, i, func(addr uint64, start, end int) { k = append(k, copied{start, end, addr}) })
		l.copies[i] = k
	}
	at := sort.Search(len(k), func(i int) bool { return k[i].start >= int(offset) })
	if at < len(k) && k[at].start == int(offset) {
		begins = &k[at]
	}
	if at > 0 && k[at-1].end == int(offset) {
		ends = &k[at-1]
	}
	return begins, ends
}

// graph returns the graph of the moved function that holds an address, or nil.
func (l *Late) graph(addr uint64) *cfg.Graph {
	f := l.s.Program.Owner(addr)
	if f == nil || !l.s.Moved(f) {
		return nil
	}
	g := l.graphs[f]
	if g == nil {
		g = l.s.Program.Blocks(f, nil)
		l.graphs[f] = g
		l.spare(g)
	}
	return g
}

// spare keeps an instruction's first byte in every block, so that a thread that
// goes on comes by an address that can be made to lead back.
func (l *Late) spare(g *cfg.Graph) {
	for _, b := range g.Blocks {
		for i := range b.Insns {
			if a := b.Insns[i].Addr; !l.s.used.has(a) {
				l.spared[a] = true
				break
			}
		}
	}
}

// insn returns the instruction of a moved function at an address, or nil.
func (l *Late) insn(addr uint64) *x86.Insn {
	if g := l.graph(addr); g != nil {
		return g.InsnAt(addr)
	}
	return nil
}

// stays reports whether a call stays in place, so that its copy is a jump to it.
func (l *Late) stays(call *x86.Insn) bool {
	g := l.graph(call.Addr)
	q := l.s.byFunc[g.Func]
	b := g.BlockOf(call.Addr)
	for i := range b.Calls {
		if c := &b.Calls[i]; c.Insn == call {
			return !q.is(c, direct)
		}
	}
	return false
}

// goesOn reports whether a thread that stops in the kernel because of an
// instruction stands behind it: a system call, int3.
func goesOn(in *x86.Insn) bool {
	return in != nil && (in.Map == 1 && (in.Opcode == 0x05 || in.Opcode == 0x34) || in.Map == 0 && (in.Opcode == 0xcc || in.Opcode == 0xcd))
}

const jumpLen = 5

// lead makes an address lead to an offset: by a jump, which may be longer than
// the instruction there if n is that long, or by an int3.
func (l *Late) lead(addr, offset uint64, n int) bool {
	to, ok := l.leads[addr]
	if !ok {
		to, ok = l.planned(addr)
	}
	if ok {
		return to == offset
	}
	in := l.insn(addr)
	if in == nil {
		return false
	}
	if in.Kind.IsCall() && l.stays(in) {
		begins, _ := l.find(offset)
		return begins != nil && begins.addr == addr
	}
	b, board := []byte{0xcc}, uint64(0)
	if in.Len() >= 2 && in.Len() < jumpLen && l.fits(addr, 2) {
		board = l.board(addr)
	}
	switch {
	case board != 0:
		if l.write(board, jumpTo(board, l.c.base+offset)) != nil {
			return false
		}
		b = []byte{0xeb, byte(board - (addr + 2))}
	case in.Len() >= jumpLen || n == jumpLen:
		b = jumpTo(addr, l.c.base+offset)
	}
	if !l.take(addr, uint64(len(b)), true) || l.write(addr, b) != nil {
		return false
	}
	l.leads[addr] = offset
	l.traps[addr] = len(b) == 1
	return true
}

// board takes five bytes within reach of a short jump at addr, rather far away
// than near, where more landings will be wanted. 0: there are none.
func (l *Late) board(addr uint64) uint64 {
	for d := uint64(120); d >= jumpLen+2; d-- {
		for _, at := range [2]uint64{addr + d, addr - d} {
			if l.take(at, jumpLen, false) {
				l.boards[at] = true
				return at
			}
		}
	}
	return 0
}

func jumpTo(from, to uint64) []byte {
	return binary.LittleEndian.AppendUint32([]byte{0xe9}, uint32(int64(to)-int64(from+jumpLen)))
}

// planned returns where a landing of the plan leads.
func (l *Late) planned(addr uint64) (offset uint64, ok bool) {
	b := l.c.patchAt(addr)
	if len(b) == 2 && b[0] == 0xeb {
		addr += 2 + uint64(int8(b[1]))
		b = l.c.patchAt(addr)
	}
	if len(b) != jumpLen || b[0] != 0xe9 {
		return 0, false
	}
	return addr + jumpLen + uint64(int32(binary.LittleEndian.Uint32(b[1:]))) - l.c.base, true
}

// patchAt returns the jump of a landing at an address, or nil.
func (c *Code) patchAt(addr uint64) []byte {
	if _, ok := slices.BinarySearch(c.landings, addr); !ok {
		return nil
	}
	for _, t := range c.Texts {
		if o := addr - t.Addr; o < uint64(len(t.New)) {
			n := uint64(jumpLen)
			if t.New[o] == 0xeb {
				n = 2
			}
			return t.New[o : o+n]
		}
	}
	return nil
}

// keep keeps an instruction as it is.
func (l *Late) keep(addr uint64) bool {
	if l.kept[addr] {
		return true
	}
	l.kept[addr] = l.take(addr, uint64(l.insn(addr).Len()), true)
	return l.kept[addr]
}

// take takes bytes of instructions that nothing executes, nor ever will. own:
// for the instruction that the first of them belongs to.
func (l *Late) take(addr, n uint64, own bool) bool {
	if !l.fits(addr, n) || !own && l.spared[addr] {
		return false
	}
	for a := addr + 1; a < addr+n; a++ {
		if l.spared[a] {
			return false
		}
	}
	for i := range n {
		l.taken[addr+i] = true
	}
	return true
}

// fits reports whether bytes, from the beginning of an instruction on, can be taken.
func (l *Late) fits(addr, n uint64) bool {
	for a := addr; a < addr+n; {
		in := l.insn(a)
		if in == nil {
			return false
		}
		for ; a < in.End() && a < addr+n; a++ {
			if l.s.used.has(a) || l.taken[a] {
				return false
			}
		}
	}
	return true
}

// byteSet is a set of addresses of the program's text.
type byteSet struct {
	lo   uint64
	bits []uint64
}

func newByteSet(lo uint64, in []bool) byteSet {
	s := byteSet{lo, make([]uint64, (len(in)+63)/64)}
	for i, x := range in {
		if x {
			s.bits[i/64] |= 1 << (i % 64)
		}
	}
	return s
}

// has is true for what is outside of the text.
func (s *byteSet) has(a uint64) bool {
	i := a - s.lo
	return i/64 >= uint64(len(s.bits)) || s.bits[i/64]>>(i%64)&1 != 0
}
