package examples

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

var all = Set{FS: os.DirFS("../..")}

func TestExamplesAreMarked(t *testing.T) {
	readme, err := os.ReadFile("../../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(all.Names()); n < 11 {
		t.Errorf("%d examples", n)
	}
	for _, name := range all.Names() {
		text, err := all.Source(name)
		if err != nil {
			t.Fatal(err)
		}
		planted := map[string]int{"radix": 2, "balanced": 0}
		want, special := planted[name]
		if !special {
			want = 1
		}
		if n := strings.Count(text, "/* PLANTED"); n != want {
			t.Errorf("%s.c: %d lines are marked PLANTED, want %d", name, n, want)
		}
		if n := strings.Count(text, "/* SECTION */"); n != 1 {
			t.Errorf("%s.c: %d lines are marked SECTION, want 1", name, n)
		}
		if !strings.Contains(string(readme), "`"+name+".c`") {
			t.Errorf("examples/README.md does not mention %s.c", name)
		}
	}
}

// The fix must not change what a program computes.
func TestExamplesComputeTheSameWithTheFix(t *testing.T) {
	cc, err := FindCompiler()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := all.Unpack(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range all.Names() {
		t.Run(name, func(t *testing.T) {
			want := ""
			for _, variant := range []string{"-UFIXED", "-DFIXED"} {
				out := name + variant
				if err := cc.Build(context.Background(), dir, name, out, "-Wall", "-Wextra", "-Werror", variant); err != nil {
					t.Fatalf("with %s: %v", variant, err)
				}
				sum, err := exec.Command(filepath.Join(dir, out), "3", "1").Output()
				if err != nil {
					t.Fatalf("run with %s: %v", variant, err)
				}
				if !strings.HasPrefix(string(sum), "checksum ") {
					t.Errorf("with %s it prints %q", variant, sum)
				}
				if want == "" {
					want = string(sum)
				} else if string(sum) != want {
					t.Errorf("with %s: %q, without: %q", variant, sum, want)
				}
			}
		})
	}
}

func TestSet(t *testing.T) {
	s := Set{FS: fstest.MapFS{
		"examples/two.c":     {Data: []byte("/* The second.\n * More. */\n")},
		"examples/one.c":     {Data: []byte("/* The first. */\n")},
		"examples/both.h":    {Data: []byte("int both;\n")},
		"examples/README.md": {Data: []byte("not a program")},
	}}
	if got := strings.Join(s.Names(), " "); got != "one two" {
		t.Errorf("names %q", got)
	}
	if about, err := s.About("two"); err != nil || about != "The second." {
		t.Errorf("about %q, %v", about, err)
	}
	if _, err := s.About("three"); err == nil {
		t.Error("a program that is not there is about something")
	}
	if !s.Has("one") || s.Has("both") || s.Has("") {
		t.Error("the wrong programs are there")
	}
	dir := t.TempDir()
	if err := s.Unpack(dir); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 3 {
		t.Errorf("unpacked %v, want the programs and what they include", files)
	}
	if err := s.Unpack(filepath.Join(dir, "gone")); err == nil || !strings.Contains(err.Error(), "unpack the examples") {
		t.Errorf("unpacked to nowhere: %v", err)
	}
}

// commands makes a PATH of programs that do nothing.
func commands(t *testing.T, names ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(dir, n), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestFindCompiler(t *testing.T) {
	for _, c := range []struct{ there, cc, want, fails string }{
		{"cc gcc clang", "", "cc", ""},
		{"clang gcc", "", "gcc", ""},
		{"clang", " ", "clang", ""},
		{"cc special", "special -O3 -m64", "special -O3 -m64", ""},
		{"cc", "special -O3", "", "special: not found; CC names it"},
		{"", "", "", "apt install gcc"},
	} {
		commands(t, strings.Fields(c.there)...)
		t.Setenv("CC", c.cc)
		cc, err := FindCompiler()
		if c.fails == "" && (err != nil || cc.String() != c.want) {
			t.Errorf("with %q and CC=%s: %v, %v, want %q", c.there, c.cc, cc, err, c.want)
		}
		if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("with %q and CC=%s: error %v, want %q", c.there, c.cc, err, c.fails)
		}
	}
}

func TestBuildSaysWhatTheCompilerSays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cc")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho \"$*\"\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := Compiler{file, "-m64"}.Build(context.Background(), "/d", "in", "out", "-DX")
	if want := "exit status 3: -m64 -O2 -g -pthread -DX /d/in.c -o /d/out"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %q at its end", err, want)
	}
}
