package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/caches"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Moved code simulates caches: before its accesses it looks whether each is to
// the line that was used last in its set of the first level. Then nothing
// changes, in no cache, whatever the order of such accesses. Else all of the
// group are made from there on, one by one and in their order, and what is not to
// such a line is a call (package caches).
//
//	lea  address, u         of the lowest of those that lie close together
//	lea  span-1(u), t
//	shr  $6, t              the line of their last byte: another one than the first's
//	and  $sets-1 << 6, u    is not in the first's set, so this need not be asked
//	cmp  t, %gs:front(u)
//	jne  one by one

// Bytes of code for an access, at most, with its part of what is out of line.
const (
	simulatedSize = 360
	sampledSize   = 80 // to ask whether it is simulated at all
)

// cachesAt is where in the cache of code the simulator lies, where there is one.
var cachesAt = (len(threadarea.Recorder) + 63) &^ 63

// InCaches reports whether an offset of the cache of code is in the simulator, and
// where that returns.
func (s *Spec) InCaches(offset uint64) (end uint64, is bool) {
	at := uint64(cachesAt)
	end = at + caches.Return
	return end, s.opt.Caches.On() && offset >= at+caches.AmongEnd && offset < at+uint64(len(caches.Code)) && offset != end
}

// simulate emits what is done before instruction k of the block for which
// accesses were gathered.
func (m *emitter) simulate(k int) {
	for i := range m.accesses.groups {
		g := &m.accesses.groups[i]
		if g.at != k {
			continue
		}
		flags := m.accesses.flags[k] != 0
		l := m.lookAt(g, flags)
		m.detours(func(end *int) {
			if l.strip != nil {
				m.stripped(l, end)
				return
			}
			m.keepingFlags(flags, func() { m.group(l, end) })
		})
	}
}

// detours emits code that simulates, and says where it is. end is for what of it is
// out of line: where it goes on, once that is known.
func (m *emitter) detours(code func(end *int)) {
	from, end := m.Len(), new(int)
	code(end)
	*end = m.Len()
	if m.detour != nil {
		m.detour(from, *end, *end)
	}
}

// look is a group as it is looked at.
type look struct {
	list   []access
	groups []cluster
	saved  []x86.Reg
	t, u   x86.Reg // what it may change
	deep   bool    // the stack is below the red zone already, by the flags
	down   int32   // how far it is below where it was
	strip  *strip  // of the loop that it is in
}

func (m *emitter) lookAt(g *group, deep bool) *look {
	free := m.accesses.free(g, g.at)
	l := &look{list: m.accesses.settled(g), saved: others(g, free), deep: deep, strip: m.accesses.strip}
	l.groups = clusters(l.list, int64(1)<<m.s.opt.Caches.Shift)
	two := append(free, l.saved...)
	l.t, l.u = two[0], two[1]
	return l
}

// group emits a group.
func (m *emitter) group(l *look, end *int) {
	l.down = m.save(l.saved, l.deep)
	if l.strip != nil {
		m.manyRounds(l)
	}
	groups, t, u := l.groups, l.t, l.u
	slow, looks, asked := m.Labels(len(groups)), m.Labels(len(groups)+1), m.Labels(len(groups))
	sampling := m.s.opt.Caches.Sample != 0
	ask := func(i int) {
		c := &groups[i]
		m.inFront(&c.access, c.span, c.store, t, u, l.down)
		m.Jcc(asm.NotEqual, slow+asm.Label(i))
	}
	m.later = append(m.later, func() {
		from := m.Len()
		for i := 0; sampling && i < len(groups); i++ {
			m.Bind(asked + asm.Label(i))
			ask(i)
			m.Jmp(looks + asm.Label(i+1))
		}
		m.oneByOne(l, slow, looks)
		if m.detour != nil {
			m.detour(from, m.Len(), *end)
		}
	})
	for i := range groups {
		m.Bind(looks + asm.Label(i))
		if !sampling {
			ask(i)
			continue
		}
		c := &groups[i] // most are not, so what is done else is out of line
		m.sampled(&c.access, c.span, c.first != c.last, t, u, l.down)
		m.Jcc(asm.NoCarry^1, asked+asm.Label(i))
	}
	m.Bind(looks + asm.Label(len(groups)))
	m.restore(l.saved, l.deep)
}

