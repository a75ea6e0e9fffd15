package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/blocking"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// body emits a block's instructions up to its control transfer.
func (m *emitter) body(b *cfg.Block) {
	e := &m.counters.Edges[m.counters.Block(b)]
	counter := e.Counter
	if e.Induction != nil {
		counter = -1 // counted on the loop's edges
	}
	at, _ := placement.CountingPoint(b)
	within := m.looksWithin(b)
	call := 0
	if b.Enters || b.Leaves {
		m.gates(b, counter)
		m.stand(b.Start, Before)
		counter = -1
	} else {
		m.unitsAt(b)
	}
	for k := range b.Insns {
		in := &b.Insns[k]
		m.stands = Lookout{Addr: in.Addr}
		if counter >= 0 && k == at {
			m.increment(counter, b.LiveAt(k, b.LiveOut), func() { m.stand(in.Addr, Before) })
		}
		if k == at {
			m.looksAt(b, within, b.LiveAt(k, b.LiveOut))
		}
		if m.s.opt.Looks && !b.Spin && b.Takes(k) {
			m.takes(b.LiveAt(k, b.LiveOut))
		}
		m.simulate(k)
		m.simulateRanges(k)
		switch in.Kind {
		case x86.Normal:
			if is, number, known := b.Syscall(k); is && !m.s.opt.Bare() && !m.s.opt.Goroutines && (!known || blocking.May(number)) {
				m.timed(in)
			} else if !m.readTable(b, k) {
				m.copyInsn(in)
			}
		case x86.Call, x86.CallInd:
			m.call(b, &b.Calls[call])
			call++
		}
	}
}

// copyInsn emits an instruction at its new place. No-ops, which aligned what
// stands behind them at the old one, are left out.
func (m *emitter) copyInsn(in *x86.Insn) {
	if isNop(in) {
		return
	}
	if cfg.IsPause(in) {
		m.pauses()
	}
	at := m.Len()
	m.Copy(in)
	m.note(in, at)
}

// timed emits a system call that may block, and looks how long it takes.
func (m *emitter) timed(in *x86.Insn) {
	code, after := blocking.Inline()
	at := after - in.Len()
	m.Raw(code[:at]...)
	m.copyInsn(in)
	m.Raw(code[after:]...)
}

// isNop recognises the no-ops that pad code: 90, 66 90 and 0f 1f.
func isNop(in *x86.Insn) bool {
	return in.Vex == 0 && in.Rep == 0 && in.Rex&1 == 0 && (in.Map == 0 && in.Opcode == 0x90 || in.Map == 1 && in.Opcode == 0x1f)
}

// note tells that what was emitted from an offset on stands for an instruction.
func (m *emitter) note(in *x86.Insn, at int) {
	if m.copied != nil {
		m.copied(in.Addr, at)
	}
	if m.standsNow.How == Left { // and there is none behind it
		return
	}
	if m.standing != nil {
		m.standing(Stand{at, in.Addr, Before})
	}
	m.stand(in.Addr, After)
}

// call jumps to the original call; control comes back at the label behind it.
// Where nobody can look at the return address (in a leaf; in a program that
// never unwinds) the call is made from here.
func (m *emitter) call(b *cfg.Block, c *cfg.Call) {
	in := c.Insn
	if c.NoReturn {
		m.count(b.Succ[0])
	}
	if yields[c.Import] {
		m.pauses()
	}
	m.rests(c)
	m.takesInGo(c)
	if m.q.is(c, fromCopy) {
		m.callFromCopy(c)
		m.Bind(m.label(place{atReturn, int32(c.Index)}))
		m.behindTasks(c)
		m.worksBehind(c)
		return
	}
	switch {
	case m.q.is(c, afterCall):
	case m.q.is(c, wherever):
		m.callWherever(c)
	default:
		m.countTarget(in, m.callSite[c.Index], false, none)
		m.callInPlace(in)
	}
	if !c.NoReturn {
		m.Bind(m.label(place{atReturn, int32(c.Index)}))
		m.behindTasks(c)
		m.worksBehind(c)
	}
}

func (m *emitter) callFromCopy(c *cfg.Call) {
	in := c.Insn
	if in.Kind == x86.CallInd {
		if !m.countTarget(in, m.callSite[c.Index], true, none) {
			m.copyInsn(in)
			m.home(in)
			return
		}
		at := m.Len()
		m.CallReg(x86.R11)
		m.note(in, at)
		return
	}
	at := m.Len()
	if l, ok := m.copyOf(in.Target); ok {
		m.Call(l)
	} else {
		m.CallTo(m.hookOf(in.Target))
	}
	m.note(in, at)
	m.home(in)
}

