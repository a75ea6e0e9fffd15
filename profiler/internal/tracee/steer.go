package tracee

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrReplaced: the process is another program now, stopped before its first
// instruction.
var ErrReplaced = errors.New("it replaced itself by another program in the loader; --follow-exec profiles that one")

// RunTo runs the process up to an address of its first thread's, also when it
// stands there already: it may still be inside of the system call that started
// it. Other threads and children, which libraries' constructors make, run as
// they like.
func (p *Process) RunTo(addr uint64) error {
	if err := p.plant(addr); err != nil {
		return err
	}
	if err := ptrace(unix.PTRACE_CONT, p.Pid, 0, 0); err != nil {
		return err
	}
	for {
		e, err := p.wait(-1)
		if err != nil {
			return err
		}
		switch {
		case e.Kind == NewChild:
			if err := p.Detach(e.Tid); err != nil {
				return err
			}
			continue
		case e.Kind == Trap:
			if at, err := p.arrived(e.Tid); err != nil || at {
				return err
			}
			e.Kind, e.Sig = Signal, unix.SIGTRAP // the program's own
		case e.Kind == Gone && e.Tid == p.Pid:
			p.pending = append(p.pending, e)
			return fmt.Errorf("it ended in the loader: %w", e.err())
		case e.Kind == Execed:
			return ErrReplaced
		}
		p.expect(e)
		if err := p.Resume(e); err != nil {
			return err
		}
	}
}

// Later has Wait return an event again.
func (p *Process) Later(e Event) { p.pending = append(p.pending, e) }

// First returns the first event of a thread that was announced.
func (p *Process) First(tid int) (Event, error) {
	for i, e := range p.pending {
		if e.Tid == tid {
			p.pending = slices.Delete(p.pending, i, i+1)
			return e, nil
		}
	}
	return p.waitFor(tid)
}

// Syscall lets the stopped main thread make a system call, at its present
// instruction pointer, whose bytes are put back; all others are stopped too.
// Signals come afterwards.
func (p *Process) Syscall(nr uint64, args ...uint64) (uint64, error) {
	pc, err := p.PC(p.Pid)
	if err != nil {
		return 0, err
	}
	var old [2]byte
	if err := p.Read(old[:], pc); err != nil {
		return 0, err
	}
	if err := p.Write([]byte{0x0f, 0x05}, pc); err != nil {
		return 0, err
	}
	result, err := p.SyscallAt(p.Pid, pc, nr, args...)
	if e := p.Write(old[:], pc); err == nil && e != nil {
		err = e
	}
	return result, err
}

// SyscallAt lets a stopped thread make a system call by an instruction that is
// there. It is not to be inside of one. Signals come afterwards.
func (p *Process) SyscallAt(tid int, pc, nr uint64, args ...uint64) (uint64, error) {
	var save unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &save); err != nil {
		return 0, err
	}
	blocked, err := mask(tid)
	if err == nil {
		err = setMask(tid, ^faults)
	}
	if err != nil {
		return 0, err
	}
	defer setMask(tid, blocked)
	r := save
	r.Rip, r.Rax, r.Orig_rax = pc, nr, ^uint64(0)
	for i, reg := range []*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10, &r.R8, &r.R9} {
		if i < len(args) {
			*reg = args[i]
		}
	}
	ended, err := p.execute(tid, &r)
	if ended != nil {
		return 0, fmt.Errorf("it ended, %v: %w", ended, unix.ESRCH)
	}
	if e := unix.PtraceSetRegs(tid, &save); err == nil {
		err = e
	}
	if err == nil && r.Rax > ^uint64(4095) {
		err = syscall.Errno(-r.Rax)
	}
	if err != nil {
		return 0, fmt.Errorf("system call %d in process %d: %w", nr, p.Pid, err)
	}
	return r.Rax, nil
}

// execute lets a stopped thread execute one instruction with the registers r,
// which become those behind it. Signals that come before are sent anew. ended
// says how the thread ended instead.
func (p *Process) execute(tid int, r *unix.PtraceRegs) (ended, err error) {
	if err := unix.PtraceSetRegs(tid, r); err != nil {
		return nil, err
	}
	for {
		if err := letGo(unix.PTRACE_SINGLESTEP, tid, 0); err != nil {
			return nil, err
		}
		e, err := p.waitFor(tid)
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case Trap:
			return nil, unix.PtraceGetRegs(tid, r)
		case Gone:
			p.pending = append(p.pending, e)
			return e.err(), nil
		case Exiting:
			p.pending = append(p.pending, e)
			status, _ := unix.PtraceGetEventMsg(tid)
			return Event{status: unix.WaitStatus(status)}.err(), nil
		case Signal:
			defer unix.Tgkill(p.Pid, tid, e.Sig)
		}
	}
}
