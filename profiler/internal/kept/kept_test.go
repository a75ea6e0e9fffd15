package kept

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profiler/internal/pack"
)

func write(name, text string) {
	Write(name, func(w *pack.Writer) { w.Bytes([]byte(text)) })
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	r := &pack.Reader{B: b}
	return string(r.Bytes())
}

// What is kept is found again, the newest; what is broken or may be somebody else's is not
// taken (the analyses' own test tries more of these).
func TestKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "new", "directory", "file")
	if _, err := Read(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
	for _, text := range []string{"one", "another", ""} {
		write(name, text)
		for range 2 {
			if got := read(t, name); got != text {
				t.Errorf("%q comes back as %q", text, got)
			}
		}
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string][]byte{"short": b[:len(b)-1], "longer": append(b, 0), "empty": nil, "of three bytes": b[:3]} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(name); err == nil {
			t.Errorf("taken although it is %s", what)
		}
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(name); err == nil {
		t.Error("taken although others may read it")
	}
}

// A file has another stamp when it is another one; a file that is not there has none.
func TestStamp(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if Stamp(name) != "" {
		t.Error("a file that is not there has a stamp")
	}
	write(name, "one")
	first := Stamp(name)
	if first == "" || Stamp(name) != first {
		t.Errorf("stamps %q and %q", first, Stamp(name))
	}
	write(name, "two")
	if Stamp(name) == first {
		t.Error("another file has the same stamp")
	}
}

// Files that were not used for longest go when there are too many bytes of them; that one
// was used is noted, not too often.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-100 * time.Hour)
	for i, name := range []string{"old", "used", "new"} {
		name = filepath.Join(dir, name)
		write(name, "text")
		if err := os.Truncate(name, most/2-4096); err != nil { // a hole
			t.Fatal(err)
		}
		if i < 2 {
			if err := os.Chtimes(name, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	Used(filepath.Join(dir, "used"))
	Used(filepath.Join(dir, "none"))
	left := filepath.Join(dir, ".new-left")
	write(left, "by a run that was killed")
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "another"), "within the hour")
	if _, err := os.Stat(filepath.Join(dir, "old")); err != nil {
		t.Errorf("swept at each file that is written: %v", err)
	}
	if err := os.Chtimes(filepath.Join(dir, swept), old, old); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "another"), "later")
	for name, want := range map[string]bool{"old": false, "used": true, "new": true, "another": true, ".new-left": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestName(t *testing.T) {
	name := Name("/d", "places", "a", "b")
	if !strings.HasPrefix(name, "/d/places-") || name != Name("/d", "places", "a", "b") {
		t.Errorf("name %q", name)
	}
	for _, other := range []string{Name("/d", "places", "ab"), Name("/d", "places", "a"), Name("/d", "calls", "a", "b"), Name("/e", "places", "a", "b")} {
		if other == name {
			t.Errorf("two names are %q", name)
		}
	}
	if Name("", "places", "a") != "" || Name("/d", "places", "a", "") != "" {
		t.Error("a name where there is none")
	}
}
