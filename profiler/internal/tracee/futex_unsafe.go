package tracee

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Wake lets all threads of the target go on that wait on a word of memory which
// it shares with us (futex).
func Wake(word *uint32) {
	const wake, all = 1, 1 << 30
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), wake, all, 0, 0, 0)
}

// Await waits until a word that is 0 is woken, or for some time. The kernel may
// be late by a microsecond: it is the thread that this is called on that it may
// not keep longer.
func Await(word *uint32, most time.Duration) {
	const wait = 0
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
	t := unix.NsecToTimespec(int64(most))
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), wait, 0, uintptr(unsafe.Pointer(&t)), 0, 0)
}
