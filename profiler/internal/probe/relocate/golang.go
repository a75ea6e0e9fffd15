package relocate

import (
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Programs in Go. Their runtime looks at return addresses whenever it likes (what it
// sees of those in copies: homeward.go), so no hook puts a frame of its own under a
// function. What is recorded of one stands in its copy, where it begins and before each
// return.

// inGo reports whether the program is written in Go.
func (s *Spec) inGo() bool { return s.Program != nil && s.Program.Image.Go != nil }

// goHooks are those of a program in Go.
func goHooks(hooks Hooks) Hooks {
	return func(name string) (h record.Hook, is bool) {
		if goName(name) {
			h, is = hooks(name)
		}
		return h, is
	}
}

// goName: it is a name of Go's, or a rule's that is no function's.
func goName(name string) bool { return strings.ContainsAny(name, ".(") }

// ofGo: what is emitted is a function of Go's.
func (m *emitter) ofGo() bool { return m.q != nil && m.q.Func.Go }

// hookGo emits what is recorded where a function is entered, whose arguments are in
// rax and rbx; its copy follows.
func (m *emitter) hookGo(q *Plan, h record.Hook) {
	if h.Negative {
		m.Test(x86.RBX)
		m.Jcc(asm.Negative^1, m.entry(q))
	}
	m.Mov(x86.RDI, x86.RAX, true)
	m.Mov(x86.RDX, x86.RBX, true)
	m.record(arriveKind(h))
}

// leaveGo emits what is recorded before a return.
func (m *emitter) leaveGo() {
	if !m.s.inGo() || m.s.opt.Bare() {
		return
	}
	if h, ok := m.hooked(m.q.Func.Name); ok && h.Leave != 0 {
		m.Lfence() // no time stamp from before the wait was over
		m.record(h.Leave)
	}
}

// spare is a register that holds no argument in Go and that says nothing of where an
// indirect call or jump goes.
func spare(in *x86.Insn) x86.Reg {
	for _, r := range []x86.Reg{x86.R13, x86.R12} {
		if in.HasMem && r != in.Mem.Base && r != in.Mem.Index || !in.HasMem && r != in.RM {
			return r
		}
	}
	return x86.R15
}
