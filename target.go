package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// program finds the program as a shell would.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	var ee *exec.Error
	if errors.As(err, &ee) {
		err = ee.Err
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	info, statErr := os.Stat(name)
	switch {
	case statErr == nil && info.IsDir():
		return "", fmt.Errorf("run %s: it is a directory; name the program in it", name)
	case statErr == nil && !strings.Contains(name, "/"):
		return "", fmt.Errorf("run %s: not found in PATH; the one in this directory is ./%s", name, name)
	case errors.Is(err, exec.ErrNotFound) && !strings.Contains(name, "/"):
		return "", fmt.Errorf("run %s: not found in PATH; give its path", name)
	case errors.Is(err, fs.ErrNotExist), errors.Is(statErr, fs.ErrNotExist):
		return "", fmt.Errorf("run %s: there is no such file; check the path, or build it first", name)
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("run %s: it is not executable; chmod +x it, if it is a program", name)
	}
	return "", fmt.Errorf("run %s: %w", name, err)
}

// signals by number, as in signal(7) for x86-64.
var signals = strings.Fields("0 SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 " +
	"SIGPIPE SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO SIGPWR SIGSYS")

// targetStatus is the target's exit status as a shell reports it: 128 and the
// signal's number when a signal ended it.
func targetStatus(r profile.Run) int {
	if r.Signal == "" {
		return r.ExitCode
	}
	for n, name := range signals {
		if name == r.Signal {
			return 128 + n
		}
	}
	return 128
}
