package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// leave emits how control leaves a block; next is the block emitted behind it.
func (m *emitter) leave(b, next *cfg.Block) {
	in := b.Last()
	switch {
	case in.Kind == x86.Stop, in.Kind == x86.Ret:
		m.count(b.Succ[0])
		if in.Kind == x86.Ret {
			m.leaveGo()
			m.leaveTasks()
		}
		m.copyInsn(in)
	case in.Kind == x86.JmpInd:
		found := m.countTarget(in, m.jumpSite[b.ID], true, none)
		for _, e := range b.Succ {
			m.count(e) // an unresolved jump's exit; table edges count where they arrive
		}
		if !found {
			m.addBase(b)
			if !m.readTable(b, len(b.Insns)-1) {
				m.copyInsn(in)
			}
			return
		}
		at := m.Len()
		m.JmpReg(x86.R11)
		m.note(in, at)
	case in.Kind == x86.Jmp:
		e := b.Succ[0]
		m.count(e)
		if e.To != nil {
			m.goTo(e, next)
		} else {
			m.jumpOutside(in.Target)
		}
	case in.Kind == x86.Jrcxz:
		m.loop(b, next)
	case in.Kind == x86.Jcc:
		m.branch(b, next)
	case in.Kind.IsCall() && b.Calls[len(b.Calls)-1].NoReturn:
	default:
		e := b.Succ[0]
		m.count(e)
		m.goTo(e, next)
	}
}

// runsInto reports whether control runs on from a block's copy into the next one's.
func runsInto(b, next *cfg.Block) bool {
	switch in := b.Last(); {
	case in.Kind == x86.Stop, in.Kind == x86.Ret, in.Kind == x86.JmpInd, in.Kind.IsCall() && b.Calls[len(b.Calls)-1].NoReturn:
		return false
	case in.Kind == x86.Jcc, in.Kind == x86.Jrcxz:
		return b.Succ[1].To == next
	}
	return b.Succ[0].To == next
}

// goTo goes along an edge, unless where it leads comes next anyway.
func (m *emitter) goTo(e *cfg.Edge, next *cfg.Block) {
	if e.To != next {
		m.Jmp(m.into(e))
	}
}

// jumpOutside jumps to another function: its copy if it has one.
func (m *emitter) jumpOutside(target uint64) {
	if l, ok := m.copyOf(target); ok {
		m.Jmp(l)
	} else {
		m.JmpTo(m.hookOf(target))
	}
}

// branch emits a conditional jump.
func (m *emitter) branch(b, next *cfg.Block) {
	in, taken, fall := b.Last(), b.Succ[0], b.Succ[1]
	countAndJump := func() {
		m.count(taken)
		if taken.To != nil {
			m.Jmp(m.into(taken))
		} else {
			m.jumpOutside(in.Target)
		}
	}
	switch {
	case !m.hasCount(taken) && taken.To == nil:
		if l, ok := m.copyOf(in.Target); ok {
			m.Jcc(in.CC, l)
		} else {
			m.JccTo(in.CC, m.hookOf(in.Target))
		}
	case !m.hasCount(taken):
		m.Jcc(in.CC, m.into(taken))
	case taken.Freq > 0.4*b.Freq: // often taken: its counter in line, the other way jumps over it
		over, from := m.Labels(1), m.standsNow
		m.Jcc(in.CC^1, over)
		countAndJump()
		m.Bind(over)
		m.standAs(from)
	default:
		m.Jcc(in.CC, m.outOfLine(countAndJump))
	}
	m.count(fall)
	m.goTo(fall, next)
}

// loop emits a jrcxz or loop.
func (m *emitter) loop(b, next *cfg.Block) {
	in, taken, fall := b.Last(), b.Succ[0], b.Succ[1]
	m.CopyLoop(in, m.outOfLine(func() {
		m.count(taken)
		m.Jmp(m.into(taken))
	}))
	m.count(fall)
	m.goTo(fall, next)
}
