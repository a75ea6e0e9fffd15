package tracee

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// trapped reports whether a thread's SIGTRAP comes from an int3 or a single
// step, and not from somebody who sent the signal, whose it stays.
func trapped(tid int) bool {
	var info [128]byte // siginfo_t: signo, errno, code as int32
	if err := ptrace(unix.PTRACE_GETSIGINFO, tid, 0, uintptr(unsafe.Pointer(&info))); err != nil {
		return true
	}
	code := *(*int32)(unsafe.Pointer(&info[8]))
	return code > 0 // SI_KERNEL, TRAP_BRKPT, TRAP_TRACE; SI_USER and the like are ≤ 0
}
