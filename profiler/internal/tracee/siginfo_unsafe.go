package tracee

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// siginfo is a siginfo_t: signal, errno and code as int32, then what depends
// on the signal; of a fault its address, at byte 16.
type siginfo [128]byte

func (i *siginfo) code() int32   { return *(*int32)(unsafe.Pointer(&i[8])) }
func (i *siginfo) addr() *uint64 { return (*uint64)(unsafe.Pointer(&i[16])) }

// ptraceAt is ptrace with memory of ours, which must not move before the kernel
// has it: only an argument of the system call itself is safe from a stack that grows.
func ptraceAt(req, tid int, addr uintptr, data unsafe.Pointer) error {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(req), uintptr(tid), addr, uintptr(data), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

func (i *siginfo) get(tid int) error {
	return ptraceAt(unix.PTRACE_GETSIGINFO, tid, 0, unsafe.Pointer(i))
}

func (i *siginfo) set(tid int) error {
	return ptraceAt(unix.PTRACE_SETSIGINFO, tid, 0, unsafe.Pointer(i))
}

// byKernel reports whether the kernel raised the signal, and not somebody who sent it.
func (i *siginfo) byKernel() bool { return i.code() > 0 } // SI_KERNEL, TRAP_BRKPT, SEGV_MAPERR …; SI_USER and the like are ≤ 0

// trapped reports whether a thread's SIGTRAP comes from an int3 or a single
// step, and not from somebody who sent the signal, whose it stays.
func trapped(tid int) bool {
	var info siginfo
	return info.get(tid) != nil || info.byKernel()
}

// stepped reports whether a thread's trap is the end of a step, of one
// instruction or to an address.
func stepped(tid int) bool {
	const trapTrace, trapHWBreakpoint = 2, 4
	var info siginfo
	return info.get(tid) == nil && (info.code() == trapTrace || info.code() == trapHWBreakpoint)
}

// mask reads the signals that a stopped thread has blocked; setMask sets them.
func mask(tid int) (m uint64, err error) {
	err = ptraceAt(unix.PTRACE_GETSIGMASK, tid, unsafe.Sizeof(m), unsafe.Pointer(&m))
	return m, err
}

func setMask(tid int, m uint64) error {
	return ptraceAt(unix.PTRACE_SETSIGMASK, tid, unsafe.Sizeof(m), unsafe.Pointer(&m))
}

// peekUser reads a word of a stopped thread's struct user.
func peekUser(tid int, at uintptr) (v uint64, err error) {
	err = ptraceAt(unix.PTRACE_PEEKUSR, tid, at, unsafe.Pointer(&v))
	return v, err
}

// quiet asks for no SIGCHLD at stops: wait4 tells them. The Go runtime has a
// handler for it, which would run at each stop, and wake a thread for that.
// SIGCHLD at ends stays, and what the program gets of its own children.
var quiet = sync.OnceFunc(func() {
	const noStops = 1 // SA_NOCLDSTOP
	var action struct{ handler, flags, restorer, mask uint64 }
	size := unsafe.Sizeof(action.mask)
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), 0, uintptr(unsafe.Pointer(&action)), size, 0, 0)
	if e == 0 && action.flags&noStops == 0 {
		action.flags |= noStops
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(unsafe.Pointer(&action)), 0, size, 0, 0)
	}
})
