package tracee

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestSignal: a signal arrives with what its sender gave it.
func TestSignal(t *testing.T) {
	p := start(t, "signal")
	check(t, p.Go())
	e, _ := until(t, p, Signal)
	if e.Sig != unix.SIGUSR1 || p.Fault(e) || !e.CanWait() || !p.Caught(unix.SIGUSR1) || p.Caught(unix.SIGUSR2) || !p.CanTrap(e.Tid) {
		t.Errorf("signal %v, fault %v, can wait %v", e.Sig, p.Fault(e), e.CanWait())
	}
	check(t, p.Resume(e))
	ends(t, p)
}

// TestHold: the thread goes some steps before it gets its signal.
func TestHold(t *testing.T) {
	p := start(t, "signal")
	check(t, p.Go())
	e, _ := until(t, p, Signal)
	h, err := p.Hold(e)
	check(t, err)
	for range 3 {
		before, err := p.PC(e.Tid)
		check(t, err)
		s, err := p.Step(e.Tid)
		check(t, err)
		if after, err := p.PC(e.Tid); s.Kind != Trap || after == before || err != nil {
			t.Fatalf("a step from %#x to %#x is an event of kind %d: %v", before, after, s.Kind, err)
		}
	}
	check(t, p.Ready(h))
	check(t, p.Resume(e))
	ends(t, p)
}

// TestPutBack: where another event comes first, the signal is sent anew, and
// is the same for the program.
func TestPutBack(t *testing.T) {
	p := start(t, "signal")
	check(t, p.Go())
	e, _ := until(t, p, Signal)
	h, err := p.Hold(e)
	check(t, err)
	first, err := p.Step(e.Tid)
	check(t, err)
	first.Kind = Other
	check(t, p.PutBack(h, first))
	got, err := p.Wait()
	if err != nil || got != first {
		t.Fatalf("the first event is %+v, %v", got, err)
	}
	check(t, p.Resume(got))
	again, _ := until(t, p, Signal)
	if again.Sig != e.Sig {
		t.Errorf("signal %v came back as %v", e.Sig, again.Sig)
	}
	check(t, p.Resume(again))
	ends(t, p)
}

// TestGoTo runs to an address by a breakpoint of the processor's.
func TestGoTo(t *testing.T) {
	p := start(t, "return")
	check(t, p.RunTo(deeds.syms["main"]))
	check(t, p.GoTo(p.Pid, deeds.syms["answer"]))
	e, err := p.Wait()
	check(t, err)
	check(t, p.Arrived(p.Pid))
	if pc, err := p.PC(p.Pid); e.Kind != Trap || pc != deeds.syms["answer"] || err != nil {
		t.Errorf("an event of kind %d at %#x, %v", e.Kind, pc, err)
	}
	check(t, p.Resume(e))
	ends(t, p)
}

// TestBreakAt stops a thread at an address until that is taken back.
func TestBreakAt(t *testing.T) {
	p := start(t, "return")
	check(t, p.RunTo(deeds.syms["main"]))
	check(t, p.BreakAt(p.Pid, deeds.syms["answer"]))
	check(t, p.Go())
	e, _ := until(t, p, Trap)
	if pc, err := p.PC(e.Tid); pc != deeds.syms["answer"] || err != nil {
		t.Errorf("stopped at %#x, %v", pc, err)
	}
	check(t, p.BreakAt(p.Pid, 0))
	check(t, p.Resume(e))
	ends(t, p)
}

