// Package probetest is what the tests of the probe packages share: real
// programs to work on, and a processor to run a few instructions on.
package probetest

import (
	"os"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Programs are whatever executables a Debian machine has.
func Programs(t testing.TB) []string {
	var all []string
	for _, p := range []string{"/bin/bash", "/usr/bin/perl", "/usr/bin/make", "/usr/bin/tar"} {
		if _, err := os.Stat(p); err == nil {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		t.Fatal("not one of the usual programs is here")
	}
	return all
}

// Open reads a program or library.
func Open(t testing.TB, path string) *cfg.Program {
	t.Helper()
	im, err := image.Open(path)
	if err != nil {
		im, err = image.OpenLibrary(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Build(im, Catches)
}

// Catches is what a test's programs may be caught in.
func Catches(name string) bool { return name == "pthread_barrier_wait" || name == "pthread_exit" }

// NoHooks asks for no records.
func NoHooks(string) (record.Hook, bool) { return record.Hook{}, false }
