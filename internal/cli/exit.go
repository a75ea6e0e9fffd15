package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// Exit statuses, beside the target's own with --propagate.
const (
	exitUsage  = 1 // the command line is wrong
	exitFailed = 2 // the target could not be profiled, a file not read or written
	exitAbove  = 3 // imbalance above --fail-above
)

// exitError ends the program with a status; without an error, silently.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// errHelp: the user asked for help with a flag.
var errHelp = errors.New("help")

// parse reads flags; its errors are usage errors.
func parse(fs *flag.FlagSet, args []string) error {
	fs.SetOutput(io.Discard)
	err := fs.Parse(args)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, flag.ErrHelp):
		return errHelp
	}
	return usageError("%s: see skewlens help %s", saysWanted(err.Error()), fs.Name())
}

// saysWanted says what a value is to be, of which package flag says but "parse error".
func saysWanted(s string) string {
	what := ": want a number, and nothing behind it"
	if strings.HasPrefix(s, "invalid boolean") {
		what = ": want true or false"
	}
	if said, ok := strings.CutSuffix(s, ": parse error"); ok {
		return said + what
	}
	return s
}

// parseAll reads flags that may stand behind the files, too: a command that hands on no
// arguments can only mean itself by them, and who forgot the format types it at the end.
func parseAll(fs *flag.FlagSet, args []string) error {
	var files []string
	for {
		if err := parse(fs, args); err != nil {
			return err
		}
		read := len(args) - fs.NArg()
		if fs.NArg() == 0 || read > 0 && args[read-1] == "--" {
			return parse(fs, append(append([]string{"--"}, files...), fs.Args()...))
		}
		files, args = append(files, fs.Arg(0)), fs.Args()[1:]
	}
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
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
