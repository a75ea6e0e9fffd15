package dwarfmap

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// need finds a tool. Where the tests must all run (CI=true) a missing one
// fails them; elsewhere it skips the test.
func need(t testing.TB, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("%s is needed: install gcc, g++, clang, llvm, binutils and dwz", tool)
	} else if err != nil {
		t.Skipf("%s is not installed", tool)
	}
	return path
}

// clang is the first of the names that clang goes by.
func clang(t testing.TB) string {
	for _, name := range []string{"clang", "clang-16", "clang-19", "clang-18", "clang-17", "clang-15", "clang-14"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return need(t, "clang")
}

func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	c := exec.Command(args[0], args[1:]...)
	c.Dir = dir
	c.Env = append(os.Environ(), "LC_ALL=C")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

// source copies the sources to a directory of the test's own, so that nothing
// is written beside them, and returns it.
func source(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// buildC builds the C program and returns its path.
func buildC(t testing.TB, compiler string, flags ...string) string {
	t.Helper()
	dir := source(t)
	args := append([]string{compiler, "-g", "-I", "include", "-o", "work"}, flags...)
	run(t, dir, append(args, "work.c", "other.c", "-lm")...)
	return filepath.Join(dir, "work")
}

func buildCC(t testing.TB, compiler string, flags ...string) string {
	t.Helper()
	dir := source(t)
	args := append([]string{compiler, "-g", "-o", "work"}, flags...)
	run(t, dir, append(args, "work.cc", "-lstdc++")...)
	return filepath.Join(dir, "work")
}

func open(t testing.TB, path string) *Map {
	t.Helper()
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	m.read() // tests look at what is there
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}
