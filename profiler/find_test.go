package profiler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFindFromNowhere: where the present directory is gone what is named by its path, or in
// PATH, is found, and what is beside it is not, in words.
func TestFindFromNowhere(t *testing.T) {
	prog := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(prog, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	gone := t.TempDir()
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(prog))
	for _, name := range []string{prog, "prog"} {
		if got, err := Find(name, ""); got != prog || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := Find("./prog", ""); err == nil || !strings.Contains(err.Error(), "directory is gone") {
		t.Errorf("./prog: %v", err)
	}
}

// TestFindQuoted: who puts quotes around a program and its arguments is told to leave them out.
func TestFindQuoted(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prog"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, name := range []string{"./prog 8", "prog 8", dir + "/prog 8 in.txt"} {
		if _, err := Find(name, dir); err == nil || !strings.Contains(err.Error(), "outside of its quotes") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"./other 8", "other 8", "./prog"} {
		if _, err := Find(name, dir); err != nil && strings.Contains(err.Error(), "quotes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
