package tracee

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalName is a signal's name, as "SIGSEGV".
func SignalName(s syscall.Signal) string {
	if n := unix.SignalName(s); n != "" {
		return n
	}
	return s.String()
}

// InForeground reports whether this process's group is the one that the
// controlling terminal sends its signals to.
func InForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	pg, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && pg == unix.Getpgrp()
}
