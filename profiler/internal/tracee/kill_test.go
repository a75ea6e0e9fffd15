package tracee

import (
	"errors"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestKillThreads ends a process with several threads: nothing of it is left.
func TestKillThreads(t *testing.T) {
	p := start(t, "sleepers")
	check(t, p.Go())
	until(t, p, Trap)
	p.Kill()
	if err := unix.Kill(p.Pid, 0); err != unix.ESRCH {
		t.Errorf("it is there after it was killed: %v", err)
	}
	if _, err := p.Wait(); err != unix.ECHILD {
		t.Errorf("something of it is left: %v", err)
	}
}

// killed starts a process with several threads and kills it while its first one is
// stopped: that stands at its end then, and so do the others, of none of which
// that was told.
func killed(t *testing.T) (*Process, Event) {
	t.Helper()
	p := start(t, "sleepers")
	check(t, p.Go())
	e, _ := until(t, p, Trap)
	check(t, unix.Kill(p.Pid, unix.SIGKILL))
	for info := (siginfo{}); info.get(p.Pid) != nil || !info.atEnd(); {
		runtime.Gosched()
	}
	return p, e
}

// TestKilledWhileStopped: whatever is done to a thread that was stopped and has been
// killed meanwhile, its end is told, and nobody waits for what does not come.
func TestKilledWhileStopped(t *testing.T) {
	for name, do := range map[string]func(*Process, Event) error{
		"resume": func(p *Process, e Event) error { return p.Resume(e) },
		"listen": func(p *Process, e Event) error { e.Kind = Stopped; return p.Resume(e) },
		"step":   func(p *Process, e Event) error { _, err := p.Step(e.Tid); return err },
		"go to":  func(p *Process, e Event) error { return p.GoTo(e.Tid, deeds.syms["answer"]) },
		"enter":  func(p *Process, e Event) error { e.Sig = unix.SIGUSR1; _, _, err := p.Enter(e); return err },
		"call":   func(p *Process, e Event) error { _, err := p.Syscall(unix.SYS_GETPID); return err },
	} {
		t.Run(name, func(t *testing.T) {
			p, e := killed(t)
			if err := do(p, e); err != nil && !errors.Is(err, unix.ESRCH) {
				t.Error(err)
			}
			for exiting := false; ; {
				e, err := p.Wait()
				check(t, err)
				exiting = exiting || e.Kind == Exiting && e.Tid == p.Pid
				if e.Kind == Gone && e.Tid == p.Pid {
					if !exiting {
						t.Error("it was gone before its end was told")
					}
					return
				}
				check(t, p.Resume(e))
			}
		})
	}
}

// TestKilledAsItGoesOn: the end of a thread is told, too, that is let go on as it is killed.
func TestKilledAsItGoesOn(t *testing.T) {
	for range 100 {
		p := start(t, "sleepers")
		check(t, p.Go())
		e, _ := until(t, p, Trap)
		check(t, unix.Kill(p.Pid, unix.SIGKILL))
		check(t, p.Resume(e))
		for told := map[int]bool{}; ; {
			e, err := p.Wait()
			if err == unix.ECHILD {
				break
			}
			check(t, err)
			if told[e.Tid] = told[e.Tid] || e.Kind == Exiting; e.Kind == Gone && !told[e.Tid] {
				t.Fatal("a thread was gone before its end was told")
			}
			check(t, p.Resume(e))
		}
	}
}

// TestEndMissed: where the end of the first thread was missed who waits for it is told,
// while other threads stand at theirs.
func TestEndMissed(t *testing.T) {
	p, e := killed(t)
	check(t, unix.PtraceSingleStep(e.Tid))
	if _, err := p.waitFor(e.Tid); err != unix.ESRCH {
		t.Errorf("error %v", err)
	}
}
