package cfg

import (
	"fmt"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// makeBlocks cuts a function into basic blocks and joins them by edges.
func (f *Func) makeBlocks(p *Program) {
	calls := map[uint64]Call{}
	start := map[uint64]bool{f.Ranges[0].Lo: true}
	for _, a := range f.pads {
		start[a] = true
	}
	table := map[uint64]bool{}
	for _, t := range f.tables {
		for _, a := range t {
			start[a], table[a] = true, true
		}
	}
	for i := range f.Insns {
		in := &f.Insns[i]
		switch {
		case in.Kind.IsJump():
			if f.In(in.Target) {
				start[in.Target] = true
			}
			if in.Kind.IsConditional() {
				start[in.End()] = true
			}
		case in.Kind.IsCall():
			c := p.call(f, in)
			if c.Callee != nil {
				c.Leaves = c.Callee.Leaves
			} else {
				c.Leaves = p.libraryLeaves(c.Import)
			}
			if in.Kind == x86.Call && c.Callee == nil && c.Import == "" {
				c.Leaves = true // into code that nobody has looked at
			}
			if (c.Leaves || c.SetJmp) && !c.NoReturn {
				start[in.End()] = true
			}
			calls[in.Addr] = c
		}
	}
	// A call so close behind a block's start that no landing fits before it is
	// a block of its own: it stays in place, and its count is derived.
	for i := range f.Insns {
		if in := &f.Insns[i]; in.Kind.IsCall() && !calls[in.Addr].NoReturn {
			for d := uint64(0); d < 5; d++ {
				if start[in.Addr-d] {
					start[in.End()] = true
				}
			}
		}
	}
	f.cut(start, table, calls)
	if f.Skip == "" {
		f.connect()
	}
	if f.Skip == "" {
		f.checkTailJumps(p)
	}
}

func (f *Func) cut(start, table map[uint64]bool, calls map[uint64]Call) {
	f.Blocks = nil
	var cur *Block
	from := 0
	flush := func(to int) {
		if cur != nil {
			cur.Insns = f.Insns[from:to:to]
			cur.End = cur.Last().End()
		}
		cur = nil
	}
	for i := range f.Insns {
		in := &f.Insns[i]
		if cur != nil && (start[in.Addr] || f.Insns[i-1].End() != in.Addr) {
			flush(i)
		}
		if cur == nil {
			cur = &Block{ID: len(f.Blocks), Start: in.Addr, Func: f, TableTarget: table[in.Addr]}
			f.Blocks = append(f.Blocks, cur)
			from = i
		}
		if c, ok := calls[in.Addr]; ok {
			cur.Calls = append(cur.Calls, c)
		}
		if in.Kind != x86.Normal && (!in.Kind.IsCall() || calls[in.Addr].NoReturn) {
			flush(i + 1)
		}
	}
	flush(len(f.Insns))
	f.Entry = f.BlockAt(f.Ranges[0].Lo)
	for _, a := range f.pads {
		b := f.BlockAt(a)
		if b == nil {
			f.Skip = fmt.Sprintf("landing pad %#x is not at an instruction", a)
			return
		}
		b.Pad = true
	}
}

func (f *Func) connect() {
	f.Edges = nil
	add := func(from, to *Block, k EdgeKind) *Edge {
		e := &Edge{ID: len(f.Edges), From: from, To: to, Kind: k}
		f.Edges = append(f.Edges, e)
		if from != nil {
			from.Succ = append(from.Succ, e)
		}
		if to != nil {
			to.Pred = append(to.Pred, e)
		}
		return e
	}
	add(nil, f.Entry, Entry)
	for _, b := range f.Blocks {
		last := b.Last()
		next := f.BlockAt(b.End)
		falls := false
		switch {
		case last.Kind == x86.Jmp:
			if to := f.BlockAt(last.Target); to != nil {
				add(b, to, Jump)
			} else {
				add(b, nil, Exit)
			}
		case last.Kind.IsConditional():
			add(b, f.BlockAt(last.Target), Taken)
			falls = true
		case last.Kind == x86.JmpInd:
			if t, ok := f.tables[last.Addr]; ok {
				for _, a := range t {
					add(b, f.BlockAt(a), Table)
				}
			} else {
				add(b, nil, Exit)
			}
		case last.Kind == x86.Ret || last.Kind == x86.Stop:
			add(b, nil, Exit)
		case last.Kind.IsCall():
			c := &b.Calls[len(b.Calls)-1]
			if c.NoReturn {
				add(b, nil, Exit)
				break
			}
			falls = true
		default:
			falls = true
		}
		if !falls {
			continue
		}
		if next == nil {
			f.Skip = fmt.Sprintf("nothing to fall into at %#x", b.End)
			return
		}
		add(b, next, Fall)
		if last.Kind.IsCall() {
			c := &b.Calls[len(b.Calls)-1]
			if c.Leaves {
				add(b, nil, Caught).Uncountable = true
			}
			if c.SetJmp {
				add(nil, next, Resumed).Uncountable = true
			}
		}
	}
	for _, b := range f.Blocks {
		if b.Pad {
			add(nil, b, Pad)
		}
	}
}

// checkTailJumps: a jump through a pointer whose targets are unknown is a tail
// call only where the stack is back at the height it had at the entry. Any
// other one is a switch that was not understood, and following the original
// code from there would silently lose counts.
//
// A function whose labels' addresses are taken may jump to them through a
// pointer at any height.
func (f *Func) checkTailJumps(p *Program) {
	for _, b := range f.Blocks {
		if last := b.Last(); last.Kind == x86.JmpInd && f.tables[last.Addr] == nil && p.takesLabels(f) {
			f.Skip = fmt.Sprintf("jump at %#x may go to labels whose address is taken", last.Addr)
			return
		}
	}
	height := map[*Block]int{f.Entry: 0}
	work := []*Block{f.Entry}
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
		if in.Mem.Base == x86.RSP && in.Mem.Index == x86.None {
			return h - int(in.Mem.Disp), true
		}
		return h, false
	case in.Def&x86.RSP.Set() != 0 && in.HasModRM && (in.Opcode == 0x89 || in.Opcode == 0x8b || in.Opcode == 0x29 || in.Opcode == 0x2b):
		return h, false
	}
	return h, true
}
