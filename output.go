package main

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

// writeFile writes a file whole or not at all: beside its place, then renamed,
// so that a full disk leaves neither half a file nor a lost old one. What is
// not a regular file (a terminal, a pipe) is written to directly.
func writeFile(name string, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return writeThrough(name, write)
	}
	f, err := beside(name)
	if err != nil {
		return err
	}
	err = buffered(f, write)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
		return fileError("write", name, err)
	}
	return nil
}

func writeThrough(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return fileError("write", name, err)
	}
	err = buffered(f, write)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fileError("write", name, err)
	}
	return nil
}

func buffered(f io.Writer, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// beside opens a temporary file in the directory of name, with the permissions
// that name has or a new file would get.
func beside(name string) (*os.File, error) {
	mode := os.FileMode(0o666)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	dir, base := filepath.Split(name)
	for i := 0; ; i++ {
		tmp := filepath.Join(dir, fmt.Sprintf(".%s.%d-%d", base, os.Getpid(), i))
		f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) || i > 100 {
			return nil, fileError("write", name, err)
		}
	}
}

// writable tries whether a file could be written, before a long run whose
// result it is to hold.
func writable(name string) error {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		return fileError("write", name, syscall.EISDIR)
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil
	}
	f, err := beside(name)
	if err != nil {
		return err
	}
	f.Close()
	os.Remove(f.Name())
	return nil
}

// fileError says what failed on which file, why, and the mend where there is one.
func fileError(what, name string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		err = le.Err
	}
	mend := ""
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		mend = "; make room, or choose another place"
	case errors.Is(err, fs.ErrNotExist):
		mend = "; check the path"
		if what == "write" {
			mend = "; create its directory first"
		}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		mend = "; choose a place you may " + what
	}
	return fmt.Errorf("%s %s: %w%s", what, name, err, mend)
}
