package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/kept"
)

// TestSurvey: what is kept of the C library is what is found in it; of a
// library that has changed, or a file that is broken, it is found anew.
func TestSurvey(t *testing.T) {
	const libc = "/lib/x86_64-linux-gnu/libc.so.6"
	whole, err := os.ReadFile(libc)
	if err != nil {
		t.Fatal(err)
	}
	lib, dir := filepath.Join(t.TempDir(), "libc.so.6"), t.TempDir()
	if err := os.WriteFile(lib, whole, 0o755); err != nil {
		t.Fatal(err)
	}
	made, err := surveyOf(lib, dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(made.timed) < 50 || len(made.guards) == 0 {
		t.Errorf("%d system calls are timed and %d guarded", len(made.timed), len(made.guards))
	}
	name := surveyName(lib, dir)
	b, err := kept.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	restored, err := unpackSurvey(lib, b)
	if err != nil || !reflect.DeepEqual(made, restored) {
		t.Errorf("another survey comes back: %v", err)
	}
	for n := range min(len(b), 2000) {
		if _, err := unpackSurvey(lib, b[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are taken", n, len(b))
		}
	}
	im, err := image.OpenLibrary(lib)
	if err != nil {
		t.Fatal(err)
	}
	for at := im.Lowest; at < im.Highest; at += 7 {
		name := ""
		if f := im.FuncAt(at); f != nil {
			name = f.Name
		}
		if got := restored.nameAt(at); got != name {
			t.Fatalf("at %#x is %q, want %q", at, got, name)
		}
	}
	if err := os.WriteFile(name, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := surveyOf(lib, dir); err != nil || !reflect.DeepEqual(made, again) {
		t.Errorf("from a broken file: %v", err)
	}
	if out, err := exec.Command("touch", "-d", "yesterday", lib).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if surveyName(lib, dir) == name {
		t.Error("a file that has changed is taken for the one before")
	}
	if _, err := surveyOf(filepath.Join(dir, "none"), dir); err == nil {
		t.Error("a library that is not there")
	}
}