// hookOf is where a function is entered that is not moved: at its hook, if it has one.
func (m *emitter) hookOf(target uint64) uint64 {
	if f := m.s.Program.FuncAt(target); f != nil && m.within[f] != 0 {
		return m.within[f]
	}
	return target
}

// copyOf is the label of the copy of the function that begins at an address,
// if it is moved.
func (m *emitter) copyOf(target uint64) (l asm.Label, ok bool) {
	if f := m.s.Program.FuncAt(target); f != nil {
		if q := m.s.byFunc[f]; q != nil {
			return m.entrance(q), true
		}
	}
	return 0, false
}

// countTarget counts the target of an indirect call or jump, if it is a site
// (site ≥ 0). Flags are dead and r11 is free at calls, but in Go, where it may hold an
// argument. Two targets have counters of their own in line, which take no register of
// ours where the target is in one; others are found in a table, and those that
// are not yet in it by the recorder. It reports whether r11 is where to go, if
// that is asked for: to the copy of one of the two, which is a jump less than
// by the springboard at its original, or to the target. With other that is where
// control goes on if the target is none of the two.
func (m *emitter) countTarget(in *x86.Insn, site int32, goes bool, other asm.Label) bool {
	if site < 0 {
		return false
	}
	keep, target := x86.None, in.RM
	if m.ofGo() {
		keep, goes = spare(in), false
	}
	if in.HasMem {
		m.keepR11(keep)
		if target = x86.R11; !m.LoadTarget(target, in) {
			return false
		}
	}
	compare := func(i int32) {
		m.CmpGS(threadarea.Slot(site, i), target)
		m.names(toTarget, 4)
	}
	count := func(i int32) {
		m.IncGS(uint32(8 * (2*site + i)))
		m.names(toCounter, 4)
		switch {
		case goes:
			m.LoadGS(x86.R11, threadarea.Copy(site, i))
			m.names(toTarget, 4)
		case m.ofGo() && !in.HasMem: // it saves the springboard; nobody else reads the register
			m.LoadGS(target, threadarea.Copy(site, i))
			m.names(toTarget, 4)
		}
	}
	done := m.Labels(1)
	behind := other
	if other == none {
		behind = done
	}
	miss := m.outOfLine(func() {
		slow := m.Labels(1)
		compare(1)
		m.Jcc(asm.NotEqual, slow)
		count(1)
		m.Jmp(done)
		m.Bind(slow)
		m.countOther(in, site, keep, target)
		m.Jmp(behind)
	})
	compare(0)
	m.Jcc(asm.NotEqual, miss)
	count(0)
	m.Bind(done)
	if in.HasMem && keep != x86.None {
		m.Mov(x86.R11, keep, true)
	}
	return goes
}

// countOther counts a target that is none of a site's two.
func (m *emitter) countOther(in *x86.Insn, site int32, keep, target x86.Reg) {
	if in.HasMem {
		m.countSlowly(site)
		return
	}
	m.keepR11(keep)
	m.Mov(x86.R11, target, true)
	m.countSlowly(site)
	if keep != x86.None {
		m.Mov(x86.R11, keep, true)
	}
}

// countSlowly counts the target in r11 of a site that is none of its two.
func (m *emitter) countSlowly(site int32) {
	done := m.Labels(1)
	m.countInTable(site, done)
	m.Push(x86.RAX)
	m.MovImm32(x86.RAX, uint32(2*site))
	m.CallTo(m.cache + threadarea.IndirectEntry)
	m.Pop(x86.RAX)
	m.Bind(done)
}

// keepR11 keeps what r11 holds in another register, if there is one.
func (m *emitter) keepR11(in x86.Reg) {
	if in != x86.None {
		m.Mov(in, x86.R11, true)
	}
}

// countInTable counts the target in r11 of a site, and goes on at done, if it
// stands in the table where it is looked for first; else behind this.
func (m *emitter) countInTable(site int32, done asm.Label) {
	window := threadarea.HashWindow(site)
	missed := m.Labels(1)
	m.Push(x86.RCX)
	m.ImulImm32(x86.RCX, x86.R11, threadarea.HashFactor)
	m.ShrImm8(x86.RCX, threadarea.HashShift)
	m.AndImm32(x86.RCX, threadarea.HashMask)
	m.CmpGSAt(window, x86.RCX, x86.R11)
	m.names(toHash, 4)
	m.Jcc(asm.NotEqual, missed)
	m.CmpGSAt32(window+8, x86.RCX, threadarea.HashKey(site))
	m.names(toHash, 8)
	m.Jcc(asm.NotEqual, missed)
	m.MovGSAt32(x86.RCX, window+12, x86.RCX)
	m.names(toHash, 4)
	m.IncGSEighth(0, x86.RCX)
	m.names(toOver, 4)
	m.Pop(x86.RCX)
	m.Jmp(done)
	m.Bind(missed)
	m.Pop(x86.RCX)
}
