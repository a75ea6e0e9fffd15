package tracee

import (
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Fault reports whether a thread's own instruction raised the signal that it
// is about to get.
func (p *Process) Fault(e Event) bool {
	switch e.Sig {
	case unix.SIGSEGV, unix.SIGBUS, unix.SIGFPE, unix.SIGILL, unix.SIGTRAP, unix.SIGSYS:
		var info siginfo
		return info.get(e.Tid) == nil && info.byKernel()
	}
	return false
}

// Where returns a stopped thread's instruction pointer, and whether the kernel
// will set it back to make an interrupted system call again.
func (p *Process) Where(tid int) (pc uint64, restarts bool, err error) {
	var r unix.PtraceRegs
	err = unix.PtraceGetRegs(tid, &r)
	restarts = int64(r.Orig_rax) >= 0 && int64(r.Rax) <= -512 && int64(r.Rax) >= -516 // ERESTARTSYS … ERESTART_RESTARTBLOCK
	return r.Rip, restarts, err
}

// SetPC sets a stopped thread's instruction pointer.
func (p *Process) SetPC(tid int, pc uint64) error {
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	r.Rip = pc
	return unix.PtraceSetRegs(tid, &r)
}

// MoveFault sets the instruction pointer of a thread whose instruction raised
// a signal, and the address of the instruction where the signal tells it.
func (p *Process) MoveFault(e Event, from, to uint64) error {
	if e.Sig == unix.SIGFPE || e.Sig == unix.SIGILL || e.Sig == unix.SIGTRAP {
		var info siginfo
		if err := info.get(e.Tid); err != nil {
			return err
		}
		if a := info.addr(); *a == from {
			*a = to
			if err := info.set(e.Tid); err != nil {
				return err
			}
		}
	}
	return p.SetPC(e.Tid, to)
}

func bit(s unix.Signal) uint64 { return 1 << (s - 1) }

// faults must not be blocked: the kernel kills a thread that blocks what its
// own instruction raises.
var faults = bit(unix.SIGSEGV) | bit(unix.SIGBUS) | bit(unix.SIGFPE) | bit(unix.SIGILL) | bit(unix.SIGTRAP) | bit(unix.SIGSYS)

// CanTrap reports whether a thread may run into an int3 of ours, or be
// stepped: where SIGTRAP is blocked or ignored, the kernel would change that.
func (p *Process) CanTrap(tid int) bool {
	m, err := mask(tid)
	return err == nil && m&bit(unix.SIGTRAP) == 0 && p.signals().ignored&bit(unix.SIGTRAP) == 0
}

// CanWait reports whether a signal may come later than it arrived: not one of
// job control, since a SIGCONT that comes meanwhile would not take it back.
func (e Event) CanWait() bool { return !stops(e.Sig) }

// Caught reports whether the process has a handler for a signal.
func (p *Process) Caught(s unix.Signal) bool { return p.signals().caught&bit(s) != 0 }

// dispositions are the signals that a process ignores, and has handlers for; all,
// where that is not known.
type dispositions struct{ ignored, caught uint64 }

// signals reads them, once for each event: the kernel takes 15 µs to say them.
func (p *Process) signals() *dispositions {
	if p.actions == nil {
		status := p.state()
		p.actions = &dispositions{number(status, "SigIgn"), number(status, "SigCgt")}
	}
	return p.actions
}

// state reads the process's status.
func (p *Process) state() []byte {
	b := make([]byte, 4096)
	n, _ := unix.Pread(int(p.status.Fd()), b, 0) // all of it comes at once; ReadAt would look for more
	return b[:max(0, n)]
}

// number is a field of it in hexadecimal; the largest, where there is none.
func number(status []byte, name string) uint64 {
	n, err := strconv.ParseUint(field(status, name), 16, 64)
	if err != nil {
		return ^uint64(0)
	}
	return n
}

// Held is a signal that a thread gets later than it arrived.
type Held struct {
	e    Event
	info siginfo
	mask uint64
}

// Hold keeps the signal that a thread is about to get, and all others that
// come from outside, so that the thread can go some steps before.
func (p *Process) Hold(e Event) (*Held, error) {
	h := &Held{e: e}
	err := h.info.get(e.Tid)
	if err == nil {
		h.mask, err = mask(e.Tid)
	}
	if err == nil {
		err = setMask(e.Tid, ^faults)
	}
	delete(p.owed, e.Tid) // it would have come before this signal
	return h, err
}

// Step lets a thread execute one instruction. The event is a Trap; anything
// else came in between, and belongs to PutBack.
func (p *Process) Step(tid int) (Event, error) {
	if err := letGo(unix.PTRACE_SINGLESTEP, tid, 0); err != nil {
		return Event{}, err
	}
	return p.waitFor(tid)
}

// GoTo lets a thread run to an address, which only it stops at. The Trap there is
// one of Wait's events, and Arrived is to be called then.
func (p *Process) GoTo(tid int, addr uint64) error {
	if err := breakAt(tid, forSteps, addr); err != nil {
		return err
	}
	return letGo(unix.PTRACE_CONT, tid, 0)
}

// Arrived ends GoTo.
func (p *Process) Arrived(tid int) error { return breakAt(tid, forSteps, 0) }

// Ready makes the thread, which is at the end of a step, what it was when its
// signal arrived: about to get it, by Resume or by Enter.
func (p *Process) Ready(h *Held) error {
	err := setMask(h.e.Tid, h.mask)
	if err == nil {
		err = h.info.set(h.e.Tid)
	}
	return err
}

// PutBack sends the signal anew, since another event of the thread comes
// first, which Wait returns. When the signal arrives, Wait puts back who sent
// it and why.
func (p *Process) PutBack(h *Held, first Event) error {
	p.pending = append(p.pending, first)
	p.owed[h.e.Tid] = true
	err := setMask(h.e.Tid, h.mask)
	if err == nil {
		err = unix.Tgkill(p.Pid, h.e.Tid, h.e.Sig)
	}
	if err == unix.ESRCH { // it is dying
		return nil
	}
	p.back = append(p.back, h)
	return err
}

// restore gives a signal that was put back its own information again.
func (p *Process) restore(e Event) {
	for i, h := range p.back {
		if h.e.Tid == e.Tid && h.e.Sig == e.Sig {
			p.back = slices.Delete(p.back, i, i+1)
			h.info.set(e.Tid)
			return
		}
	}
}
