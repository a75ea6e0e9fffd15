package cli

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func init() { examples = os.DirFS("../..") }

func TestExamplesAreMarked(t *testing.T) {
	for _, name := range exampleNames() {
		text, err := fs.ReadFile(examples, "examples/"+name+".c")
		if err != nil {
			t.Fatal(err)
		}
		planted := map[string]int{"radix": 2, "balanced": 0}
		want, special := planted[name]
		if !special {
			want = 1
		}
		if n := bytes.Count(text, []byte("/* PLANTED")); n != want {
			t.Errorf("%s.c: %d lines are marked PLANTED, want %d", name, n, want)
		}
		if n := bytes.Count(text, []byte("/* SECTION */")); n != 1 {
			t.Errorf("%s.c: %d lines are marked SECTION, want 1", name, n)
		}
		readme, err := os.ReadFile("../../examples/README.md")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(readme, []byte("`"+name+".c`")) {
			t.Errorf("examples/README.md does not mention %s.c", name)
		}
	}
}

// The mend must not change what a program computes.
func TestExamplesComputeTheSameWithTheMend(t *testing.T) {
	cc, err := compiler()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	for _, name := range exampleNames() {
		t.Run(name, func(t *testing.T) {
			want := ""
			for _, mend := range []string{"-UFIXED", "-DFIXED"} {
				exe := filepath.Join(dir, name+mend)
				args := append(cc[1:len(cc):len(cc)], "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", mend, "../../examples/"+name+".c", "-o", exe)
				if out, err := exec.Command(cc[0], args...).CombinedOutput(); err != nil {
					t.Fatalf("compile with %s: %v\n%s", mend, err, out)
				}
				out, err := exec.Command(exe, "3", "1").Output()
				if err != nil {
					t.Fatalf("run with %s: %v", mend, err)
				}
				if !strings.HasPrefix(string(out), "checksum ") {
					t.Errorf("with %s it prints %q", mend, out)
				}
				if want == "" {
					want = string(out)
				} else if string(out) != want {
					t.Errorf("with %s: %q, without: %q", mend, out, want)
				}
			}
		})
	}
}
