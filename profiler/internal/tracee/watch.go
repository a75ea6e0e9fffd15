package tracee

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Threads can be left alone: who makes them so has the kernel not tell
// (CLONE_UNTRACED). They are traced later, or when they ask.

// Traced reports whether a thread is one that we trace.
func (p *Process) Traced(tid int) bool { return p.threads[tid] }

// Tasks are all threads that there are, traced or not.
func (p *Process) Tasks() (tids []int, err error) {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.Pid))
	for _, x := range list {
		if tid, err := strconv.Atoi(x.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, err
}

// Watch traces a thread that is not traced, and does not stop it.
func (p *Process) Watch(tid int) error {
	if err := ptrace(unix.PTRACE_SEIZE, tid, 0, options); err != nil {
		return err
	}
	p.threads[tid] = true
	return nil
}

// Adopt traces a stopped thread, which has asked to be traced (PTRACE_TRACEME),
// as all others are. It goes on meanwhile.
func (p *Process) Adopt(tid int) error {
	delete(p.threads, tid)
	if err := ptrace(unix.PTRACE_DETACH, tid, 0, 0); err != nil {
		return err
	}
	return p.Watch(tid)
}

// Handles reports whether the process has a handler for any signal, but for the
// one by which the C library has all threads change their user: it looks at
// nothing, and comes back.
func (p *Process) Handles() bool {
	const setxid = unix.Signal(33)
	return p.signals().caught&^bit(setxid) != 0
}

// Filtered reports whether the process may not make all system calls (seccomp).
func (p *Process) Filtered() bool { return number(p.state(), "Seccomp") != 0 }

// SetsGS reports whether threads may set GS by an instruction (FSGSBASE).
func (p *Process) SetsGS() bool {
	const fsgsbase = 1 << 1
	caps, err := p.Auxv(auxHWCap2)
	return err == nil && caps&fsgsbase != 0
}
