package cfg

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// How often a loop goes round may be told by data, or by the way that control came:
//
//	n = few; if (first) n = many;  for (i = 0; i < n; i++)
//
// Both ways bring what all threads would bring: constants, and what stands in one place
// for all. So where threads differ it is by the branch. Inputs follows values through a
// function to what they were made of, as far as threads may differ in that. Which way
// control came is no part of it.

// Input is a set of what a value was made of: of the arguments that the function was
// called with bit i for the i-th, and InputData. Nothing is what all threads have alike.
type Input uint8

const (
	InputArguments       = 6      // that stand in registers, and are followed
	InputData      Input = 1 << 6 // what threads may have different ones of
	InputKnown     Input = 1 << 7 // there is nothing else
	inputLargest         = 20_000 // instructions of a function: its slots take time
	inputVisits          = 100    // of each block: it takes some two, and nothing may hang
)

// Inputs are those of branches and calls.
type Inputs struct {
	Branch []Input           // by block: of what its last instruction decides; 0: not known
	Passes map[uint64]uint64 // by call, or jump to another function: of each argument, eight bits
}

// made is what registers, flags, and slots of the frame were made of.
type made struct {
	regs  [generals]Input
	flags Input
	slots map[slot]Input // others hold data
}

// inputs follows values through one function.
type inputs struct {
	g       *Graph
	framed  bool
	lent    []slot          // objects of the frame whose addresses are taken: whoever has one may write behind it
	written map[uint64]bool // places in memory that the function itself writes
	args    []x86.Reg
	in      []*made // by block, at its beginning; nil: not come to
}

var (
	passesInC  = []x86.Reg{x86.RDI, x86.RSI, x86.RDX, x86.RCX, x86.R8, x86.R9}
	passesInGo = []x86.Reg{x86.RAX, x86.RBX, x86.RCX, x86.RDI, x86.RSI, x86.R8}
)

// Inputs finds what a function's branches and calls go by.
func (g *Graph) Inputs() Inputs {
	out := Inputs{Branch: make([]Input, len(g.Blocks)), Passes: map[uint64]uint64{}}
	if g.Insns > inputLargest {
		return out
	}
	f := newInputs(g)
	if _, ok := f.follow(); !ok {
		return out
	}
	for _, b := range g.Blocks {
		if f.in[b.ID] != nil {
			out.Branch[b.ID] = f.through(b, out.Passes).decides(b.Last())
		}
	}
	return out
}

// newInputs knows what the function begins with.
func newInputs(g *Graph) *inputs {
	f := &inputs{g: g, framed: g.Framed(), written: map[uint64]bool{}, args: passesInC, in: make([]*made, len(g.Blocks))}
	if g.Func.Go {
		f.args = passesInGo
	}
	f.findWrites()
	f.in[g.Entry.ID] = f.given()
	return f
}

// follow goes round until nothing changes; false: it takes too long. In the order of the
// blocks, each at most once a round: where hundreds of blocks lead to hundreds of others, as
// an interpreter's do, to follow each change at once takes seconds.
func (f *inputs) follow() (visits int, ok bool) {
	again := make([]bool, len(f.g.Blocks))
	again[f.g.Entry.ID] = true
	for more := true; more; {
		more = false
		for _, b := range f.g.Blocks {
			if !again[b.ID] {
				continue
			}
			if visits++; visits > inputVisits*len(f.g.Blocks) {
				return visits, false
			}
			again[b.ID] = false
			m := f.through(b, nil)
			for _, e := range b.Succ {
				if e.To != nil && f.join(e.To, m) {
					again[e.To.ID], more = true, true
				}
			}
		}
	}
	return visits, true
}

// given is what a function begins with.
func (f *inputs) given() *made {
	m := &made{flags: InputData, slots: map[slot]Input{}}
	for r := range m.regs {
		m.regs[r] = InputData
	}
	for i, r := range f.args {
		m.regs[r] = 1 << i
	}
	return m
}

// findWrites finds what is written by others than the instructions that name it.
func (f *inputs) findWrites() {
	for i := range f.g.Code {
		in := &f.g.Code[i]
		s, own := f.slot(in)
		switch {
		case own && !in.Loads && !in.Stores && in.Def != 0: // lea
			f.lent = append(f.lent, s)
		case !in.HasMem && in.Kind == x86.Normal && in.Use == x86.RSP.Set() && in.Def&(x86.RSP.Set()|x86.RBP.Set()) == 0:
			f.lent = append(f.lent, slot{base: x86.RSP})
		case in.RIPOff != 0 && in.Stores:
			f.written[in.RIPTarget] = true
		}
	}
}

func (f *inputs) slot(in *x86.Insn) (s slot, ok bool) {
	s, ok = slotOf(in)
	return s, ok && in.Mem.Segment == 0 && (s.base == x86.RSP || f.framed)
}

