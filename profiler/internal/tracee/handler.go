package tracee

import "golang.org/x/sys/unix"

// Frame is what the kernel puts on a thread's stack for a signal's handler.
type Frame struct {
	sp uint64 // at the handler's first instruction: there lies the address to return to
	// Return is the code that the handler returns to, by which it leaves the frame.
	Return uint64
}

// PC is where the frame keeps the address that the interrupted thread goes on
// from: behind the return address, in the ucontext_t, the 17th register.
func (f Frame) PC() uint64 { return f.sp + 8 + 40 + 16*8 }

// flags is where the frame keeps the interrupted thread's.
func (f Frame) flags() uint64 { return f.PC() + 8 }

const trapFlag = 1 << 8

// Outlives reports whether an older frame may still be in use when f is new:
// stacks grow down.
func (f Frame) Outlives(newer Frame) bool { return f.sp > newer.sp }

// Holds reports whether a thread whose stack pointer is sp may still be in the
// handler.
func (f Frame) Holds(p *Process, sp uint64) bool {
	to, err := p.Word(f.sp)
	return sp <= f.sp && err == nil && to == f.Return
}

// Enter lets a thread have the signal that it is about to get, up to the
// handler's first instruction. ok is false where something else came before,
// which Wait returns.
func (p *Process) Enter(e Event) (f Frame, ok bool, err error) {
	delete(p.owed, e.Tid) // it would have come before this signal
	var before unix.PtraceRegs
	if err := unix.PtraceGetRegs(e.Tid, &before); err != nil {
		return f, false, err
	}
	if err := letGo(unix.PTRACE_SINGLESTEP, e.Tid, e.Sig); err != nil {
		return f, false, err
	}
	got, err := p.waitFor(e.Tid)
	if err != nil {
		return f, false, err
	}
	if got.Kind != Trap {
		p.pending = append(p.pending, got)
		return f, false, nil
	}
	// The handler's own mask may block SIGTRAP; the kernel takes away what
	// the program does about that signal where it is blocked and a trap comes.
	m, err := mask(e.Tid)
	if err == nil && m&bit(unix.SIGTRAP) != 0 {
		err = setMask(e.Tid, m&^bit(unix.SIGTRAP))
	}
	if err != nil {
		return f, false, err
	}
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(e.Tid, &r); err != nil {
		return f, false, err
	}
	f.sp = r.Rsp
	if f.Return, err = p.Word(f.sp); err == nil {
		err = p.unstep(f, before.Eflags)
	}
	return f, err == nil, err
}

// unstep takes the step out of the flags that a handler's frame keeps. The kernel does, but
// where it takes what the thread stands at for an instruction that sets the flag itself: a
// part of a jump that was written there may look like popf.
func (p *Process) unstep(f Frame, before uint64) error {
	flags, err := p.Word(f.flags())
	if err != nil || flags&trapFlag == 0 || before&trapFlag != 0 {
		return err
	}
	return p.WriteWord(flags&^trapFlag, f.flags())
}

// Returns reports whether a thread that stopped at f.Return is leaving f.
func (p *Process) Returns(tid int, f Frame) (bool, error) {
	var r unix.PtraceRegs
	err := unix.PtraceGetRegs(tid, &r)
	return err == nil && r.Rsp == f.sp+8, err
}

// The processor's breakpoints, which every thread has for itself.
const (
	forSteps = iota // GoTo's
	forReturns
)

// BreakAt has a thread stop, by a Trap, whenever it comes to an address; 0
// takes that back.
func (p *Process) BreakAt(tid int, addr uint64) error { return breakAt(tid, forReturns, addr) }

func breakAt(tid, reg int, addr uint64) error {
	const debugRegs, control = 848, 7 // in struct user
	set := func(reg int, v uint64) error {
		return ptrace(unix.PTRACE_POKEUSR, tid, debugRegs+8*uintptr(reg), uintptr(v))
	}
	on, err := peekUser(tid, debugRegs+8*control)
	if err != nil {
		return err
	}
	enable := uint64(1) << (2 * reg) // for execution
	if err := set(control, on&^enable); err != nil || addr == 0 {
		return err
	}
	if err := set(reg, addr); err != nil {
		return err
	}
	return set(control, on|enable)
}

// Arguments are those of a call, in registers, at whose function's beginning a
// thread has stopped.
func (p *Process) Arguments(tid int) (first, second, third uint64, err error) {
	var r unix.PtraceRegs
	err = unix.PtraceGetRegs(tid, &r)
	return r.Rdi, r.Rsi, r.Rdx, err
}

// SetAX sets a stopped thread's rax and instruction pointer.
func (p *Process) SetAX(tid int, v, pc uint64) error {
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	r.Rax, r.Rip = v, pc
	return unix.PtraceSetRegs(tid, &r)
}
