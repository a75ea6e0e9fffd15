package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/internal/atomicfile"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func TestWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	if err := atomicfile.Write(name, text("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	full := errors.New("it is full")
	err := atomicfile.Write(name, func(w io.Writer) error { fmt.Fprint(w, strings.Repeat("two", 1<<17)); return full })
	if !errors.Is(err, full) || !strings.Contains(err.Error(), name) {
		t.Errorf("error %v", err)
	}
	if b, _ := os.ReadFile(name); string(b) != "one" {
		t.Errorf("a failed write left %.20q", b)
	}
	if err := atomicfile.Write(name, text("three")); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(name); info.Mode().Perm() != 0o640 {
		t.Errorf("its permissions became %v", info.Mode())
	}
	if err := atomicfile.WritePrivate(name, text("four")); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(name); info.Mode().Perm() != 0o600 {
		t.Errorf("a private file has %v", info.Mode())
	}
	if err := atomicfile.Writable(name); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFixes(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		err  error
		want string
	}{
		{atomicfile.Write(filepath.Join(dir, "no", "f"), text("")), "create its directory first"},
		{atomicfile.Writable(filepath.Join(dir, "no", "f")), "create its directory first"},
		{atomicfile.Writable(dir), "is a directory"},
		{atomicfile.Error("read", "f", os.ErrNotExist), "check the path"},
		{atomicfile.Error("read", "f", os.ErrPermission), "choose a place you may read"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || strings.Contains(c.err.Error(), "\n") {
			t.Errorf("%v, want %q in it", c.err, c.want)
		}
	}
	if err := atomicfile.Write(os.DevNull, text("gone")); err != nil {
		t.Error(err)
	}
	if err := atomicfile.Writable(os.DevNull); err != nil {
		t.Error(err)
	}
}
