package tracee

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Libraries' constructors run before the program's first instruction, and may
// start threads, fork and start programs.

// breakpoint is an int3 at an address that only the first thread comes to, in
// its own process or in a child that has copied it.
type breakpoint struct {
	addr uint64 // 0: none was set
	old  [1]byte
}

var int3 = []byte{0xcc}

// plant has the first thread stop at an address.
func (p *Process) plant(addr uint64) error {
	p.planted = breakpoint{addr: addr}
	if err := p.Read(p.planted.old[:], addr); err != nil {
		return err
	}
	return p.Write(int3, addr)
}

// arrived reports whether a thread has trapped there, which is then as it was.
func (p *Process) arrived(tid int) (bool, error) {
	b := p.planted
	if pc, err := p.PC(tid); err != nil || tid != p.Pid || pc != b.addr+1 {
		return false, nil
	}
	if err := p.SetPC(tid, b.addr); err != nil {
		return false, err
	}
	return true, p.Write(b.old[:], b.addr)
}

// uproot takes the breakpoint out of a child that may have copied it: it runs
// on alone. A child that shares the memory (vfork) does not come there, and what is
// written for it is written for the first thread, which could pass meanwhile.
func (p *Process) uproot(child int) {
	b := p.planted
	var now, is [1]byte
	if b.addr == 0 || sharesMemory(p.Pid, child) || p.Read(now[:], b.addr) != nil || peek(child, is[:], b.addr) != nil || is != [1]byte(int3) {
		return
	}
	if Poke(child, b.old[:], b.addr) == nil && p.Read(is[:], b.addr) == nil && is != now {
		p.Write(now[:], b.addr) // it does, and the kernel could not tell
	}
}

// sharesMemory reports whether two processes have one memory, as far as the kernel
// tells.
func sharesMemory(a, b int) bool {
	const kcmpVM = 1
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpVM, 0, 0, 0)
	return errno == 0 && order == 0
}

// StopOthers stops all threads but the first one, which is stopped. Wait tells
// what they stopped for.
func (p *Process) StopOthers() error {
	running := map[int]bool{}
	for tid := range p.threads {
		if tid != p.Pid {
			running[tid] = true
			ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0)
		}
	}
	for len(running) > 0 {
		e, err := p.wait(-1)
		if err != nil {
			return err
		}
		if e.Kind == NewChild {
			err = p.Detach(e.Tid)
		} else {
			p.pending = append(p.pending, e) // any stop takes the interruption back
			delete(running, e.Tid)
		}
		if child := p.expect(e); child != 0 {
			running[child] = true
		}
		if err != nil {
			return err
		}
		if e.Kind == Gone && e.Tid == p.Pid {
			return e.err()
		}
	}
	return nil
}

// expect notes the thread that an event announces, unless it is known; 0: none.
func (p *Process) expect(e Event) int {
	if e.Kind != Cloned {
		return 0
	}
	child, thread, err := p.Child(e.Tid)
	if err != nil || !thread || p.threads[child] {
		return 0
	}
	p.threads[child] = true
	return child
}

// Others are the threads but the first one.
func (p *Process) Others() (tids []int) {
	for tid := range p.threads {
		if tid != p.Pid {
			tids = append(tids, tid)
		}
	}
	slices.Sort(tids)
	return tids
}
