// Package atomicfile writes files whole or not at all: beside their place,
// then renamed. A full disk, a crash or a second writer leaves neither half a
// file nor a lost old one. Its errors say in one line what failed on which
// file, and the fix.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Temporary begins the names of files that are being written. One that a
// killed process left may be removed.
const Temporary = ".new-"

// Write writes a file with the permissions that it has, or a new file would
// get. A signal that ends the process meanwhile leaves nothing beside it. What is
// not a regular file (a terminal, a pipe) is written to directly.
func Write(name string, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return Error("write", name, err)
		}
		return Error("write", name, fill(f, write))
	}
	mode := os.FileMode(0o666)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := beside(name, mode)
	if err != nil {
		return Error("write", name, err)
	}
	defer orEndedWithout(f.Name())()
	return replace(name, f, write)
}

// WritePrivate writes a file that only the user may read.
func WritePrivate(name string, write func(io.Writer) error) error {
	f, err := beside(name, 0o600)
	if err != nil {
		return Error("write", name, err)
	}
	return replace(name, f, write)
}

// replace writes a file that is open beside its place, and puts it there.
func replace(name string, f *os.File, write func(io.Writer) error) error {
	err := fill(f, write)
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return Error("write", name, err)
}

// fill writes into an open file and closes it.
func fill(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// beside creates a temporary file in the directory of name.
func beside(name string, mode os.FileMode) (*os.File, error) {
	dir, base := filepath.Split(name)
	for i := 0; ; i++ {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%s%s.%d-%d", Temporary, base, os.Getpid(), i)), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if err == nil || !errors.Is(err, fs.ErrExist) || i > 100 {
			return f, err
		}
	}
}

// Writable tries whether a file could be written, before a long run whose
// result it is to hold.
func Writable(name string) error {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		return Error("write", name, syscall.EISDIR)
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil
	}
	f, err := beside(name, 0o600)
	if err != nil {
		return Error("write", name, err)
	}
	f.Close()
	os.Remove(f.Name())
	return nil
}

// Error says what ("read", "write") failed on which file, why, and the fix
// where there is one; nil when nothing did.
func Error(what, name string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		err = le.Err
	}
	fix := ""
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		fix = "; make room, or choose another place"
	case errors.Is(err, fs.ErrNotExist):
		fix = "; check the path"
		if what == "write" {
			fix = "; create its directory first"
		}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		fix = "; choose a place you may " + what
	}
	return fmt.Errorf("%s %s: %w%s", what, name, err, fix)
}
