package cfg

import (
	"fmt"
	"math/bits"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// What an instruction is to the block that it begins.
const (
	starts  = 1 << iota // a block begins here
	inTable             // a switch can jump here
	isPad
)

// Graph returns the control-flow graph of a function that is not skipped, made
// in s, where it lasts until the next one is made; with nil it is the caller's.
func (p *Program) Graph(f *Func, s *Space) *Graph {
	g := p.Blocks(f, s)
	g.shape()
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
	return m.g
}

// CallBefore returns the call of a function behind which an address lies, or nil.
func (p *Program) CallBefore(f *Func, ret uint64) *x86.Insn {
	if f.Skip != "" {
		return nil
	}
	g := p.Blocks(f, nil)
	for i := range g.Code {
		if in := &g.Code[i]; in.End() == ret && in.Kind.IsCall() {
			return in
		}
	}
	return nil
}

// maker makes a graph.
type maker struct {
	p *Program
	s *Space
	g *Graph
}

// read decodes the instructions in the order of their addresses.
func (m *maker) read() {
	s, f := m.s, m.g.Func
	s.reset()
	for _, r := range f.Ranges {
		s.addPart(m.p, r)
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
			for set := f.starts[w]; set != 0; set &= set - 1 {
				o := w<<6 + bits.TrailingZeros64(set) - first[i]
				if o < 0 || o >= len(x.slot) {
					continue // of a neighbouring part
				}
				if _, err := s.decode(f, x, o); err == nil { // it was understood before
					x.slot[o] = int32(len(s.insns))
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
	p, s, g := m.p, m.s, m.g
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
			c := p.call(g.Func, in)
			c.Index = len(s.calls)
			switch {
			case c.Callee != nil:
				c.Leaves = c.Callee.Leaves
			case in.Kind == x86.Call && c.Import == "":
				c.Leaves = true // into code that nobody has looked at
			default:
				c.Leaves = p.libraryLeaves(c.Import)
			}
			if (c.Leaves || c.SetJmp) && !c.NoReturn {
				set(in.End(), starts)
			}
			s.calls = append(s.calls, c)
		}
	}
	g.Calls = len(s.calls)
	// A call so close behind a block's start that no landing fits before it is
	// a block of its own: it stays in place, and its count is derived.
	for i := range s.calls {
		c := &s.calls[i]
		for d := uint64(0); d < 5 && !c.NoReturn; d++ {
			if k := g.at(c.Insn.Addr - d); k >= 0 && s.marks[k]&starts != 0 {
				set(c.Insn.End(), starts)
			}
		}
	}
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
		b.End = b.Last().End()
		for call < len(s.calls) && s.calls[call].Insn.Addr >= b.Start && s.calls[call].Insn.Addr < b.End {
			call++
		}
		b.Calls = s.calls[c:call:call]
		i = k
	}
	g.Entry = g.BlockAt(g.Ranges[0].Lo)
}

// connect joins the blocks by edges: those that leave a block one behind the
// other, in the order of the blocks.
func (m *maker) connect() {
	s, g := m.s, m.g
	n := 1
	for _, b := range g.Blocks {
		n += 3 + len(g.tables[b.Last().Addr])
		if b.Pad {
			n++
		}
	}
	mem := of(&s.edges, n)
	g.Edges = of(&s.ways, n)[:0]
	add := func(from, to *Block, k EdgeKind) *Edge {
		i := len(g.Edges)
		e := &mem[i]
		e.ID, e.From, e.To, e.Kind = i, from, to, k
		g.Edges = append(g.Edges, e)
		return e
	}
	add(nil, g.Entry, Entry)
	for _, b := range g.Blocks {
		from := len(g.Edges)
		resumed := m.leave(b, add)
		b.Succ = g.Edges[from:len(g.Edges):len(g.Edges)]
		if resumed != nil {
			add(nil, resumed, Resumed).Uncountable = true
		}
	}
	for _, b := range g.Blocks {
		if b.Pad {
			add(nil, b, Pad)
		}
	}
	// Every block's ways in, in the order of the edges.
	count := of(&s.counts, len(g.Blocks)+1)
	for _, e := range g.Edges {
		if e.To != nil {
			count[e.To.ID+1]++
		}
	}
	for i := 1; i < len(count); i++ {
		count[i] += count[i-1]
	}
	preds := of(&s.preds, int(count[len(g.Blocks)]))
	for _, b := range g.Blocks {
		lo, hi := count[b.ID], count[b.ID+1]
		b.Pred = preds[lo:lo:hi]
	}
	for _, e := range g.Edges {
		if e.To != nil {
			e.To.Pred = append(e.To.Pred, e)
		}
	}
}

// leave adds the edges that leave a block; it returns the block behind a
// setjmp, to which control may come again.
func (m *maker) leave(b *Block, add func(from, to *Block, k EdgeKind) *Edge) (resumed *Block) {
	g, last := m.g, b.Last()
	falls := false
	switch {
	case last.Kind == x86.Jmp:
		if to := g.BlockAt(last.Target); to != nil {
			add(b, to, Jump)
		} else {
			add(b, nil, Exit)
		}
	case last.Kind.IsConditional():
		add(b, g.BlockAt(last.Target), Taken)
		falls = true
	case last.Kind == x86.JmpInd:
		if t, ok := g.tables[last.Addr]; ok {
			for _, a := range t {
				add(b, g.BlockAt(a), Table)
			}
		} else {
			add(b, nil, Exit)
		}
	case last.Kind == x86.Ret || last.Kind == x86.Stop:
		add(b, nil, Exit)
	case last.Kind.IsCall() && b.Calls[len(b.Calls)-1].NoReturn:
		add(b, nil, Exit)
	default:
		falls = true
	}
	if !falls {
		return nil
	}
	next := g.BlockAt(b.End)
	if next == nil {
		g.Torn = b.End
	}
	fall := add(b, next, Fall)
	if last.Kind.IsCall() {
		c := &b.Calls[len(b.Calls)-1]
		if c.Leaves {
			add(b, nil, Caught).Uncountable = true
		}
		if c.SetJmp {
			fall.Uncountable = true // one place sees both returns
			return next
		}
	}
	return nil
}

// checkTailJumps: a jump through a pointer whose targets are unknown is a tail
// call only where the stack is back at the height it had at the entry. Any
// other one is a switch that was not understood, and following the original
// code from there would silently lose counts.
//
// A function whose labels' addresses are taken may jump to them through a
// pointer at the height of its entry, if it has no frame. Where a frame is taken
// down right before the jump, nothing in the function is meant.
func (p *Program) checkTailJumps(f *Func, s *Space) {
	g := p.Blocks(f, s)
	if p.takesLabels(g) {
		for _, b := range g.Blocks {
			if last := b.Last(); last.Kind == x86.JmpInd && f.tables[last.Addr] == nil && !restores(b) {
				f.Skip = fmt.Sprintf("jump at %#x may go to labels whose address is taken", last.Addr)
				return
			}
		}
	}
	height := map[*Block]int{g.Entry: 0}
	work := []*Block{g.Entry}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		h := height[b]
		for i := range b.Insns {
			in := &b.Insns[i]
			if in.Kind == x86.JmpInd && f.tables[in.Addr] == nil && h != 0 {
				f.Skip = fmt.Sprintf("jump at %#x with unknown targets", in.Addr)
				return
			}
			var known bool
			if h, known = stackHeight(in, h); !known {
				h = 1 << 20 // dynamic stack: no tail call from here on, unless leave restores it
			}
		}
		for _, e := range b.Succ {
			if e.To == nil {
				continue
			}
			if _, ok := height[e.To]; !ok {
				height[e.To] = h
				work = append(work, e.To)
			}
		}
	}
}

