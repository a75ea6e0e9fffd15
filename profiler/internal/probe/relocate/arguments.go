package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Arguments of a call that a hook records or passes on. At the hook's entry the stack
// is as the program's call left it:
//
//	0(%rsp)  return address     8(%rsp)  the seventh argument     16(%rsp)  the eighth …

// passed are the registers of the first arguments.
var passed = [...]x86.Reg{x86.RDI, x86.RSI, x86.RDX, x86.RCX, x86.R8, x86.R9}

// recordCall records a call before it is made, with those of its arguments that are
// asked for. Registers that no argument is passed in keep the two it is recorded by.
func (m *emitter) recordCall(kind uint32, a record.Args) {
	if a.N == 0 {
		m.record(kind)
		return
	}
	m.Mov(x86.R10, x86.RDI, true)
	m.Mov(x86.RAX, x86.RDX, true)
	m.argument(x86.RDI, a.Arg1)
	m.argument(x86.RDX, a.Arg3)
	m.record(kind)
	m.Mov(x86.RDI, x86.R10, true)
	m.Mov(x86.RDX, x86.RAX, true)
}

// argument loads a register with an argument, after recordCall has put two aside.
func (m *emitter) argument(to x86.Reg, a record.Arg) {
	switch {
	case a.At == 0:
		m.MovImm32(to, 0)
		return
	case a.At == 1:
		m.Mov(to, x86.R10, true)
	case a.At == 3:
		m.Mov(to, x86.RAX, true)
	case int(a.At) <= len(passed):
		m.Mov(to, passed[a.At-1], true)
	default:
		m.RestoreRSP(to, onStack(a.At))
	}
	m.behind(to, a.By)
}

// behind loads a register with what it leads to.
func (m *emitter) behind(r x86.Reg, by record.By) {
	if by != record.Value {
		m.Load(r, r, by == record.Pointer64)
	}
}

// onStack is how far above the return address an argument lies.
func onStack(at uint8) int32 { return 8 * (int32(at) - int32(len(passed))) }

// framed calls the function with a frame of ours under it: its arguments on the stack
// once more, and where it is to put what is asked for, which is in rdi then.
func (m *emitter) framed(a record.Args, call func()) {
	if a.N == 0 {
		m.SubImm8(x86.RSP, 8) // keeps the stack aligned
		call()
		m.AddImm8(x86.RSP, 8)
		return
	}
	words, pushed := int32(max(0, int(a.N)-len(passed))), int32(0)
	push := func(arg uint8) {
		if int(arg) <= len(passed) {
			m.Push(passed[arg-1])
		} else {
			m.PushRSP(onStack(arg) + 8*pushed)
		}
		pushed++
	}
	kept := int32(0)
	if a.Out.At > 0 {
		kept = 1
	}
	if (words+kept)%2 == 0 { // keeps the stack aligned
		m.LeaRSP(-8)
		pushed++
	}
	if kept > 0 {
		push(a.Out.At)
	}
	for i := a.N; int(i) > len(passed); i-- {
		push(i)
	}
	call()
	if kept > 0 {
		m.RestoreRSP(x86.RDI, 8*words)
		m.behind(x86.RDI, a.Out.By)
	}
	m.LeaRSP(8 * pushed)
}