// TestEnter goes into a handler, and finds where it will return to.
func TestEnter(t *testing.T) {
	p := start(t, "two-signals")
	check(t, p.Go())
	e, _ := until(t, p, Signal)
	at, err := p.PC(e.Tid)
	check(t, err)
	outer, ok, err := p.Enter(e)
	if !ok || err != nil {
		t.Fatalf("the handler was not entered: %v, %v", ok, err)
	}
	if saved, err := p.Word(outer.PC()); saved != at || err != nil {
		t.Errorf("the frame says that %#x was interrupted, it was %#x: %v", saved, at, err)
	}
	check(t, p.BreakAt(p.Pid, outer.Return))
	check(t, p.Go())
	// The second signal comes on top of the first one's handler, or behind it.
	var inner Frame
	returned := 0
	for returned < 2 {
		e, err := p.Wait()
		check(t, err)
		switch e.Kind {
		case Gone:
			t.Fatal("it ended with a handler that was not left")
		case Signal:
			if inner, ok, err = p.Enter(e); !ok || err != nil {
				t.Fatalf("the second handler was not entered: %v, %v", ok, err)
			}
			if outer.Outlives(inner) == inner.Outlives(outer) && outer != inner {
				t.Error("neither frame is the older one")
			}
			e = Event{Kind: Other, Tid: e.Tid}
		case Trap:
			of := outer
			if is, err := p.Returns(e.Tid, outer); err != nil {
				t.Fatal(err)
			} else if !is {
				of = inner
			}
			if is, err := p.Returns(e.Tid, of); !is || err != nil {
				t.Errorf("a handler that was never entered is left: %v", err)
			}
			if returned++; returned == 2 {
				check(t, p.BreakAt(e.Tid, 0))
			}
		}
		check(t, p.Resume(e))
	}
	ends(t, p)
}

// TestEnterKeepsFlags: a step is not left in the flags that the handler's frame keeps, even
// where what the thread stands at looks like popf, to which the kernel leaves the flag.
func TestEnterKeepsFlags(t *testing.T) {
	p := start(t, "two-signals")
	check(t, p.Go())
	e, _ := until(t, p, Signal)
	at, err := p.PC(e.Tid)
	check(t, err)
	old := make([]byte, 1)
	check(t, p.Read(old, at))
	check(t, p.Write([]byte{0x9d}, at))
	f, ok, err := p.Enter(e)
	if !ok || err != nil {
		t.Fatalf("the handler was not entered: %v, %v", ok, err)
	}
	check(t, p.Write(old, at))
	if flags, err := p.Word(f.flags()); flags&trapFlag != 0 || err != nil {
		t.Errorf("the frame keeps the flags %#x: %v", flags, err)
	}
	check(t, p.Go())
	for { // the second one comes, or does so on top of the first one's handler
		e, err := p.Wait()
		check(t, err)
		if e.Kind == Gone {
			break
		}
		if e.Kind == Trap {
			t.Fatal("the thread goes on by steps")
		}
		check(t, p.Resume(e))
	}
}

// TestFault tells what an instruction raised from what somebody sent.
func TestFault(t *testing.T) {
	for what, want := range map[string]bool{"fault": true, "sent-fault": false} {
		t.Run(what, func(t *testing.T) {
			p := start(t, what)
			check(t, p.Go())
			e, _ := until(t, p, Signal)
			if e.Sig != unix.SIGSEGV || p.Fault(e) != want {
				t.Errorf("signal %v, a fault: %v", e.Sig, p.Fault(e))
			}
			check(t, p.Resume(e))
			if !want {
				ends(t, p)
			}
		})
	}
}

// TestSentTrap: a SIGTRAP that somebody sends is a signal like others.
func TestSentTrap(t *testing.T) {
	p := start(t, "sent-trap")
	check(t, p.Go())
	e, before := until(t, p, Signal)
	if e.Sig != unix.SIGTRAP {
		t.Errorf("signal %v", e.Sig)
	}
	for _, x := range before {
		if x.Kind == Trap {
			t.Error("a trap of nobody's")
		}
	}
	check(t, p.Resume(e))
	ends(t, p)
}

// TestJobControl: what is stopped stays so until it is told to go on.
func TestJobControl(t *testing.T) {
	for what, canTrap := range map[string]bool{"stop": true, "blocks-trap": false} {
		t.Run(what, func(t *testing.T) {
			p := start(t, what)
			check(t, p.Go())
			sent, _ := until(t, p, Signal)
			if sent.Sig != unix.SIGSTOP || sent.CanWait() {
				t.Errorf("signal %v, which can wait: %v", sent.Sig, sent.CanWait())
			}
			if p.CanTrap(p.Pid) != canTrap {
				t.Errorf("can trap: %v", !canTrap)
			}
			check(t, p.Resume(sent))
			e, _ := until(t, p, Stopped)
			check(t, p.Resume(e))
			check(t, unix.Kill(p.Pid, unix.SIGCONT))
			ends(t, p)
		})
	}
}

func TestSignalName(t *testing.T) {
	if SignalName(unix.SIGSEGV) != "SIGSEGV" || SignalName(200) == "" {
		t.Errorf("%s, %q", SignalName(unix.SIGSEGV), SignalName(200))
	}
}
