package probe

import (
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// function emits the copy of one function: its blocks in the original order,
// then the landings' counters and other out-of-line code.
func (m *emitter) function(q *plan) {
	f := q.f
	for len(m.buf)%16 != 0 {
		m.b(0xcc)
	}
	if h, ok := m.s.hooks(f.Name); ok && m.s.Program.Image.Static {
		m.mark(label{atHook, f.Entry.Start})
		m.hook(h, func(op byte) {
			m.b(map[byte]byte{0x15: 0xe8, 0x25: 0xe9}[op])
			m.rel(entryOf(f))
		})
	}
	blocks := append([]*cfg.Block(nil), f.Blocks...)
	main := f.Ranges[0]
	sort.SliceStable(blocks, func(i, j int) bool {
		a, b := blocks[i].Start >= main.Lo && blocks[i].Start < main.Hi, blocks[j].Start >= main.Lo && blocks[j].Start < main.Hi
		return a && !b
	})
	m.mark(entryOf(f))
	m.count(q, f.Edges[0])
	if blocks[0] != f.Entry {
		m.jmp(label{atBlock, f.Entry.Start})
	}
	tight := m.tightLoops(q)
	for i, b := range blocks {
		var next *cfg.Block
		if i+1 < len(blocks) {
			next = blocks[i+1]
		}
		if n := tight[b]; n > 0 && !m.s.opt.NoAlign && len(m.buf)%64+n > 64 {
			m.nops(64 - len(m.buf)%64)
		}
		m.mark(label{atBlock, b.Start})
		m.block(q, b)
		m.leave(q, b, next)
	}
	m.arrivals(q)
	for i := 0; i < len(m.stubs); i++ {
		m.stubs[i]()
	}
	m.stubs = m.stubs[:0]
}

// tightLoops returns the heads of innermost loops that fit into one cache
// line, with their size: crossing a line costs such a loop up to half of its
// speed, and aligning others costs more than it brings.
func (m *emitter) tightLoops(q *plan) map[*cfg.Block]int {
	t := map[*cfg.Block]int{}
	for _, l := range q.f.Loops {
		if !l.Inner() {
			continue
		}
		n := 0
		for b := range l.Blocks {
			n += int(b.End-b.Start) + 4 // short branches grow by four
			if x := &q.w.edges[q.w.self[b.ID]]; x.counter >= 0 && x.induction == nil {
				n += 9
			}
			for _, e := range b.Succ {
				if q.hasCount(e) && e.To != nil && l.Blocks[e.To] {
					n += 9
				}
			}
		}
		if n <= 64 {
			t[l.Head] = n
		}
	}
	return t
}

// count emits the counter of an edge, if it has one.
func (m *emitter) count(q *plan, e *cfg.Edge) {
	i := q.w.byCfg[e.ID]
	if i < 0 {
		return
	}
	live := x86.Flags(0)
	if e.To != nil {
		live = e.To.LiveIn
	}
	ops := q.w.ops[e]
	for _, op := range ops { // leave loops first, then count, then enter loops: as the edge does
		if op.add {
			m.addGS(op, m.s.Layout.counterOffset(op.counter))
		}
	}
	m.increment(q.w.edges[i].counter, live)
	for _, op := range ops {
		if !op.add {
			m.addGS(op, m.s.Layout.counterOffset(op.counter))
		}
	}
}

func (m *emitter) increment(counter int32, live x86.Flags) {
	switch off := m.s.Layout.counterOffset(counter); {
	case counter < 0 || m.s.opt.NoCounters:
	case live&^x86.CF == 0:
		m.incGS(off)
	default:
		m.incGSKeepingFlags(off)
	}
}

// hasCount reports whether code stands on an edge.
func (q *plan) hasCount(e *cfg.Edge) bool {
	i := q.w.byCfg[e.ID]
	return i >= 0 && (q.w.edges[i].counter >= 0 || len(q.w.ops[e]) > 0)
}

// block emits a block's instructions up to its control transfer.
func (m *emitter) block(q *plan, b *cfg.Block) {
	self := q.w.edges[q.w.self[b.ID]].counter
	if q.w.edges[q.w.self[b.ID]].induction != nil {
		self = -1 // counted on the loop's edges
	}
	at, _ := probePoint(b)
	call := 0
	for k := range b.Insns {
		in := &b.Insns[k]
		if self >= 0 && k == at {
			m.increment(self, b.LiveAt(k, b.LiveOut))
		}
		switch in.Kind {
		case x86.Normal:
			m.copyInsn(in)
		case x86.Call, x86.CallInd:
			m.call(q, b, &b.Calls[call])
			call++
		}
	}
}

// call jumps to the original call; control comes back at the label behind it.
// Where nobody can look at the return address (in a leaf; in a program that
// never unwinds) the call is made from here.
func (m *emitter) call(q *plan, b *cfg.Block, c *cfg.Call) {
	in := c.Insn
	if c.NoReturn {
		m.count(q, b.Succ[0])
	}
	if q.direct[in.Addr] {
		at := len(m.buf)
		if in.Kind == x86.CallInd { // through the slot of an imported function
			m.copyInsn(in)
			return
		}
		m.b(0xe8)
		m.relOutside(in.Target)
		if m.origin != nil {
			m.origin(in.Addr, at, len(m.buf))
		}
		return
	}
	if !q.chained[in.Addr] {
		if site, ok := m.s.siteOf[in.Addr]; ok {
			m.countTarget(in, site)
		}
		at := len(m.buf)
		m.jmpOriginal(in.Addr)
		if m.origin != nil {
			m.origin(in.Addr, at, len(m.buf))
		}
	}
	if !c.NoReturn {
		m.mark(label{atReturn, in.End()})
	}
}

// countTarget counts the target of an indirect call. Flags are dead and r11
// is free at calls. Two targets have counters of their own in line; the
// recorder looks up the rest.
func (m *emitter) countTarget(in *x86.Insn, site int) {
	if !m.loadTarget(in) {
		return
	}
	l := m.s.Layout
	cmp := func(i int) {
		m.b(0x65, 0x4c, 0x39, 0x1c, 0x25) // cmp %r11,%gs:target
		m.d32(uint32(l.targets) + 8*uint32(2*site+i))
	}
	counter := func(i int) uint32 { return l.counterOffset(int32(l.Chords + 2*site + i)) }
	miss, done := m.stub(), m.stub()
	cmp(0)
	m.jcc(5, miss)
	m.incGS(counter(0))
	m.mark(done)
	m.stubs = append(m.stubs, func() {
		slow := m.stub()
		m.mark(miss)
		cmp(1)
		m.jcc(5, slow)
		m.incGS(counter(1))
		m.jmp(done)
		m.mark(slow)
		m.b(0x50, 0xb8) // push %rax; mov $2·site,%eax
		m.d32(uint32(2 * site))
		m.b(0xe8)
		m.relTo(m.base + indirectEntry)
		m.b(0x58) // pop %rax
		m.jmp(done)
	})
}

// leave emits how control leaves a block; next is the block emitted behind it.
func (m *emitter) leave(q *plan, b *cfg.Block, next *cfg.Block) {
	in := b.Last()
	goTo := func(to *cfg.Block) {
		if to != next {
			m.jmp(label{atBlock, to.Start})
		}
	}
	switch {
	case in.Kind == x86.Stop, in.Kind == x86.Ret:
		m.count(q, b.Succ[0])
		m.copyInsn(in)
	case in.Kind == x86.JmpInd:
		if site, ok := m.s.siteOf[in.Addr]; ok {
			m.countTarget(in, site)
		}
		for _, e := range b.Succ {
			m.count(q, e) // an unresolved jump's exit; table edges count where they arrive
		}
		m.copyInsn(in)
	case in.Kind == x86.Jmp:
		e := b.Succ[0]
		m.count(q, e)
		if e.To == nil {
			m.b(0xe9)
			m.relOutside(in.Target)
		} else {
			goTo(e.To)
		}
	case in.Kind == x86.Jrcxz:
		m.jrcxz(q, b, goTo)
	case in.Kind == x86.Jcc:
		m.branch(q, b, goTo)
	case in.Kind.IsCall() && b.Calls[len(b.Calls)-1].NoReturn:
	default:
		e := b.Succ[0]
		m.count(q, e)
		goTo(e.To)
	}
}

// relOutside emits the displacement to another function: its copy if it has
// one.
func (m *emitter) relOutside(target uint64) {
	if g := m.s.Program.FuncAt(target); g != nil && m.s.Moved(g) {
		l := entryOf(g)
		if _, ok := m.s.hooks(g.Name); ok && m.s.Program.Image.Static {
			l = label{atHook, g.Entry.Start}
		}
		m.rel(l)
		return
	}
	m.relTo(target + m.bias)
}

func (m *emitter) branch(q *plan, b *cfg.Block, goTo func(*cfg.Block)) {
	in, taken, fall := b.Last(), b.Succ[0], b.Succ[1]
	jumpTaken := func() {
		if taken.To == nil {
			m.b(0xe9)
			m.relOutside(in.Target)
		} else {
			m.jmp(label{atBlock, taken.To.Start})
		}
	}
	switch {
	case !q.hasCount(taken) && taken.To == nil:
		m.b(0x0f, 0x80|in.CC)
		m.relOutside(in.Target)
	case !q.hasCount(taken):
		m.jcc(in.CC, label{atBlock, taken.To.Start})
	case taken.Freq > 0.4*b.Freq: // often taken: its counter in line, the other way jumps over it
		over := m.stub()
		m.jcc(in.CC^1, over)
		m.count(q, taken)
		jumpTaken()
		m.mark(over)
	default:
		out := m.stub()
		m.jcc(in.CC, out)
		m.stubs = append(m.stubs, func() {
			m.mark(out)
			m.count(q, taken)
			jumpTaken()
		})
	}
	m.count(q, fall)
	goTo(fall.To)
}

// jrcxz and loop have only a short form: they jump over a jump.
func (m *emitter) jrcxz(q *plan, b *cfg.Block, goTo func(*cfg.Block)) {
	in, taken, fall := b.Last(), b.Succ[0], b.Succ[1]
	m.b(in.Bytes[:len(in.Bytes)-1]...)
	m.b(2, 0xeb, 5)
	out := m.stub()
	m.jmp(out)
	m.stubs = append(m.stubs, func() {
		m.mark(out)
		m.count(q, taken)
		m.jmp(label{atBlock, taken.To.Start})
	})
	m.count(q, fall)
	goTo(fall.To)
}

// arrivals emits the counters of table targets and landing pads.
func (m *emitter) arrivals(q *plan) {
	for _, b := range q.f.Blocks {
		if h, ok := q.w.hubTo[b]; ok {
			m.mark(label{atTable, b.Start})
			m.increment(q.w.edges[h].counter, b.LiveIn)
			m.jmp(label{atBlock, b.Start})
		}
		if b.Pad {
			m.mark(label{atPad, b.Start})
			for _, e := range b.Pred {
				if e.Kind == cfg.Pad {
					m.count(q, e)
				}
			}
			m.jmp(label{atBlock, b.Start})
		}
	}
}
