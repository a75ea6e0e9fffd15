package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// lines is a source tree of two files.
type lines map[string]string

func (l lines) Line(file string, line int) (string, bool, bool) {
	s, ok := l[filepath.Base(file)]
	return s, filepath.Base(file) == "radix.cc", ok
}

var sources = lines{
	"owner.c":  "\t\tif (owner(s, i, j) == me->id)  // 所有者 decides, and this comment goes on and on and on",
	"radix.cc": "\twhile (\x1b[31moffset != 0)",
}

func scenes() map[string]func() (*profile.Profile, Analyse) {
	return map[string]func() (*profile.Profile, Analyse){"owner": owner, "mixed": mixed}
}

func made(t *testing.T, f func() (*profile.Profile, Analyse)) *Report {
	t.Helper()
	p, a := f()
	r, err := New(p, Options{Analyse: a})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -run %s -update writes it anew):\n%s", file, t.Name(), got)
	}
}

func TestGoldenJSON(t *testing.T) {
	for name, f := range scenes() {
		var b bytes.Buffer
		if err := WriteJSON(&b, made(t, f)); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", b.Bytes())
	}
}

func TestGoldenText(t *testing.T) {
	for _, c := range []struct {
		name  string
		scene func() (*profile.Profile, Analyse)
		opt   TextOptions
	}{
		{"owner.txt", owner, TextOptions{Dir: "/src", Source: sources}},
		{"owner-narrow-color.txt", owner, TextOptions{Dir: "/src", Source: sources, Width: 44, Color: true}},
		{"mixed.txt", mixed, TextOptions{Source: sources, Width: 80}},
	} {
		var b bytes.Buffer
		if err := WriteText(&b, made(t, c.scene), c.opt); err != nil {
			t.Fatal(err)
		}
		golden(t, c.name, b.Bytes())
	}
}
