package tracee

import (
	"errors"
	"fmt"
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

// waitMain returns the next event of the main thread; Wait returns those of
// others that came before.
func (p *Process) waitMain() (Event, error) {
	for {
		e, err := p.wait(-1)
		if err != nil || e.Tid == p.Pid {
			return e, err
		}
		p.pending = append(p.pending, e)
	}
}

// Syscall lets the stopped main thread make a system call, at its present
// instruction pointer, whose bytes are put back. Signals come afterwards.
func (p *Process) Syscall(nr uint64, args ...uint64) (uint64, error) {
	var save unix.PtraceRegs
	if err := unix.PtraceGetRegs(p.Pid, &save); err != nil {
		return 0, err
	}
	blocked, err := mask(p.Pid)
	if err == nil {
		err = setMask(p.Pid, ^faults)
	}
	if err != nil {
		return 0, err
	}
	defer setMask(p.Pid, blocked)
	var old [2]byte
	if err := p.Read(old[:], save.Rip); err != nil {
		return 0, err
	}
	if err := p.Write([]byte{0x0f, 0x05}, save.Rip); err != nil {
		return 0, err
	}
	r := save
	r.Rax, r.Orig_rax = nr, ^uint64(0)
	for i, reg := range []*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10, &r.R8, &r.R9} {
		if i < len(args) {
			*reg = args[i]
		}
	}
	ended, err := p.execute(&r)
	if ended != nil {
		return 0, fmt.Errorf("it ended: %w", ended)
	}
	if e := p.Write(old[:], save.Rip); err == nil {
		err = e
	}
	if e := unix.PtraceSetRegs(p.Pid, &save); err == nil {
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

// execute lets the stopped main thread execute one instruction with the
// registers r, which become those behind it. Signals that come before are sent
// anew. ended says how the process ended instead.
func (p *Process) execute(r *unix.PtraceRegs) (ended, err error) {
	if err := unix.PtraceSetRegs(p.Pid, r); err != nil {
		return nil, err
	}
	for {
		if err := unix.PtraceSingleStep(p.Pid); err != nil {
			return nil, err
		}
		e, err := p.waitMain()
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case Trap:
			return nil, unix.PtraceGetRegs(p.Pid, r)
		case Gone:
			p.pending = append(p.pending, e)
			return e.err(), nil
		case Signal:
			defer unix.Tgkill(p.Pid, p.Pid, e.Sig)
		}
	}
}