// save saves registers for a group, and returns how far the stack pointer is below
// where it was. They are in the red zone, where signals leave them alone, if the
// function does not need the lowest part of it: moving the stack pointer, and pushes,
// cost more than all that is asked then.
func (m *emitter) save(list []x86.Reg, deep bool) (down int32) {
	switch {
	case deep:
		down = redZone + 8
	case m.accesses.spare >= len(list):
		for i, r := range list {
			m.SaveRSP(int32(8*i-redZone), r)
		}
		return 0
	case len(list) > 0:
		m.LeaRSP(-redZone)
		down = redZone
	}
	for _, r := range list {
		m.Push(r)
		down += 8
	}
	return down
}

func (m *emitter) restore(list []x86.Reg, deep bool) {
	if !deep && m.accesses.spare >= len(list) {
		for i, r := range list {
			m.RestoreRSP(r, int32(8*i-redZone))
		}
		return
	}
	for i := len(list) - 1; i >= 0; i-- {
		m.Pop(list[i])
	}
	if !deep && len(list) > 0 {
		m.LeaRSP(redZone)
	}
}

// others are registers to save, so that there are two with the free ones.
func others(g *group, free []x86.Reg) (list []x86.Reg) {
	used := g.regs()
	for _, r := range free {
		used |= r.Set()
	}
	for _, r := range scratch {
		if len(free)+len(list) < 2 && used&r.Set() == 0 {
			list = append(list, r)
		}
	}
	return list
}

// inFront compares the line of so many bytes with the one that was used last in
// its set; it changes t and u.
func (m *emitter) inFront(a *access, span int64, store bool, t, u x86.Reg, down int32) {
	front := m.s.opt.Caches
	m.address(u, a, down)
	m.LeaReg(t, u, int32(span-1))
	m.Shr(t, front.Shift)
	m.AndImm32(u, uint32(front.Sets-1)<<front.Shift)
	at := uint32(0)
	if store {
		at = 8
	}
	m.CmpGSAt(at, u, t)
	m.names(toFront, 4)
}

// sampled has the carry flag say whether an access is to a line that is simulated. It is
// to that of its last byte; several, where some are to that and some to the one before,
// may be to either. It changes t and u.
func (m *emitter) sampled(a *access, span int64, several bool, t, u x86.Reg, down int32) {
	lines := m.s.opt.Caches.Sample
	if several {
		lines = lines.Beside()
	}
	last := *a
	last.Mem.Disp += int32(span - 1)
	last.Target += uint64(span - 1)
	m.address(t, &last, down)
	m.Shr(t, m.s.opt.Caches.Shift)
	m.MovImm64(u, uint64(lines))
	m.Bt(u, t)
}

// among goes to done if a line is in the first level where that is easily seen, and puts
// it in front: hierarchy.c says how. t and u are what inFront made of them.
func (m *emitter) among(write bool, t, u x86.Reg, down int32, done asm.Label) {
	if m.s.opt.Caches.Shift < 6 || m.s.opt.Library {
		return // there is no room in a set; or it is much code, of which little runs
	}
	m.second(t, u, done)
	m.below(down, func() {
		m.AddImm32(u, 0)
		m.names(toFront, 4)
		m.inPlace(t, u, func() { m.CallTo(m.cache + uint64(cachesAt) + caches.Among(write)) })
	})
	m.Jcc(asm.NotEqual^1, done)
}

// second does so itself where a line was used before the one that was used last.
func (m *emitter) second(t, u x86.Reg, done asm.Label) {
	const read, written, second = 0, 8, 16
	other := m.Labels(1)
	m.CmpGSAt(second, u, t)
	m.names(toFront, 4)
	m.Jcc(asm.NotEqual, other)
	m.xorGS(m.XorFromGSAt, read, u, t)
	for _, at := range [...]uint32{second, read, written} {
		m.xorGS(m.XorGSAt, at, u, t)
	}
	m.Jmp(done)
	m.Bind(other)
}

func (m *emitter) xorGS(emit func(at uint32, u, t x86.Reg), at uint32, u, t x86.Reg) {
	emit(at, u, t)
	m.names(toFront, 4)
}

// inPlace has t in RAX and u in RCX for what do emits.
func (m *emitter) inPlace(t, u x86.Reg, do func()) {
	if u == x86.RAX && t != x86.RAX {
		u = t // which is where it comes to
	}
	both := [...][2]x86.Reg{{t, x86.RAX}, {u, x86.RCX}}
	for _, x := range both {
		if x[0] != x[1] {
			m.Xchg(x[0], x[1])
		}
	}
	do()
	for i := range both {
		if x := both[len(both)-1-i]; x[0] != x[1] {
			m.Xchg(x[0], x[1])
		}
	}
}

