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
