package cfg

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// What an instruction is to the block that it begins.
const (
	starts  = 1 << iota // a block begins here
	inTable             // a switch can jump here
	isPad
	isIn
	isOut
)

// Graph returns the control-flow graph of a function that is not skipped, made
// in s, where it lasts until the next one is made; with nil it is the caller's.
func (p *Program) Graph(f *Func, s *Space) *Graph {
	g := p.Blocks(f, s)
	g.Shape()
	return g
}

// Blocks is Graph without loops, frequencies and live flags.
func (p *Program) Blocks(f *Func, s *Space) *Graph {
	if s == nil {
		s = &Space{}
	}
	m := maker{p: p, s: s, g: &Graph{Func: f}}
	m.read()
	m.mark()
	m.cut()
	m.connect()
	m.fix()
	return m.g
}

// Calls returns the calls of a function, found in s; none of one that is skipped.
func (p *Program) Calls(f *Func, s *Space) (calls []x86.Insn) {
	if f.Skip != "" {
		return nil
	}
	m := maker{p: p, s: s, g: &Graph{Func: f}, calls: true}
	m.read()
	return slices.Clone(m.g.Code)
}

// maker makes a graph.
type maker struct {
	p     *Program
	s     *Space
	g     *Graph
	calls bool // nothing else is wanted
}

// read decodes the instructions in the order of their addresses.
func (m *maker) read() {
	s, f := m.s, m.g.Func
	s.reset()
	for _, r := range f.Ranges {
		s.addPart(m.p, r)
	}
	if !m.calls {
		s.room(f)
	}
	bit := 0
	first := make([]int, len(s.index)) // of each part in the bits
	order := make([]int, len(s.index))
	for i := range s.index {
		first[i], order[i] = bit, i
		bit += len(s.index[i].slot)
	}
	sort.Slice(order, func(i, j int) bool { return s.index[order[i]].lo < s.index[order[j]].lo })
	for _, i := range order {
		x := &s.index[i]
		end := first[i] + len(x.slot)
		for w := first[i] >> 6; w <= (end-1)>>6; w++ {
			for set := binary.LittleEndian.Uint64(f.starts[8*w:]); set != 0; set &= set - 1 {
				o := w<<6 + bits.TrailingZeros64(set) - first[i]
				if o < 0 || o >= len(x.slot) {
					continue // of a neighbouring part
				}
				in, err := s.decode(f, x, o)
				if err != nil { // never: it was understood before
					continue
				}
				if x.slot[o] = int32(len(s.insns)); m.calls && !in.Kind.IsCall() {
					s.insns = s.insns[:len(s.insns)-1]
				}
			}
		}
	}
	m.g.Code, m.g.index = s.insns, s.index
}

// at is the number of the instruction at an address, or −1.
func (g *Graph) at(a uint64) int32 {
	if x, o := part(g.index, a); x != nil && x.slot[o] > 0 {
		return x.slot[o] - 1
	}
	return -1
}

// mark finds where blocks begin, and the calls.
func (m *maker) mark() {
	s, g := m.s, m.g
	s.marks = of(&s.marks, len(g.Code)+1)
	set := func(a uint64, what uint8) {
		if k := g.at(a); k >= 0 {
			s.marks[k] |= what
		}
	}
	set(g.Ranges[0].Lo, starts)
	for _, a := range g.pads {
		set(a, starts|isPad)
	}
	for _, t := range g.tables {
		for _, a := range t {
			set(a, starts|inTable)
		}
	}
	s.calls = s.calls[:0]
	for i := range g.Code {
		in := &g.Code[i]
		switch {
		case in.Kind.IsJump():
			set(in.Target, starts)
			if in.Kind.IsConditional() {
				set(in.End(), starts)
			}
		case in.Kind.IsCall():
			c := m.callOf(in)
			if (c.Leaves || c.SetJmp) && !c.NoReturn {
				set(in.End(), starts)
			}
			s.calls = append(s.calls, c)
		}
	}
	g.Calls = len(s.calls)
	m.markGates(set)
	// A call so close behind a block's start that no springboard fits before it
	// is a block of its own: it stays in place, and its count is derived.
	for i := range s.calls {
		c := &s.calls[i]
		for d := uint64(0); d < springboard && !c.NoReturn; d++ {
			if k := g.at(c.Insn.Addr - d); k >= 0 && s.marks[k]&starts != 0 {
				set(c.Insn.End(), starts)
			}
		}
	}
}

// markGates: a gate stands before a block of one instruction, so that next to
// nothing counts as executed on the wrong side of it.
func (m *maker) markGates(set func(a uint64, what uint8)) {
	for _, x := range m.g.gates {
		what := uint8(starts | isOut)
		if x.enter {
			what = starts | isIn
		}
		set(x.at, what)
		if k := m.g.at(x.at); k >= 0 {
			set(m.g.Code[k].End(), starts)
		}
	}
}

// springboard is the length of a jump from old code to moved code.
const springboard = 5

// callOf is a call as the graph has it: whether it may not come back is known now.
func (m *maker) callOf(in *x86.Insn) Call {
	c := m.p.call(m.g.Func, in)
	c.Index = len(m.s.calls)
	switch {
	case c.Callee != nil:
		c.Leaves = c.Callee.Leaves
	case in.Kind == x86.Call && c.Import == "":
		c.Leaves = true // into code that nobody has looked at
	default:
		c.Leaves = m.p.libraryLeaves(m.g.Func, c.Import)
	}
	return c
}

// cut makes the blocks.
func (m *maker) cut() {
	s, g := m.s, m.g
	g.blockOf = of(&s.blockOf, len(g.Code))
	n := 0
	call := 0
	for i := range g.Code {
		in := &g.Code[i]
		if i == 0 || s.marks[i]&starts != 0 || g.Code[i-1].End() != in.Addr {
			s.marks[i] |= starts
			n++
		}
		g.blockOf[i] = int32(n - 1)
		ends := in.Kind != x86.Normal
		if in.Kind.IsCall() {
			ends = s.calls[call].NoReturn
			call++
		}
		if ends {
			s.marks[i+1] |= starts
		}
	}
	g.Blocks = of(&s.refs, n)
	blocks := of(&s.blocks, n)
	call = 0
	for i := 0; i < len(g.Code); {
		id := int(g.blockOf[i])
		b := &blocks[id]
		g.Blocks[id] = b
		k, c := i+1, call
		for k < len(g.Code) && int(g.blockOf[k]) == id {
			k++
		}
		b.ID, b.Start, b.Insns, b.TableTarget, b.Pad = id, g.Code[i].Addr, g.Code[i:k:k], s.marks[i]&inTable != 0, s.marks[i]&isPad != 0
		b.Enters, b.Leaves = s.marks[i]&isIn != 0, s.marks[i]&isOut != 0
		b.End = b.Last().End()
		for call < len(s.calls) && s.calls[call].Insn.Addr >= b.Start && s.calls[call].Insn.Addr < b.End {
			call++
		}
		b.Calls = s.calls[c:call:call]
		i = k
	}
	g.Entry = g.BlockAt(g.Ranges[0].Lo)
}