// restores reports whether a block pops a register for its caller, which is
// done where the function ends only.
func restores(b *Block) bool {
	for i := range b.Insns {
		if in := &b.Insns[i]; in.Map == 0 && in.Vex == 0 && in.Opcode >= 0x58 && in.Opcode < 0x60 && in.Def&calleeSaved != 0 {
			return true
		}
	}
	return false
}

// stackHeight is the distance of RSP from its value at entry behind an
// instruction, in bytes; known is false when RSP becomes something else.
func stackHeight(in *x86.Insn, h int) (after int, known bool) {
	if in.Vex != 0 || in.Map != 0 {
		return h, true
	}
	arith := (in.Opcode == 0x83 || in.Opcode == 0x81) && !in.HasMem && in.RM == x86.RSP
	switch {
	case in.Opcode >= 0x50 && in.Opcode < 0x58, in.Opcode == 0x68, in.Opcode == 0x6a, in.Opcode == 0xff && in.HasModRM && in.Ext() == 6:
		return h + 8, true
	case in.Opcode == 0x5c && in.Rex&1 == 0: // pop %rsp
		return h, false
	case in.Opcode >= 0x58 && in.Opcode < 0x60, in.Opcode == 0x8f:
		return h - 8, true
	case arith && in.Ext() == 5:
		return h + int(in.Imm), true
	case arith && in.Ext() == 0:
		return h - int(in.Imm), true
	case arith && in.Ext() == 4: // and $-16,%rsp
		return h, false
	case in.Opcode == 0xc9: // leave: back to the frame of push %rbp; mov %rsp,%rbp
		return 0, true
	case in.Opcode == 0x8d && in.Reg == x86.RSP:
		switch {
		case in.Mem.Base == x86.RSP && in.Mem.Index == x86.None:
			return h - int(in.Mem.Disp), true
		case in.Mem.Base == x86.RBP && in.Mem.Index == x86.None: // the same frame
			return 8 - int(in.Mem.Disp), true
		}
		return h, false
	case in.Def&x86.RSP.Set() != 0 && in.HasModRM && (in.Opcode == 0x89 || in.Opcode == 0x8b || in.Opcode == 0x29 || in.Opcode == 0x2b):
		return h, false
	}
	return h, true
}