// below has the stack pointer below the red zone for what do emits, without flags.
func (m *emitter) below(down int32, do func()) {
	if down == 0 {
		m.LeaRSP(-redZone)
	}
	do()
	if down == 0 {
		m.LeaRSP(redZone)
	}
}

// oneByOne makes the accesses of a group. It is the same wherever it is done
// between them and the place that was chosen. It is entered, by slow, where the first
// access is made that is in a cluster of lines of which one is not in front: all
// before are in clusters that are. If such a cluster is one access, this is known of
// it. It goes back, by looks, where all accesses were made of the clusters before.
func (m *emitter) oneByOne(l *look, slow, looks asm.Label) {
	list, of, t, u, down := l.list, l.groups, l.t, l.u, l.down
	c := 0
	for i := range list {
		a := &list[i]
		begins := c < len(of) && of[c].first == i
		alone := begins && of[c].last == i
		if begins && !alone {
			m.Bind(slow + asm.Label(c))
		}
		if begins {
			c++
		}
		back := i == len(list)-1 || c < len(of) && of[c].first == i+1 && of[c].clean
		next := looks + asm.Label(c)
		if !back {
			next = m.Labels(1)
		}
		if !alone || !of[c-1].clean {
			if m.s.opt.Caches.Sample != 0 {
				m.sampled(a, int64(a.Size), false, t, u, down)
				m.Jcc(asm.NoCarry, next)
			}
			m.inFront(a, int64(a.Size), a.Store, t, u, down)
			m.Jcc(asm.NotEqual^1, next)
		}
		if alone {
			m.Bind(slow + asm.Label(c-1))
		}
		m.among(a.Store, t, u, down, next)
		m.enter1(a, u, down)
		if l.strip != nil {
			m.nextRound(l)
		}
		if back {
			m.Jmp(next)
		} else {
			m.Bind(next)
		}
	}
}

// enter1 calls the simulator for an access.
func (m *emitter) enter1(a *access, u x86.Reg, down int32) {
	m.address(u, a, down)
	m.below(down, func() {
		m.Push(u)
		m.CallTo(m.cache + uint64(cachesAt) + caches.Entry(a.Store))
		m.TestEAX(uint32(a.op)<<8 | uint32(a.Size))
	})
}

// address loads a register with an access's address.
func (m *emitter) address(r x86.Reg, a *access, down int32) {
	m.LeaMem(r, &a.Mem, a.Target, down)
	if a.Mem.Segment != 0 {
		m.AddFS(r)
	}
}

// openAccesses prepares for the accesses of the function that is being emitted.
func (m *emitter) openAccesses() {
	m.accesses.groups, m.accesses.strip = m.accesses.groups[:0], nil
	if m.s.opt.Caches.On() {
		m.g.LiveRegisters(&m.accesses.regs)
		m.accesses.ranging, m.accesses.graph, m.accesses.plan = newRanging(m.s.Program.Image, &m.s.opt), m.g, m.q
		op := m.q.Op
		if m.s.opt.Library {
			op = caches.ByCaller
		}
		m.accesses.first(m.g, op)
		m.accesses.spare, m.accesses.erased = spareRedZone(m.g), m.s.opt.Caches.Erased
		m.accesses.tells, m.accesses.line = m.s.opt.Caches.Tells, int64(1)<<m.s.opt.Caches.Shift
	}
}

// gather finds those of a block.
func (m *emitter) gather(b *cfg.Block) {
	if m.s.opt.Caches.On() {
		m.accesses.gather(b)
	}
}

// Op is an access that is simulated.
type Op struct {
	Addr  uint64 // of the instruction
	Block *cfg.Block
	x86.Access
	Called bool // not one, but all that libraries read, or write, which the instruction calls
}

// Ops calls do for the accesses of a function that are simulated, in the order
// of their numbers.
func (s *Spec) Ops(g *cfg.Graph, do func(Op)) {
	eachOp(newRanging(s.Program.Image, &s.opt), g, do)
}

func eachOp(r ranging, g *cfg.Graph, do func(Op)) {
	var list []x86.Access
	for _, b := range g.Blocks {
		for k := range b.Insns {
			list = r.simulated(list[:0], &b.Insns[k])
			for _, a := range list {
				do(Op{b.Insns[k].Addr, b, a, false})
			}
			shape, n := r.shapeOf(b, k)
			for i := range n {
				write, called := i == n-1, shape == caches.Call
				do(Op{b.Insns[k].Addr, b, x86.Access{Load: !write, Store: write, Repeats: !called}, called})
			}
		}
	}
}
