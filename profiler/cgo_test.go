package profiler_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestCgoCounts compares how often blocks of what a program in Go has in C and C++ ran
// with what they counted themselves: through pointers, handed to qsort, left by longjmp,
// exceptions and Go's panics, called back from Go.
func TestCgoCounts(t *testing.T) {
	proctest.Need(t, "gcc", "g++")
	for _, c := range []struct{ flags, env string }{
		{"-v=false", "-O2 -g"}, {"-v=false", "-O0 -g"}, {"-gcflags=all=-N -l", "-O2 -g"}, {"-buildmode=pie", "-O3 -g"}, {"-ldflags=-linkmode=external -extldflags=-static", "-O2 -g"},
	} {
		t.Run(c.flags+" "+c.env, func(t *testing.T) {
			t.Setenv("CGO_CFLAGS", c.env)
			t.Setenv("CGO_CXXFLAGS", c.env)
			p, out := runSaying(t, buildGo(t, "testdata/cgo", c.flags))
			got, n := marks(t, p), 0
			for ; ; n++ {
				var line int
				var want uint64
				if _, err := fmt.Fscan(out, &line, &want); err != nil {
					break
				}
				at := fmt.Sprintf("ways.c:%d", line)
				if line > 128 {
					at = fmt.Sprintf("caught.cc:%d", line-128)
				}
				if got[at] != want {
					t.Errorf("%s: %d times, the program says %d", at, got[at], want)
				}
			}
			if n < 20 {
				t.Errorf("%d blocks compared", n)
			}
			for _, w := range p.Warnings {
				t.Errorf("[%s] %s", w.Code, w.Message)
			}
		})
	}
}

// runSaying profiles a program, and returns what it prints, too.
func runSaying(t *testing.T, path string, args ...string) (*profile.Profile, *os.File) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	ctx, off := watchdog(t)
	defer off()
	p, err := profiler.Run(ctx, profiler.Config{Path: path, Args: args, Stdout: out, Stderr: out})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	if p.Run.ExitCode != 0 || p.Run.Signal != "" {
		t.Errorf("status %d %s", p.Run.ExitCode, p.Run.Signal)
	}
	if _, err := out.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	return p, out
}

const restsInC = `package main

// #include <pthread.h>
// #include <unistd.h>
// static void rests(void) { usleep(100000); }
// static long spins(long n) { volatile long x = 0; while (x < n) x++; return x; }
// static void *begins(void *n) { return (void *)spins((long)n); }
// static void elsewhere(long n) { pthread_t t; pthread_create(&t, 0, begins, (void *)n); pthread_join(t, 0); }
import "C"

import (
	"os"
	"sync"
)

func main() {
	var all sync.WaitGroup
	n := 2
	if len(os.Args) > 1 {
		n = 40 // so that threads that made some for Go make others, too
	}
	for id := range n {
		all.Add(1)
		go func() {
			defer all.Done()
			switch {
			case id%2 == 0:
				C.rests()
			case len(os.Args) > 1:
				C.elsewhere(1000000)
			default:
				C.spins(20000000)
			}
		}()
	}
	all.Wait()
}
`

// TestCgoWaits: who sleeps in C is not busy, and what threads of C's do is not known.
func TestCgoWaits(t *testing.T) {
	proctest.Need(t, "gcc")
	prog := buildGo(t, goModule(t, restsInC))
	p, _ := runSaying(t, prog)
	if len(p.Sections) != 1 || len(p.Sections[0].Instances) != 1 || len(p.Sections[0].Instances[0].Parts) != 2 {
		t.Fatalf("sections: %+v", p.Sections)
	}
	parts := slices.Clone(p.Sections[0].Instances[0].Parts)
	slices.SortFunc(parts, func(a, b profile.Part) int { return int(p.Instructions(a.Counts)) - int(p.Instructions(b.Counts)) })
	rests, spins := &parts[0], &parts[1]
	if span := rests.ArriveNS - rests.BeginNS; span < 100e6 || rests.BusyNS > span/2 {
		t.Errorf("slept for 100 ms of %d ns, busy for %d", span, rests.BusyNS)
	}
	if spins.BusyNS < 2e6 { // 20 million rounds
		t.Errorf("busy for %d ns", spins.BusyNS)
	}
	p, _ = runSaying(t, prog, "elsewhere")
	if !slices.ContainsFunc(p.Warnings, func(w profile.Warning) bool {
		return w.Code == "c-threads" && strings.HasPrefix(w.Message, "20 threads ")
	}) {
		t.Errorf("not said of the 20 threads that C started: %v", p.Warnings)
	}
}
