package source

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.c")
	if err := os.WriteFile(name, []byte("one\ntwo\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	changed := time.Unix(1000, 0)
	if err := os.Chtimes(name, changed, changed); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		built time.Time
		stale bool
	}{{time.Unix(2000, 0), false}, {time.Unix(500, 0), true}, {time.Time{}, false}} {
		src := &Files{Built: c.built}
		if text, stale, ok := src.Line(name, 2); text != "two" || stale != c.stale || !ok {
			t.Errorf("built %v: %q, stale %v, ok %v, want two, %v, true", c.built, text, stale, ok, c.stale)
		}
	}
	src := &Files{}
	for _, c := range []struct {
		file string
		line int
	}{{name, 0}, {name, 3}, {name + ".gone", 1}, {filepath.Dir(name), 1}} {
		if _, _, ok := src.Line(c.file, c.line); ok {
			t.Errorf("%s:%d is said to exist", c.file, c.line)
		}
	}
}
