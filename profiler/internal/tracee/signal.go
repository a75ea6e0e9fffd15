package tracee

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// SignalName is a signal's name, as "SIGSEGV".
func SignalName(s syscall.Signal) string {
	if n := unix.SignalName(s); n != "" {
		return n
	}
	return s.String()
}

// Withstands reports whether a process that a signal was sent to is there
// though it should have ended: it does nothing about it, or cannot get it.
func Withstands(pid int, s syscall.Signal) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || field(b, "CoreDumping") == "1" {
		return false
	}
	in := func(name string) bool {
		set, err := strconv.ParseUint(field(b, name), 16, 64)
		return err == nil && set&bit(s) != 0
	}
	if in("SigPnd") || in("ShdPnd") {
		return !in("SigBlk") || halted(pid) // as where it was stopped while it makes a thread
	}
	return !in("SigCgt") && !in("SigIgn") && !in("SigBlk")
}

// halted reports whether none of a process's threads runs, or waits for anything but to be let
// go on: what it blocks it cannot take either. A thread that we look at stands still only
// for a moment.
func halted(pid int) bool {
	for range 5 {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		for _, status := range tasks {
			b, err := os.ReadFile(status)
			if state := strings.ToLower(field(b, "State")); err == nil && !strings.HasPrefix(state, "t") {
				return false
			}
		}
		if len(tasks) == 0 {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
	return true
}

// field is one of a process's status.
func field(status []byte, name string) string {
	_, line, _ := strings.Cut(string(status), "\n"+name+":\t")
	line, _, _ = strings.Cut(line, "\n")
	return line
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
