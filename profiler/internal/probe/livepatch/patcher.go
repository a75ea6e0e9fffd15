package livepatch

import (
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Patcher writes springboards into the text of one running module. Addresses
// are link-time ones, offsets are the code cache's.
type Patcher struct {
	s     *relocate.Spec
	c     *relocate.Code
	write func(addr uint64, b []byte) error

	graphs  map[*cfg.Func]*cfg.Graph
	copied  map[int][]relocate.Copied // of functions that were interrupted, by index
	detours map[int][]relocate.Detour // likewise
	targets map[uint64]uint64         // address → the offset that it leads to
	traps   map[uint64]bool           // of these the ones that are an int3
	islands map[uint64]bool
	by      map[uint64]uint64 // of the targets those that are come to by an island

	claimed   map[uint64]bool // bytes that are not free any more
	preserved map[uint64]bool // instructions that were left as they are
	reserved  map[uint64]bool // bytes that only a springboard of their own may take: one in every block

	given, undone map[uint64]bool   // pages that are the program's again, and jumps elsewhere that led there
	left          map[uint64]uint64 // by offset: where copies were left by an int3, the original address
}

// New patches code that was placed. write writes bytes to a link-time address
// of the running program.
func New(s *relocate.Spec, c *relocate.Code, write func(addr uint64, b []byte) error) *Patcher {
	return &Patcher{s: s, c: c, write: write, graphs: map[*cfg.Func]*cfg.Graph{}, copied: map[int][]relocate.Copied{}, detours: map[int][]relocate.Detour{}, targets: map[uint64]uint64{}, traps: map[uint64]bool{},
		islands: map[uint64]bool{}, by: map[uint64]uint64{}, given: map[uint64]bool{}, undone: map[uint64]bool{}, left: map[uint64]uint64{}, claimed: map[uint64]bool{}, preserved: map[uint64]bool{}, reserved: map[uint64]bool{}}
}

// Interrupted returns the address of a thread that a signal stops at an offset
// of the cache, made to lead back there. restarts: the kernel makes the system
// call before again, by the original instruction. trap: an int3 will do, where
// there is no room for a jump. ok is false in code of ours, and where the
// address cannot be made to lead back.
func (p *Patcher) Interrupted(offset uint64, restarts, trap bool) (addr uint64, ok bool) {
	begins, ends := p.find(offset)
	switch {
	case restarts && !(ends != nil && stopsBehind(p.insn(ends.Addr)) && p.preserve(ends.Addr)):
		return 0, false
	case begins != nil:
		addr = begins.Addr
	case ends != nil && stopsBehind(p.insn(ends.Addr)):
		addr = p.insn(ends.Addr).End()
	default:
		return 0, false
	}
	return addr, p.redirect(addr, offset, byJump) || trap && p.redirect(addr, offset, byAny)
}

// Fault is where a thread whose own instruction raised a signal would stand had
// nothing moved, with the offset of the cache at which it goes on from there,
// and the same for the address behind that instruction, should the handler skip
// it (0: there is none).
type Fault struct {
	Addr, Next uint64
	At, Behind uint64
	Redirected bool // both addresses lead there by themselves
}

// Faulted says where the thread stands whose instruction at an offset of the
// cache raised a signal. ok is false in code of ours.
func (p *Patcher) Faulted(offset uint64) (f Fault, ok bool) {
	begins, ends := p.find(offset)
	switch {
	case ends != nil && stopsBehind(p.insn(ends.Addr)): // int3
		f = Fault{Addr: p.insn(ends.Addr).End(), At: offset}
		f.Redirected = p.redirect(f.Addr, offset, byAny)
		return f, true
	case begins == nil:
		return f, false
	}
	in := p.insn(begins.Addr)
	f = Fault{Addr: in.Addr, At: offset}
	comesBack := in.Kind == x86.Normal || in.Kind.IsCall()
	if comesBack {
		f.Next, f.Behind = in.End(), uint64(begins.End)
	}
	if p.preserve(in.Addr) && (!comesBack || p.redirect(in.End(), uint64(begins.End), byAny)) {
		p.targets[in.Addr] = offset
		f.Redirected = true
	}
	return f, true
}

// Trapped returns where a thread goes on that ran into an int3 of ours.
func (p *Patcher) Trapped(addr uint64) (offset uint64, ok bool) {
	return p.targets[addr], p.traps[addr]
}

// Island reports whether an island stands at an address. No thread of the
// program could be there, as it can at a springboard: islands lie anywhere.
func (p *Patcher) Island(addr uint64) bool { return p.islands[addr] || p.c.Island(addr) }

// Waits reports whether an offset is in code of ours that waits in the kernel, but not for
// long: in look.S, which does not while all are let go, or in the simulator of caches, for a
// lock of its own.
func (p *Patcher) Waits(offset uint64) bool {
	_, simulates := p.s.InCaches(offset)
	return simulates || looks(offset)
}

// looks reports whether an offset is in look.S.
func looks(offset uint64) bool {
	return offset >= threadarea.TakesEntry && offset < threadarea.LookEnd
}

// Advance tells how a thread that is not to be interrupted at an offset may go
// on from there: by a single step, or, to not 0, until it comes to that offset,
// where a piece of our code ends that may be long and wait for other threads. ok is false where it would go into the
// kernel and could stay there, or would see that it is stepped.
func (p *Patcher) Advance(offset uint64) (to uint64, ok bool) {
	if offset >= threadarea.RecordBody && offset < threadarea.RecordEnd {
		return threadarea.RecordEnd, true
	}
	if looks(offset) {
		return threadarea.LookEnd, true
	}
	if end, is := p.s.InCaches(offset); is {
		return end, true
	}
	if to := p.detour(offset); to != 0 {
		return to, true
	}
	begins, _ := p.find(offset)
	if begins == nil {
		return 0, true
	}
	in := p.insn(begins.Addr)
	seen := in.Map == 0 && (in.Opcode == 0x9c || in.Opcode == 0x9d || in.Opcode == 0xcf || in.Opcode == 0x8e) // pushf, popf, iret, mov to ss
	return 0, !seen && in.Kind != x86.Stop && !stopsBehind(in)
}

// detour is where the code ends that simulates caches at an offset; 0: none does.
func (p *Patcher) detour(offset uint64) uint64 {
	i := p.c.Function(offset)
	if i < 0 {
		return 0
	}
	list, ok := p.detours[i]
	if !ok {
		list = p.s.Detours(p.c, i)
		p.detours[i] = list
	}
	at := sort.Search(len(list), func(i int) bool { return list[i].From > int(offset) }) - 1
	if at < 0 || int(offset) >= list[at].End {
		return 0
	}
	return uint64(list[at].To)
}

// find returns the copy that begins at an offset, and the one that ends there.
func (p *Patcher) find(offset uint64) (begins, ends *relocate.Copied) {
	i := p.c.Function(offset)
	if i < 0 {
		return nil, nil
	}
	k, ok := p.copied[i]
	if !ok {
		k = p.s.Copied(p.c, i)
		p.copied[i] = k
	}
	at := sort.Search(len(k), func(i int) bool { return k[i].Start >= int(offset) })
	if at < len(k) && k[at].Start == int(offset) {
		begins = &k[at]
	}
	if at > 0 && k[at-1].End == int(offset) {
		ends = &k[at-1]
	}
	return begins, ends
}

// graph returns the graph of the moved function that holds an address, or nil.
func (p *Patcher) graph(addr uint64) *cfg.Graph {
	f := p.s.Program.Owner(addr)
	if f == nil || p.s.Plan(f) == nil {
		return nil
	}
	g := p.graphs[f]
	if g == nil {
		g = p.s.Program.Blocks(f, nil)
		p.graphs[f] = g
		p.reserve(g)
	}
	return g
}

// insn returns the instruction of a moved function at an address, or nil.
func (p *Patcher) insn(addr uint64) *x86.Insn {
	if g := p.graph(addr); g != nil {
		return g.InsnAt(addr)
	}
	return nil
}

// stays reports whether a call stays in place, so that its copy is a jump to it.
func (p *Patcher) stays(call *x86.Insn) bool {
	g := p.graph(call.Addr)
	q := p.s.Plan(g.Func)
	c := g.BlockOf(call.Addr).CallOf(call)
	return c != nil && !q.CallsFromCopy(c)
}

// stopsBehind reports whether a thread that stops in the kernel because of an
// instruction stands behind it: a system call, int3.
func stopsBehind(in *x86.Insn) bool {
	return in != nil && (in.Map == 1 && (in.Opcode == 0x05 || in.Opcode == 0x34) || in.Map == 0 && (in.Opcode == 0xcc || in.Opcode == 0xcd))
}
