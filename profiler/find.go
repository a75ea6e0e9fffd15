package profiler

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Find returns the absolute path of a program as a shell in dir would find it:
// a name alone is looked for in PATH. An empty dir is the present directory.
func Find(name, dir string) (string, error) {
	plain := !strings.Contains(name, "/")
	dir, err := filepath.Abs(dir)
	if err != nil && !plain && !filepath.IsAbs(name) {
		return "", fmt.Errorf("run %s: the present directory is gone; go to another one", name)
	}
	here := name
	if !filepath.IsAbs(name) {
		here = filepath.Join(dir, name)
	}
	at := here
	if plain {
		at = name
	}
	path, err := exec.LookPath(at)
	if err == nil {
		return filepath.Abs(path)
	}
	var ee *exec.Error
	if errors.As(err, &ee) {
		err = ee.Err
	}
	info, statErr := os.Stat(here)
	switch {
	case statErr == nil && info.IsDir():
		return "", fmt.Errorf("run %s: it is a directory; name the program in it", name)
	case statErr == nil && plain:
		return "", fmt.Errorf("run %s: not found in PATH; the one in this directory is ./%s", name, name)
	case quoted(name, dir):
		program, _, _ := strings.Cut(name, " ")
		return "", fmt.Errorf("run %s: there is no such file, but %s is; its arguments stand outside of its quotes", strconv.Quote(name), program)
	case plain:
		return "", fmt.Errorf("run %s: not found in PATH; give its path", name)
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("run %s: there is no such file; check the path, or build it first", name)
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("run %s: it is not executable; chmod +x it, if it is a program", name)
	}
	return "", fmt.Errorf("run %s: %w", name, err)
}

// quoted reports whether a name that no file has is a program and its arguments, in one word
// for the quotes around them.
func quoted(name, dir string) bool {
	program, _, more := strings.Cut(name, " ")
	if !more {
		return false
	}
	_, err := Find(program, dir)
	return err == nil
}
