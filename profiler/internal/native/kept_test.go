package native

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe"
)

// TestKeptAnalysis: what is kept is found again with the same options for the
// same program, and by no other; what is broken or may be somebody else's is
// not taken.
func TestKeptAnalysis(t *testing.T) {
	im, err := image.Open("/bin/bash")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new", "directory")
	a, err := analyse(im, options{}, "")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, analysisName(im, options{}))
	keep(name, a.spec, a.code)
	found := func(opt options) bool {
		t.Helper()
		a, err := analyse(im, opt, dir)
		if err != nil {
			t.Fatal(err)
		}
		return a.restored
	}
	if !found(options{}) {
		t.Fatal("not found again")
	}
	if found(options{probe: probe.Options{NoTree: true}}) {
		t.Error("found for other options")
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func() error{
		"readable by others": func() error { return os.Chmod(name, 0o644) },
		"cut short":          func() error { return os.Truncate(name, int64(len(whole)/2)) },
		"empty":              func() error { return os.Truncate(name, 0) },
		"with one byte changed": func() error {
			b := append([]byte(nil), whole...)
			b[len(b)/3]++
			return os.WriteFile(name, b, 0o600)
		},
		"a symbolic link": func() error {
			os.Remove(name)
			other := filepath.Join(dir, "other")
			if err := os.WriteFile(other, whole, 0o600); err != nil {
				return err
			}
			return os.Symlink(other, name)
		},
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if found(options{}) {
			t.Errorf("taken although %s", what)
		}
		os.Remove(name)
		if err := os.WriteFile(name, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if !found(options{}) {
			t.Errorf("not taken when whole again, after %s", what)
		}
	}
}
