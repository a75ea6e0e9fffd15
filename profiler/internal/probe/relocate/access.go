package relocate

import (
	"math"
	"math/bits"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// access is one that moved code simulates.
type access struct {
	x86.Access
	op   int32 // its number
	disp int64 // of its address, were the registers as they were when the block began
}

// same reports whether two addresses differ by a constant that is known.
func (a *access) same(b *access) bool {
	x, y := &a.Mem, &b.Mem
	return x.Base == y.Base && x.Index == y.Index && (x.Index == x86.None || x.Scale == y.Scale) && x.RIP == y.RIP && x.Segment == y.Segment
}

func (a *access) regs() x86.Regs { return a.Mem.Base.Set() | a.Mem.Index.Set() }

// group is accesses of a block that are looked at at once: before an
// instruction where all their addresses are known.
type group struct {
	at    int // instruction of the block
	list  []access
	first int // no earlier than there; at is where the first of them is, until it is chosen
}

// accesses are those of a block, in groups.
type accesses struct {
	groups []group
	off    []offsets // by instruction: see there
	live   []x86.Regs
	flags  []x86.Flags
	regs   cfg.Live
	memory []x86.Access
	op     []int32 // by block: the number of its first access
	ranges []ranges
	ranging
	graph  *cfg.Graph
	plan   *Plan // nil: all calls are made by the copy
	erased map[uint64]bool
	spare  int    // how many of the lowest words of the function's red zone are not used
	tells  bool   // of every access
	line   int64  // bytes
	strip  *strip // of the block; nil: none
}

// offsets are what was added to registers since the block began, or since they
// were made.
type offsets [16]int64

// most is how many accesses a group has at most.
const most = 24

// first numbers the accesses of a function's blocks.
func (s *accesses) first(g *cfg.Graph, op int32) {
	s.op = s.op[:0]
	for _, b := range g.Blocks {
		s.op = append(s.op, op)
		for k := range b.Insns {
			s.memory = s.simulated(s.memory[:0], &b.Insns[k])
			_, n := s.shapeOf(b, k)
			op += s.numbers(int32(len(s.memory)) + n)
		}
	}
}

// gather finds a block's groups.
func (s *accesses) gather(b *cfg.Block) {
	op := s.op[b.ID]
	s.groups, s.ranges = s.groups[:0], s.ranges[:0]
	s.live = s.regs.At(b, s.live[:0])
	s.flagsOf(b)
	s.off = append(s.off[:0], offsets{})
	var since [16]int // where a register was made
	barrier := 0
	for k := range b.Insns {
		in := &b.Insns[k]
		now := s.off[k]
		s.memory = s.simulated(s.memory[:0], in)
		erased := s.erased[in.Addr]
		for _, a := range s.memory {
			if !erased {
				s.add(access{Access: a, op: op, disp: now.address(&a.Mem)}, k, max(barrier, made(&a, &since)))
			}
			op += s.numbers(1)
		}
		if shape, n := s.shapeOf(b, k); n > 0 {
			s.addRanges(ranges{k, op, shape}, erased)
			op += s.numbers(n)
			barrier = k + 1
		}
		step, r := constant(in)
		for x := range since {
			if in.Def>>x&1 != 0 && x86.Reg(x) != r {
				since[x], now[x] = k+1, 0
			}
		}
		if r != x86.None {
			now[r] += step
		}
		if in.Kind.IsCall() {
			s.ahead(b, k)
			barrier, now = k+1, offsets{}
		}
		s.off = append(s.off, now)
	}
	for i := range s.groups {
		s.place(&s.groups[i])
	}
	s.strip = s.stripOf(b)
}

// address is the constant part of an address, from how registers were.
func (o *offsets) address(m *x86.Mem) int64 {
	d := int64(m.Disp)
	if m.Base != x86.None {
		d += o[m.Base]
	}
	if m.Index != x86.None {
		d += o[m.Index] * int64(m.Scale)
	}
	return d
}

// made is from which instruction on an address is known.
func made(a *x86.Access, since *[16]int) (from int) {
	for _, r := range [...]x86.Reg{a.Mem.Base, a.Mem.Index} {
		if r != x86.None {
			from = max(from, since[r])
		}
	}
	return from
}

// add adds an access of instruction k to the last group, or begins one.
func (s *accesses) add(a access, k, from int) {
	n := len(s.groups)
	if n == 0 || from > s.groups[n-1].at || !s.groups[n-1].takes(&a) {
		if n < cap(s.groups) {
			s.groups = s.groups[:n+1]
			g := &s.groups[n]
			g.at, g.first, g.list = k, from, append(g.list[:0], a)
			return
		}
		s.groups = append(s.groups, group{at: k, first: from, list: []access{a}})
		return
	}
	g := &s.groups[n-1]
	g.first = max(g.first, from)
	g.list = append(g.list, a)
}

// takes reports whether a group has room for an access: two registers remain that
// no address is made of.
func (g *group) takes(a *access) bool {
	return len(g.list) < most && bits.OnesCount16(uint16(g.regs()|a.regs()|x86.RSP.Set())) <= 13
}

// settled are a group's accesses with their addresses as they are made where it
// is looked at. One that is too far from its registers is left out.
func (s *accesses) settled(g *group) (list []access) {
	off := &s.off[g.at]
	for _, a := range g.list {
		if !a.Mem.RIP {
			d := a.disp - off.address(&x86.Mem{Base: a.Mem.Base, Index: a.Mem.Index, Scale: a.Mem.Scale})
			if d != int64(int32(d)) || d > math.MaxInt32-1<<12 {
				continue
			}
			a.Mem.Disp = int32(d)
		}
		list = append(list, a)
	}
	return list
}

// place chooses where a group is looked at: where flags are dead, and two
// registers, as late as possible.
func (s *accesses) place(g *group) {
	best, last := -1, g.at
	for k := last; k >= g.first; k-- {
		worth := 2 * min(2, len(s.free(g, k)))
		if s.flags[k] == 0 {
			worth += 5
		}
		if worth > best {
			best, g.at = worth, k
		}
	}
}

// scratch are registers in the order in which they are taken. RBP is none, even where
// nobody needs it: to who walks up the stack from a signal's handler it may be where
// the frame is, until it is taken back from the stack.
var scratch = [...]x86.Reg{x86.R11, x86.R10, x86.R9, x86.R8, x86.RCX, x86.RDX, x86.RSI, x86.RDI, x86.RAX, x86.RBX, x86.R12, x86.R13, x86.R14, x86.R15}

// free are registers that nobody needs before instruction k, two at most.
func (s *accesses) free(g *group, k int) []x86.Reg {
	used := s.live[k] | g.regs()
	var list [2]x86.Reg
	n := 0
	for _, r := range scratch {
		if used&r.Set() == 0 && n < 2 {
			list[n] = r
			n++
		}
	}
	return list[:n]
}

// regs are those that a group's addresses are made of.
func (g *group) regs() (r x86.Regs) {
	for i := range g.list {
		r |= g.list[i].regs()
	}
	return r
}

func (s *accesses) flagsOf(b *cfg.Block) {
	s.flags = append(s.flags[:0], make([]x86.Flags, len(b.Insns))...)
	live := b.LiveOut
	for k := len(b.Insns) - 1; k >= 0; k-- {
		live = live&^b.Insns[k].FlagsKilled | b.Insns[k].FlagsRead
		s.flags[k] = live
	}
}

// constant is what an instruction adds to a register, r, of 64 bits, if that is known.
func constant(in *x86.Insn) (step int64, r x86.Reg) {
	wide := in.Rex&8 != 0
	n, adds := in.Adds()
	switch op := in.Opcode; {
	case in.Kind != x86.Normal || in.Map != 0 || in.Vex != 0 || in.Opsize:
	case op >= 0x50 && op < 0x58, op == 0x68, op == 0x6a, op == 0xff && in.Ext() == 6:
		return -8, x86.RSP
	case op >= 0x58 && op < 0x60 && in.Def != x86.RSP.Set():
		return 8, x86.RSP
	case adds && (op == 0x83 || op == 0x81) && wide && !in.HasMem:
		return n, in.RM
	case op == 0x8d && wide && in.Mem.Base == in.Reg && in.Mem.Index == x86.None && !in.Mem.RIP && !in.Mem.Addr32:
		return int64(in.Mem.Disp), in.Reg
	}
	return 0, x86.None
}

// cluster is accesses of a group whose addresses differ by constants, so that
// they may lie in one line.
type cluster struct {
	access       // the lowest
	span   int64 // bytes
	store  bool
	// Of the accesses, by their places among all: the first, and the last. clean: all
	// of the clusters before come before the first.
	first, last int
	clean       bool
}

// clusters are those of some accesses; lines have so many bytes.
func clusters(of []access, line int64) (list []cluster) {
	for i := range of {
		a := &of[i]
		if c := joined(list, a, line); c != nil {
			c.last = i
		} else {
			list = append(list, cluster{*a, int64(a.Size), a.Store, i, i, false})
		}
	}
	last := -1
	for i := range list {
		list[i].clean = last < list[i].first
		last = max(last, list[i].last)
	}
	return list
}

// joined adds an access to a cluster, if it has one.
func joined(list []cluster, a *access, line int64) *cluster {
	for i := range list {
		c := &list[i]
		if !c.same(a) {
			continue
		}
		from, to := c.where(), c.where()+c.span
		x, y := min(from, a.where()), max(to, a.where()+int64(a.Size))
		if y-x > line*5/8 && (x != from || y != to) {
			continue
		}
		if x < from {
			c.access = *a
		}
		c.span, c.store = y-x, c.store || a.Store
		return c
	}
	return nil
}

// where is an address as far as it is a constant.
func (a *access) where() int64 {
	if a.Mem.RIP {
		return int64(a.Target)
	}
	return int64(a.Mem.Disp)
}
