package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
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
	return usageError("%w: see skewlens help %s", err, fs.Name())
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
