package tracee

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Wake lets all threads of the target go on that wait on a word of memory which
// it shares with us (futex).
func Wake(word *uint32) {
	const wake, all = 1, 1 << 30
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), wake, all, 0, 0, 0)
}
