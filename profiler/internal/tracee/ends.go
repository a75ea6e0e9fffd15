package tracee

import (
	"time"

	"golang.org/x/sys/unix"
)

// A stopped thread that is killed, as by another thread that ends the program, goes on
// without us, and stops once more at its end. Who lets it go on then, in the belief that it
// stands where it stood, has its end pass untold; of the first thread nothing at all is
// told any more until the others are gone, which stand at their ends and wait for us.

// atEnd reports whether it is the end of a thread that it is stopped by.
func (i *siginfo) atEnd() bool { return i.code() == int32(unix.SIGTRAP)|unix.PTRACE_EVENT_EXIT<<8 }

// letGo lets a thread go on from a stop other than that at its end. One that has come to
// its end meanwhile, or is on its way there and so not stopped just now, is told by Wait, and
// lets this fail (ESRCH).
func letGo(request, tid int, sig unix.Signal) error {
	var info siginfo
	if err := info.get(tid); err == unix.ESRCH || err == nil && info.atEnd() {
		return unix.ESRCH
	}
	return ptrace(request, tid, 0, uintptr(sig))
}

// waitFor waits for a thread that stops soon, if it lives. Where the first thread was
// killed between the two steps of letGo it fails (ESRCH).
func (p *Process) waitFor(tid int) (Event, error) {
	if tid == p.Pid {
		p.beat()
	}
	return p.wait(tid)
}

// beat has waits be interrupted now and then, from the first one on that may last for ever.
func (p *Process) beat() {
	if p.still == nil && install() {
		p.still = interrupt(50*time.Millisecond, func() {})
	}
}

// gone reports whether a thread is the first one and has ended, while others live.
func (p *Process) gone(tid int) bool {
	if tid != p.Pid {
		return false
	}
	state := field(p.state(), "State")
	return state != "" && state[0] == 'Z'
}
