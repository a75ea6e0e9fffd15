package image

import (
	"errors"
	"fmt"
)

// Reason says in one word why a file is no program that can be profiled, for
// callers that fix it or word it for their own user.
type Reason uint8

const (
	NotFound      Reason = iota + 1 // no such file
	Unreadable                      // it is there and cannot be read
	IsDirectory                     // a directory, device, socket …
	NotExecutable                   // a program without execute permission
	Empty                           // no bytes
	Script                          // #! and text: the interpreter is the program
	NotELF                          // anything else
	Bits32                          // a 32-bit program (x32 included)
	ForeignArch                     // another CPU's
	BigEndian
	NotProgram // a core dump, an object file, a shared library
	Truncated  // shorter than its own headers say
	Malformed  // headers that contradict themselves
	TooHigh    // linked at addresses that a profile has no room for
)

// Error is why Open refused a file: what, on what, and what to do about it.
type Error struct {
	Reason Reason
	Path   string
	What   string // what is wrong
	Fix    string // what the user can do; may be empty
	Err    error  // what the system or debug/elf said; may be nil
}

// Error is one line.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s", e.Path, e.What)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// IsScript reports whether Open refused a script.
func IsScript(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Reason == Script
}

// Unwrap gives the underlying error, so that errors.Is(err, fs.ErrNotExist) holds.
func (e *Error) Unwrap() error { return e.Err }
