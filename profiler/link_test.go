package profiler_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// A program that is called by a link, or in a folder that is one, meets where it
// meets otherwise: the kernel names it by another path than the caller.
func TestCalledByALink(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-g", "-pthread", filepath.Join("testdata", "joined.c"))
	dir := t.TempDir()
	for from, to := range map[string]string{"program": prog, "folder": filepath.Dir(prog)} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	want := run(t, prog)
	if len(want.Sections) != 1 || want.Sections[0].Kind != "join" {
		t.Fatalf("the program itself: %+v", want.Sections)
	}
	for _, path := range []string{filepath.Join(dir, "program"), filepath.Join(dir, "folder", filepath.Base(prog))} {
		got := run(t, path)
		if len(got.Sections) != 1 || got.Sections[0].Kind != "join" || got.Sections[0].Site != want.Sections[0].Site || got.Program.Path != path {
			t.Errorf("%s: %+v of %s", path, got.Sections, got.Program.Path)
		}
	}
}
