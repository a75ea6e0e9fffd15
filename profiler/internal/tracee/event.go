package tracee

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// EventKind says why a thread stopped.
type EventKind uint8

const (
	NewThread EventKind = iota // before its first instruction
	Cloned                     // the thread that made it, with the call done
	NewChild                   // a forked process, before its first instruction
	Trap                       // int3, or a single step
	Signal                     // about to get a signal
	Exiting                    // about to end: registers and memory are still there
	Gone                       // has ended
	Execed                     // the process is another program now
	Stopped                    // by job control: it waits for SIGCONT
	Rang                       // no thread's: see Alarm
	Other                      // nothing of interest
)

// Event is a stopped thread, which Resume lets go on; or, Gone, a dead one.
type Event struct {
	Kind   EventKind
	Tid    int
	Sig    unix.Signal // of Signal and Stopped
	status unix.WaitStatus
}

// End says how a Gone thread ended: with an exit code, or, when signal is not
// 0, killed by it.
func (e Event) End() (code int, signal unix.Signal) {
	if e.status.Signaled() {
		return 0, e.status.Signal()
	}
	return e.status.ExitStatus(), 0
}

// ByStop reports whether a thread stopped as it was sent a SIGSTOP.
func (e Event) ByStop() bool {
	return e.status.Stopped() && e.status.StopSignal() == unix.SIGSTOP && uint32(e.status)>>16 == 0
}

func (e Event) err() error {
	code, signal := e.End()
	if signal != 0 {
		return fmt.Errorf("killed by %s", SignalName(signal))
	}
	return fmt.Errorf("exit status %d", code)
}

// Wait returns the next event. When the last thread is gone it returns an
// error (ECHILD).
func (p *Process) Wait() (Event, error) {
	if n := len(p.pending); n > 0 {
		p.actions = nil
		e := p.pending[0]
		p.pending = p.pending[1:]
		return e, nil
	}
	return p.wait(-1)
}

// Next is Wait, and reports whether the event had to be waited for: before it nothing
// was left to be handled.
func (p *Process) Next() (e Event, waited bool, err error) {
	if len(p.pending) == 0 && !p.rings() {
		var ws unix.WaitStatus
		if tid, err := unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD|unix.WNOHANG, nil); tid > 0 && err == nil {
			return p.event(tid, ws), false, nil
		}
		waited = true
	}
	e, err = p.Wait()
	return e, waited, err
}

// wait waits for one thread, or, with −1, for any.
func (p *Process) wait(tid int) (Event, error) {
	var ws unix.WaitStatus
	tid, err := p.wait4(tid, &ws)
	if tid == 0 && err == nil {
		return Event{Kind: Rang}, nil
	}
	if err != nil {
		return Event{}, err
	}
	return p.event(tid, ws), nil
}

// event is what a thread's status says.
func (p *Process) event(tid int, ws unix.WaitStatus) Event {
	p.actions = nil
	e := Event{Tid: tid, status: ws, Kind: Other}
	if ws.Exited() || ws.Signaled() {
		e.Kind = Gone
		delete(p.threads, tid)
		return e
	}
	sig := ws.StopSignal()
	switch cause := int(uint32(ws) >> 16); {
	case cause == unix.PTRACE_EVENT_EXIT: // of a thread that was killed before its first stop, too
		e.Kind = Exiting
	case !p.threads[tid]:
		// A new thread's or child's own first stop can come before or after
		// its parent's event; its stop is the one that counts.
		if p.isThread(tid) {
			e.Kind = NewThread
			p.threads[tid] = true
		} else {
			e.Kind = NewChild
		}
	case cause == unix.PTRACE_EVENT_CLONE:
		e.Kind = Cloned
	case cause == unix.PTRACE_EVENT_EXEC:
		e.Kind = Execed
	case cause == unix.PTRACE_EVENT_STOP && stops(sig):
		e.Kind, e.Sig = Stopped, sig
	case cause != 0:
	case sig == unix.SIGTRAP && trapped(tid):
		e.Kind = Trap
		if p.owed[tid] && stepped(tid) {
			e.Kind = Other
			delete(p.owed, tid)
		}
	default:
		e.Kind, e.Sig = Signal, sig
		p.restore(e)
	}
	return e
}

// wait4 waits for one thread, or for any; then the alarm ends it, with 0.
func (p *Process) wait4(tid int, ws *unix.WaitStatus) (int, error) {
	for {
		if tid < 0 && p.rang() {
			return 0, nil
		}
		got, err := unix.Wait4(tid, ws, unix.WALL|unix.WNOTHREAD, nil)
		if err != unix.EINTR {
			return got, err
		}
		if p.gone(tid) {
			return 0, unix.ESRCH
		}
	}
}

// isThread reports whether a new thread is one of the process, and not a process.
func (p *Process) isThread(tid int) bool { return unix.Tgkill(p.Pid, tid, 0) == nil }

// stops reports whether a signal belongs to job control.
func stops(s unix.Signal) bool {
	return s == unix.SIGSTOP || s == unix.SIGTSTP || s == unix.SIGTTIN || s == unix.SIGTTOU
}

// Resume lets a stopped thread go on: with its signal, or stopped when it is
// job control that stopped it.
func (p *Process) Resume(e Event) error {
	var err error
	switch {
	case e.Kind == Gone || e.Kind == Rang:
		return nil
	case e.Kind == Exiting:
		err = ptrace(unix.PTRACE_CONT, e.Tid, 0, 0)
	case e.Kind == Stopped:
		err = letGo(unix.PTRACE_LISTEN, e.Tid, 0)
	case e.Kind == Signal:
		err = letGo(unix.PTRACE_CONT, e.Tid, e.Sig)
	default:
		err = letGo(unix.PTRACE_CONT, e.Tid, 0)
	}
	if err == unix.ESRCH { // killed meanwhile: its end is reported by Wait
		return nil
	}
	return err
}

// Child is the thread that a Cloned event announces. What clone makes may be a
// process, too: then thread is false.
func (p *Process) Child(tid int) (child int, thread bool, err error) {
	n, err := unix.PtraceGetEventMsg(tid)
	return int(n), err == nil && p.isThread(int(n)), err
}

// Former is what the thread was called that had another program take this one's place, of
// an Execed event: it has the process's number from then on.
func (p *Process) Former(tid int) (int, error) {
	n, err := unix.PtraceGetEventMsg(tid)
	return int(n), err
}

// Detach lets a stopped thread or child go for good.
func (p *Process) Detach(tid int) error {
	p.uproot(tid)
	err := ptrace(unix.PTRACE_DETACH, tid, 0, 0)
	if err == unix.ESRCH {
		return nil
	}
	return err
}

// Go resumes the main thread after Start, RunTo and Syscall.
func (p *Process) Go() error { return p.Resume(Event{Kind: Other, Tid: p.Pid}) }
