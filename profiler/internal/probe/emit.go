package probe

import (
	"encoding/binary"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// emitter writes the copies of functions, one after the other.
type emitter struct {
	*assembler
	s        *Spec
	code     *Code
	next     int32 // number of the next counter
	plt      []stub
	recalled []recall
	written  []uint64 // bits: the text from Lowest on that is patched
	siteRefs []siteRef

	space cfg.Space
	flows flowSpace
	// Of the function that is being emitted:
	g        *cfg.Graph
	w        *flow
	callSite []int32 // call → number of its site, −1: none
	jumpSite []int32 // block → that of the jump that ends it
}

func newEmitter(s *Spec, base uint64) *emitter {
	return &emitter{s: s, assembler: &assembler{base: base, first: s.from.Function, entry: make([]int32, len(s.moved)), hooked: map[int32]int32{}}}
}

// open prepares a function's graph, flow and indirect calls. Its counters are
// numbered from where they were, or are, first numbered.
func (m *emitter) open(q *plan) {
	m.g = m.s.Program.Graph(q.f, &m.space)
	m.w = newFlow(m.g, q.marks, &m.flows)
	m.next = m.w.place(q.first, m.s.opt, &m.flows)
	m.callSite, m.jumpSite = fill(m.callSite, m.g.Calls), fill(m.jumpSite, len(m.g.Blocks))
	n := q.site
	eachSite(m.s.Program, q, m.g, func(b *cfg.Block, c *cfg.Call) {
		if c != nil {
			m.callSite[c.Index] = n
		} else {
			m.jumpSite[b.ID] = n
		}
		n++
	})
	m.begin(m.g)
}

// blur notes that some of a function is not known, and which functions are
// called from there, as often as nobody knows.
func (m *emitter) blur(q *plan) {
	unknown := false
	for i := range m.w.edges {
		if e := &m.w.edges[i]; e.uncountable && !e.tree {
			m.w.markCycle(int32(i))
			unknown = true
		}
	}
	if q.blurred = unknown; !unknown {
		return
	}
	note := func(callee *cfg.Func, e int32) {
		if q := m.s.byFunc[callee]; q != nil && m.w.edges[e].unknown {
			q.vague = true
		}
	}
	for _, b := range m.g.Blocks {
		for i := range b.Calls {
			note(b.Calls[i].Callee, m.w.self[b.ID])
		}
		for _, e := range tailEdges(b) {
			note(m.s.Program.FuncAt(b.Last().Target), m.w.byCfg[e.ID])
		}
	}
}

// fill returns n times −1.
func fill(mem []int32, n int) []int32 {
	mem = mem[:0]
	for range n {
		mem = append(mem, -1)
	}
	return mem
}

// function emits the copy of one function: its blocks in the original order,
// then the landings' counters and other out-of-line code.
func (m *emitter) function(q *plan) {
	m.open(q)
	f, g := q.f, m.g
	for len(m.buf)%16 != 0 {
		m.b(0xcc)
	}
	if l := m.entrance(q); l.kind == atHook {
		m.mark(l)
		h, _ := m.s.hooks(f.Name)
		m.hook(h, func(op byte) {
			m.b(map[byte]byte{0x15: 0xe8, 0x25: 0xe9}[op])
			m.rel(label{atEntry, q.number})
		})
	}
	main := f.Ranges[0]
	isMain := func(b *cfg.Block) bool { return b.Start >= main.Lo && b.Start < main.Hi }
	blocks := make([]*cfg.Block, 0, len(g.Blocks))
	for _, b := range g.Blocks {
		if isMain(b) {
			blocks = append(blocks, b)
		}
	}
	for _, b := range g.Blocks {
		if !isMain(b) {
			blocks = append(blocks, b)
		}
	}
	m.mark(label{atEntry, q.number})
	m.count(g.Edges[0])
	if blocks[0] != g.Entry {
		m.jmp(blockLabel(g.Entry))
	}
	tight := m.tightLoops()
	for i, b := range blocks {
		var next *cfg.Block
		if i+1 < len(blocks) {
			next = blocks[i+1]
		}
		if n := tight[b]; n > 0 && !m.s.opt.NoAlign {
			at := len(m.buf) % 64
			head := (at + 15) &^ 15
			if head+n > 64 {
				head = 64
			}
			m.nops(head - at)
		}
		m.mark(blockLabel(b))
		m.block(q, b)
		m.leave(b, next)
	}
	m.arrivals()
	for i := 0; i < len(m.stubs); i++ {
		m.stubs[i]()
	}
	m.end()
}

func blockLabel(b *cfg.Block) label { return label{atBlock, int32(b.ID)} }

// tightLoops returns the heads of innermost loops that fit into one cache
// line, with their size: crossing a line costs such a loop up to half of its
// speed, and beginning in the middle of what is fetched at once a little.
// Aligning others costs more than it brings.
func (m *emitter) tightLoops() map[*cfg.Block]int {
	if len(m.g.Loops) == 0 {
		return nil
	}
	t := map[*cfg.Block]int{}
	for _, l := range m.g.Loops {
		if !l.Inner {
			continue
		}
		n := 0
		for _, b := range l.Blocks {
			n += int(b.End-b.Start) + growth(b)
			if x := &m.w.edges[m.w.self[b.ID]]; x.counter >= 0 && x.induction == nil {
				n += 9
			}
			for _, e := range b.Succ {
				if m.hasCount(e) && e.To != nil && l.Has(e.To) {
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

// growth is how much longer a block of a tight loop is in the copy, counters
// aside: short branches grow where they lead forward.
func growth(b *cfg.Block) (n int) {
	for i := range b.Insns {
		if in := &b.Insns[i]; isNop(in) {
			n -= in.Len()
		}
	}
	if in := b.Last(); in.Kind.IsJump() && in.Len() == 2 && in.Target > in.Addr {
		n += 4
	}
	return n
}

// count emits the counter of an edge, if it has one.
func (m *emitter) count(e *cfg.Edge) {
	i := m.w.byCfg[e.ID]
	if i < 0 || m.s.opt.NoCounters {
		return
	}
	live := x86.Flags(0)
	if e.To != nil {
		live = e.To.LiveIn
	}
	ops := m.w.ops[e]
	for _, op := range ops { // leave loops first, then count, then enter loops: as the edge does
		if op.add {
			m.addGS(op, counterOffset(op.counter))
		}
	}
	m.increment(m.w.edges[i].counter, live)
	for _, op := range ops {
		if !op.add {
			m.addGS(op, counterOffset(op.counter))
		}
	}
}

func (m *emitter) increment(counter int32, live x86.Flags) {
	switch off := counterOffset(counter); {
	case counter < 0 || m.s.opt.NoCounters:
	case live&^x86.CF == 0:
		m.incGS(off)
	default:
		m.incGSKeepingFlags(off)
	}
}

// hasCount reports whether code stands on an edge.
func (m *emitter) hasCount(e *cfg.Edge) bool {
	i := m.w.byCfg[e.ID]
	return i >= 0 && !m.s.opt.NoCounters && (m.w.edges[i].counter >= 0 || len(m.w.ops[e]) > 0)
}

// block emits a block's instructions up to its control transfer.
func (m *emitter) block(q *plan, b *cfg.Block) {
	self := m.w.edges[m.w.self[b.ID]].counter
	if m.w.edges[m.w.self[b.ID]].induction != nil {
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
		m.count(b.Succ[0])
	}
	if q.is(c, direct) {
		at := len(m.buf)
		if in.Kind == x86.CallInd {
			if site := m.callSite[c.Index]; site >= 0 {
				m.countTarget(in, site)
			}
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
	if !q.is(c, chained) {
		if site := m.callSite[c.Index]; site >= 0 {
			m.countTarget(in, site)
		}
		at := len(m.buf)
		m.jmpOriginal(in.Addr)
		if m.origin != nil {
			m.origin(in.Addr, at, len(m.buf))
		}
	}
	if !c.NoReturn {
		m.mark(label{atReturn, int32(c.Index)})
	}
}

// countTarget counts the target of an indirect call. Flags are dead and r11
// is free at calls. Two targets have counters of their own in line; the
// recorder looks up the rest.
func (m *emitter) countTarget(in *x86.Insn, site int32) {
	if !m.loadTarget(in) {
		return
	}
	cmp := func(i int32) {
		m.b(0x65, 0x4c, 0x39, 0x1c, 0x25) // cmp %r11,%gs:target
		m.siteRefs = append(m.siteRefs, siteRef{int32(len(m.buf)), true})
		m.d32(uint32(8 * (2*site + i)))
	}
	count := func(i int32) {
		m.incGS(uint32(8 * (2*site + i)))
		m.siteRefs = append(m.siteRefs, siteRef{int32(len(m.buf)) - 4, false})
	}
	miss, done := m.stub(), m.stub()
	cmp(0)
	m.jcc(5, miss)
	count(0)
	m.mark(done)
	m.stubs = append(m.stubs, func() {
		slow := m.stub()
		m.mark(miss)
		cmp(1)
		m.jcc(5, slow)
		count(1)
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

// siteRef is a place in the copy that names a site's target or counter, which
// lie behind all other counters: how many there are is known at the end.
type siteRef struct {
	pos    int32
	target bool
}

// Settled is the copy as it runs, once the counters of all modules are known.
func (c *Code) Settled(l Layout) []byte {
	b := slices.Clone(c.Bytes)
	for _, x := range c.sites {
		base := counterOffset(int32(l.Chords))
		if x.target {
			base = uint32(l.targets)
		}
		binary.LittleEndian.PutUint32(b[x.pos:], binary.LittleEndian.Uint32(b[x.pos:])+base)
	}
	return b
}

// leave emits how control leaves a block; next is the block emitted behind it.
func (m *emitter) leave(b *cfg.Block, next *cfg.Block) {
	in := b.Last()
	goTo := func(to *cfg.Block) {
		if to != next {
			m.jmp(blockLabel(to))
		}
	}
	switch {
	case in.Kind == x86.Stop, in.Kind == x86.Ret:
		m.count(b.Succ[0])
		m.copyInsn(in)
	case in.Kind == x86.JmpInd:
		if site := m.jumpSite[b.ID]; site >= 0 {
			m.countTarget(in, site)
		}
		for _, e := range b.Succ {
			m.count(e) // an unresolved jump's exit; table edges count where they arrive
		}
		m.copyInsn(in)
	case in.Kind == x86.Jmp:
		e := b.Succ[0]
		m.count(e)
		if e.To == nil {
			m.b(0xe9)
			m.relOutside(in.Target)
		} else {
			goTo(e.To)
		}
	case in.Kind == x86.Jrcxz:
		m.jrcxz(b, goTo)
	case in.Kind == x86.Jcc:
		m.branch(b, goTo)
	case in.Kind.IsCall() && b.Calls[len(b.Calls)-1].NoReturn:
	default:
		e := b.Succ[0]
		m.count(e)
		goTo(e.To)
	}
}

// relOutside emits the displacement to another function: its copy if it has
// one.
func (m *emitter) relOutside(target uint64) {
	if f := m.s.Program.FuncAt(target); f != nil {
		if q := m.s.byFunc[f]; q != nil {
			m.rel(m.entrance(q))
			return
		}
	}
	m.relTo(target)
}

func (m *emitter) branch(b *cfg.Block, goTo func(*cfg.Block)) {
	in, taken, fall := b.Last(), b.Succ[0], b.Succ[1]
	jumpTaken := func() {
		if taken.To == nil {
			m.b(0xe9)
			m.relOutside(in.Target)
		} else {
			m.jmp(blockLabel(taken.To))
		}
	}
	switch {
	case !m.hasCount(taken) && taken.To == nil:
		m.b(0x0f, 0x80|in.CC)
		m.relOutside(in.Target)
	case !m.hasCount(taken):
		m.jcc(in.CC, blockLabel(taken.To))
	case taken.Freq > 0.4*b.Freq: // often taken: its counter in line, the other way jumps over it
		over := m.stub()
		m.jcc(in.CC^1, over)
		m.count(taken)
		jumpTaken()
		m.mark(over)
	default:
		out := m.stub()
		m.jcc(in.CC, out)
		m.stubs = append(m.stubs, func() {
			m.mark(out)
			m.count(taken)
			jumpTaken()
		})
	}
	m.count(fall)
	goTo(fall.To)
}

// jrcxz and loop have only a short form: they jump over a jump.
func (m *emitter) jrcxz(b *cfg.Block, goTo func(*cfg.Block)) {
	in, taken, fall := b.Last(), b.Succ[0], b.Succ[1]
	m.b(in.Bytes[:len(in.Bytes)-1]...)
	m.b(2, 0xeb, 5)
	out := m.stub()
	m.jmp(out)
	m.stubs = append(m.stubs, func() {
		m.mark(out)
		m.count(taken)
		m.jmp(blockLabel(taken.To))
	})
	m.count(fall)
	goTo(fall.To)
}

// arrivals emits the counters of table targets and landing pads.
func (m *emitter) arrivals() {
	for _, b := range m.g.Blocks {
		if m.w.hubTo != nil && m.w.hubTo[b.ID] >= 0 {
			m.mark(label{atTable, int32(b.ID)})
			m.increment(m.w.edges[m.w.hubTo[b.ID]].counter, b.LiveIn)
			m.jmp(blockLabel(b))
		}
		if b.Pad {
			m.mark(label{atPad, int32(b.ID)})
			for _, e := range b.Pred {
				if e.Kind == cfg.Pad {
					m.count(e)
				}
			}
			m.jmp(blockLabel(b))
		}
	}
}
