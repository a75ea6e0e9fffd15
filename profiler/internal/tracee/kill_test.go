package tracee

import (
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
