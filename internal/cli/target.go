package cli

import (
	"strings"

	"github.com/skewlens/skewlens/profile"
)

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