// open reports whether a slot may be written through an address.
func (f *inputs) open(s slot) bool {
	return slices.ContainsFunc(f.lent, func(o slot) bool { return o.base == s.base && o.disp <= s.disp })
}

// join adds what holds at the end of a block to what holds where it leads.
func (f *inputs) join(to *Block, m *made) (changed bool) {
	at := f.in[to.ID]
	switch {
	case to.Pad: // the unwinder comes there
		if at != nil {
			return false
		}
		f.in[to.ID] = f.given()
		for i := range f.in[to.ID].regs {
			f.in[to.ID].regs[i] = InputData
		}
		return true
	case at == nil:
		u := *m
		u.slots = maps.Clone(m.slots)
		f.in[to.ID] = &u
		return true
	}
	for r, x := range m.regs {
		changed = changed || x&^at.regs[r] != 0
		at.regs[r] |= x
	}
	changed = changed || m.flags&^at.flags != 0
	at.flags |= m.flags
	for s, x := range at.slots {
		y, known := m.slots[s]
		switch {
		case !known:
			delete(at.slots, s)
			changed = true
		case y&^x != 0:
			at.slots[s] |= y
			changed = true
		}
	}
	return changed
}

// through follows values through a block, and notes what its calls pass.
func (f *inputs) through(b *Block, passes map[uint64]uint64) *made {
	m := *f.in[b.ID]
	m.slots = maps.Clone(m.slots)
	for i := range b.Insns {
		in := &b.Insns[i]
		if passes != nil && (in.Kind.IsCall() || i == len(b.Insns)-1 && len(TailTargets(b)) > 0) {
			passes[in.Addr] = m.passed(f.args)
		}
		if in.Kind.IsCall() {
			m.call(f.g.Func.convention())
		} else {
			f.step(&m, in)
		}
	}
	return &m
}

func (m *made) passed(args []x86.Reg) (all uint64) {
	for i, r := range args {
		all |= uint64(m.regs[r]|InputKnown) << (8 * i)
	}
	return all
}

// call: what it returns may be anything. What is read of other registers is what they held
// before: compilers let callers keep values in those that a callee is known not to touch.
func (m *made) call(c *convention) {
	for r := c.results; r != 0; r &= r - 1 {
		m.regs[bits.TrailingZeros16(uint16(r))] = InputData
	}
	m.flags = InputData
}

// step follows an instruction.
func (f *inputs) step(m *made, in *x86.Insn) {
	s, own := f.slot(in)
	x := f.reads(m, in)
	if in.Stores && own && !f.open(s) {
		m.slots[s] = x
	}
	for r := in.Def; r != 0; r &= r - 1 {
		m.regs[bits.TrailingZeros16(uint16(r))] = x
	}
	if in.Def&x86.RSP.Set() != 0 { // slots have other names from here on
		maps.DeleteFunc(m.slots, func(s slot, _ Input) bool { return s.base == x86.RSP })
	}
	if in.FlagsKilled != 0 {
		if in.FlagsKilled&x86.CF == 0 || in.FlagsKilled&x86.ZF == 0 {
			x |= m.flags
		}
		m.flags = x
	}
}

// reads is what an instruction makes its results of.
func (f *inputs) reads(m *made, in *x86.Insn) (x Input) {
	if clears(in) {
		return 0
	}
	if !inGenerals(in) || in.Lock {
		return InputData
	}
	s, own := f.slot(in)
	used := in.Use
	if own {
		used &^= in.Mem.Base.Set()
	}
	for r := used &^ x86.RSP.Set(); r != 0; r &= r - 1 {
		x |= m.regs[bits.TrailingZeros16(uint16(r))]
	}
	if in.FlagsRead != 0 {
		x |= m.flags
	}
	switch at, known := m.slots[s]; {
	case !in.Loads:
	case own && known:
		x |= at
	case !own && in.RIPOff != 0 && in.Mem.Segment == 0 && !f.written[in.RIPTarget]:
	default:
		x |= InputData
	}
	return x
}

// decides is what the way on from a block is told by.
func (m *made) decides(last *x86.Insn) Input {
	switch last.Kind {
	case x86.Jcc:
		return m.flags | InputKnown
	case x86.Jrcxz:
		return m.flags | m.regs[x86.RCX] | InputKnown
	}
	return 0
}

// inGenerals recognises instructions that compute in general registers alone, or jump.
func inGenerals(in *x86.Insn) bool {
	switch {
	case in.Vex != 0:
		return false
	case in.Map == 1:
		op := in.Opcode
		return op >= 0x40 && op <= 0x4f || op >= 0x80 && op <= 0x9f || op == 0xaf || op >= 0xb6 && op <= 0xb7 || op >= 0xbc && op <= 0xbf || op == 0x1f || op == 0x1e
	}
	return in.Map == 0 && !in.IsString() && !(in.Opcode >= 0x58 && in.Opcode <= 0x5f) && !(in.Opcode >= 0xd8 && in.Opcode <= 0xdf) && in.Opcode != 0xc9
}
