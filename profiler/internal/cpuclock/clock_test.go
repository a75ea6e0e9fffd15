package cpuclock

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/timed"
)

// sample runs a program under the clock.
func sample(t *testing.T, r *Resolver, words ...string) (Counts, timed.Result) {
	t.Helper()
	var c *Clock
	var not error
	j := timed.Job{Path: words[0], Words: words, Env: os.Environ(), Files: [3]uintptr{0, 1, 2}, Before: func() func(int) {
		if c, not = Open(r); not != nil {
			return func(int) {}
		}
		return func(int) { c.Begin() }
	}}
	res, err := timed.Run(j)
	if not != nil {
		t.Skipf("this machine does not let the CPU clock be sampled: %v", not)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.End(), res
}

// line finds the line with a mark.
func line(t *testing.T, mark string) int {
	t.Helper()
	b, err := os.ReadFile("testdata/places.cc")
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(b), "/* "+mark+" */")
	if !ok {
		t.Fatalf("no %s", mark)
	}
	return 1 + strings.Count(before, "\n")
}

// Work is where the user's line is: in an inlined template, at the call of a
// library, at the call of a template of the system's, at the call of the kernel.
func TestPlaces(t *testing.T) {
	file, err := filepath.Abs("testdata/places.cc")
	if err != nil {
		t.Fatal(err)
	}
	for build, flags := range map[string][]string{
		"shared": {"-O2", "-g", "-pthread", file},
		"static": {"-O2", "-g", "-pthread", "-static", file},
	} {
		prog := proctest.Build(t, "g++", flags...)
		r := NewResolver()
		for _, c := range []struct{ what, n, mark string }{
			{"lines", "150000000", "INLINED"}, {"library", "100000", "LIBRARY"}, {"sort", "200", "SORT"}, {"kernel", "4000", "KERNEL"},
			{"locked", "30000000", "LOCKED"},
		} {
			got, run := sample(t, r, prog, c.what, c.n)
			if c.what == "kernel" && !got.Kernel {
				t.Logf("the kernel cannot be looked into here")
				continue
			}
			at, all := 0, 0
			for name, n := range got.Places {
				all += n
				if p := r.Place(name); p.Location.File == file && p.Location.Line == line(t, c.mark) {
					at += n
				}
			}
			if all != got.Total || got.Total < 20 {
				t.Errorf("%s %s: %d samples at places, %d in all, in %v", build, c.what, all, got.Total, run.CPU)
			}
			if 2*at < got.Total {
				t.Errorf("%s %s: %d of %d samples are at %s: %v", build, c.what, at, got.Total, c.mark, got.Places)
			}
			// As many samples as the CPU time has periods; each thread may lose one on each
			// processor, and a busy machine delays timers.
			if periods := float64(run.CPU) / float64(Period); float64(got.Total) > 1.1*periods+float64(4*runtime.NumCPU()) || got.Lost > 0 {
				t.Errorf("%s %s: %d samples in %v (%.0f periods), %d lost", build, c.what, got.Total, run.CPU, periods, got.Lost)
			}
		}
		r.Close()
	}
}

// What has neither lines nor symbols is known by its file.
func TestStripped(t *testing.T) {
	prog := proctest.Build(t, "g++", "-O2", "-s", "-pthread", "testdata/places.cc")
	r := NewResolver()
	defer r.Close()
	got, _ := sample(t, r, prog, "lines", "150000000")
	if 2*got.Places[prog] < got.Total {
		t.Errorf("of %d samples: %v", got.Total, got.Places)
	}
}

// Scripts start programs: what these do is found, each with what it has mapped.
func TestChildren(t *testing.T) {
	prog := proctest.Build(t, "g++", "-O2", "-g", "-pthread", "testdata/places.cc")
	r := NewResolver()
	defer r.Close()
	got, _ := sample(t, r, "/bin/sh", "-c", prog+" lines 60000000; (exec env "+prog+" library 50000)")
	files := map[int]int{}
	for name, n := range got.Places {
		files[r.Place(name).Location.Line] += n
	}
	if files[line(t, "INLINED")] == 0 || files[line(t, "LIBRARY")] == 0 {
		t.Errorf("%v", got.Places)
	}
}

// What started before is not sampled, and nothing is left open.
func TestNothingIsLeft(t *testing.T) {
	open := func() int {
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(d)
	}
	r := NewResolver()
	sample(t, r, "/bin/true")
	r.Close()
	before := open()
	for range 3 {
		r := NewResolver()
		sample(t, r, "/bin/true")
		r.Close()
	}
	if after := open(); after > before {
		t.Errorf("%d files were open before, %d after", before, after)
	}
}

// Why there are no samples is said with the mend.
func TestForbidden(t *testing.T) {
	for want, err := range map[string]error{
		"sysctl kernel.perf_event_paranoid=2": syscall.EACCES,
		"also allow perf_event_open":          syscall.EPERM,
		"raise ulimit -l":                     errRing,
		"sample the CPU clock: function not":  syscall.ENOSYS,
	} {
		if got := forbidden(err).Error(); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Records that are cut short, and those of other programs, are no reason to fail.
func TestRecords(t *testing.T) {
	for _, of := range []uint32{1, 3, 7, 9, 10, 99} {
		for n := range 40 {
			parse(of, 0, make([]byte, n))
		}
	}
	if x, ok := parse(9, 0, make([]byte, 24)); !ok || x.piece.Words != nil {
		t.Errorf("a sample of a 32-bit program: %+v", x)
	}
	if _, ok := parse(7, 0, make([]byte, 32)); ok {
		t.Error("the birth of a thread is taken for a process")
	}
}

func TestTicksAreNotInStep(t *testing.T) {
	for d := int64(2); d*d <= int64(Period/time.Nanosecond); d++ {
		if int64(Period)%d == 0 {
			t.Fatalf("%d is divided by %d", Period, d)
		}
	}
}

// Who was sampled while no other thread was, a period before and after, was alone.
func TestAlone(t *testing.T) {
	p := uint64(Period)
	c := &Clock{}
	for _, x := range []struct {
		tid  uint32
		at   uint64
		kind kind
	}{
		{1, 10 * p, sampled}, {1, 11 * p, sampled}, {2, 12*p + 1, sampled}, {1, 12*p + 2, sampled}, {2, 13 * p, sampled},
		{2, 14 * p, mapping}, {2, 15 * p, sampled}, {2, 16 * p, sampled}, {1, 20 * p, sampled}, {1, 21 * p, sampled},
	} {
		c.later = append(c.later, record{tid: x.tid, at: x.at, kind: x.kind})
	}
	want := []bool{true, false, false, false, false, false, true, true, true, true}
	for n := range c.later {
		if c.later[n].kind == sampled && c.alone(n) != want[n] {
			t.Errorf("sample %d: alone is %v", n, !want[n])
		}
	}
}
