package perf

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// found is what can be counted here, or the test is skipped.
func found(t *testing.T) *Set {
	t.Helper()
	s, err := Find()
	if err != nil {
		t.Skip(err)
	}
	return s
}

// word is what marks are made by.
func word() (w *uint64, at uint64) {
	w = new(uint64)
	return w, uint64(reflect.ValueOf(w).Pointer())
}

const page = 4096

// fresh is memory of so many pages that nobody has touched.
func fresh(t *testing.T, pages int) []byte {
	t.Helper()
	m, err := unix.Mmap(-1, 0, pages*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err == nil {
		err = unix.Madvise(m, unix.MADV_NOHUGEPAGE)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(m) })
	return m
}

// standIn lets events of the kernel's stand for the processor's, which this machine may
// not have: page faults are "instructions", CPU time is "cycles", and each page
// fault is sampled as a miss.
func standIn(t *testing.T) *Set {
	t.Helper()
	s := found(t)
	real := open
	t.Cleanup(func() { open = real })
	open = func(a *unix.PerfEventAttr, tid, leader int) (int, error) {
		if a.Type == unix.PERF_TYPE_HARDWARE {
			b := *a
			b.Type, b.Config = unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS
			switch a.Config {
			case unix.PERF_COUNT_HW_CPU_CYCLES:
				b.Config = unix.PERF_COUNT_SW_TASK_CLOCK
			case unix.PERF_COUNT_HW_CACHE_MISSES:
				b.Sample = 1
			}
			return real(&b, tid, leader)
		}
		return real(a, tid, leader)
	}
	return &Set{Counters: append(s.Counters[:s.software:s.software], hardware...), software: s.software, precise: 1}
}

// counting has a thread that is asleep counted, as those are that are profiled, and do
// something then. Where it ran, groups that are opened may be whole only when it next does.
func counting(t *testing.T, s *Set, at uint64, do func(*Thread)) *Thread {
	t.Helper()
	tid, opened, done := make(chan int), make(chan *Thread), make(chan bool)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		tid <- unix.Gettid()
		if x := <-opened; x != nil {
			do(x)
		}
	}()
	id := <-tid
	for asleep := false; !asleep; runtime.Gosched() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", id))
		if err != nil {
			t.Fatal(err)
		}
		asleep = strings.Contains(string(stat), ") S ")
	}
	x, err := s.Open(id, at)
	opened <- x
	<-done
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	return x
}

// TestCountsBetweenMarks: what a thread does between two writes of the word is counted
// there, and nothing else, in both groups; each miss stands where it was.
func TestCountsBetweenMarks(t *testing.T) {
	s := standIn(t)
	w, at := word()
	const most = 20
	m := fresh(t, most*most)
	x := counting(t, s, at, func(*Thread) {
		atomic.StoreUint64(w, 1)
		for n := range most {
			for i := range n {
				m[(n*most+i)*page] = 1
			}
			atomic.StoreUint64(w, uint64(n))
		}
		m[page*(most*most-1)] = 1
	})
	clock, faults, instructions, cycles := -1, -1, -1, -1
	for i, c := range s.Counters {
		switch c.Name {
		case "task-clock":
			clock = i
		case "page-faults":
			faults = i
		case "instructions":
			instructions = i
		case "cycles":
			cycles = i
		}
	}
	if _, ok := x.Next(); !ok {
		t.Fatal("the first mark is not there")
	}
	few := 3 // of the runtime's own, all together
	for n := range most {
		c, ok := x.Next()
		if !ok {
			t.Fatalf("mark %d is not there", n)
		}
		few -= int(c.N[faults]) - n
		sampled := 0
		for _, k := range c.Misses {
			sampled += k
		}
		if int(c.N[faults]) < n || few < 0 || c.N[instructions] != c.N[faults] || sampled != int(c.N[faults]) || c.Scaled {
			t.Errorf("%d faults: %+v", n, c)
		}
		if c.N[clock] == 0 || c.N[cycles] == 0 {
			t.Errorf("no time: %+v", c)
		}
	}
	if c, ok := x.End(); !ok || c.N[faults] == 0 {
		t.Errorf("behind the last: %+v, %v", c, ok)
	}
}

// TestRingsAreRead: more marks than a ring has room for are all there, as it is read
// meanwhile; and where nobody writes, none.
func TestRingsAreRead(t *testing.T) {
	s := found(t)
	w, at := word()
	const marks, some = 5000, 100
	sum := uint64(0)
	x := counting(t, s, at, func(x *Thread) {
		for n := range uint64(marks) {
			atomic.StoreUint64(w, n)
			for k := 0; n%some == some-1 && k < some; k++ {
				c, ok := x.Next()
				if !ok {
					t.Errorf("a mark before %d is not there", n)
					return
				}
				sum += c.N[0]
			}
		}
	})
	if c, ok := x.Next(); ok {
		t.Errorf("a mark that nobody made: %+v", c)
	}
	if sum == 0 {
		t.Error("no time")
	}
}

// TestFind: what is not there is said, with the fix; refused, why.
func TestFind(t *testing.T) {
	found(t)
	real := open
	defer func() { open = real }()
	open = func(a *unix.PerfEventAttr, tid, leader int) (int, error) {
		if a.Bits&unix.PerfBitExcludeKernel == 0 {
			return -1, unix.EACCES
		}
		if a.Type == unix.PERF_TYPE_HARDWARE {
			return -1, unix.ENOENT
		}
		return real(a, tid, leader)
	}
	s, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, m := range s.Missing {
		text += m.String() + "\n"
	}
	if len(s.Counters) != 2 || s.Hardware() || s.Places() || !strings.Contains(text, "context-switches, migrations: the kernel does not say what it does itself: sysctl kernel.perf_event_paranoid=1 as root") || !strings.Contains(text, "no hardware counters") {
		t.Errorf("%+v\n%s", s, text)
	}
	for _, c := range []struct {
		err   error
		level string
		want  string
	}{
		{unix.EACCES, "3\n", "sysctl kernel.perf_event_paranoid=2"},
		{unix.EACCES, "2\n", "in a container"},
		{unix.ENOSPC, "2\n", "end debuggers"},
		{unix.EOPNOTSUPP, "2\n", "no breakpoints"},
	} {
		open = func(*unix.PerfEventAttr, int, int) (int, error) { return -1, c.err }
		if _, err := Find(); err == nil {
			t.Errorf("%v: found", c.err)
		}
		got := refused(c.err, func(string) ([]byte, error) { return []byte(c.level), nil })
		if !strings.Contains(got.Error(), c.want) || strings.Contains(got.Error(), "\n") {
			t.Errorf("%v at %q: %v, want %q", c.err, c.level, got, c.want)
		}
	}
	if got := refused(unix.ENOSYS, func(string) ([]byte, error) { return nil, os.ErrNotExist }); !strings.Contains(got.Error(), "has none") || !errors.Is(got, unix.ENOSYS) {
		t.Error(got)
	}
}

// TestWalk: the load is where it is said to be, and walk leads round all lines.
func TestWalk(t *testing.T) {
	f, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code := make([]byte, 32)
	if _, err := f.ReadAt(code, int64(walkAt())); err != nil {
		t.Fatal(err)
	}
	in, err := x86.Decode(code[loadAt:], 0)
	if err != nil || !in.HasMem || in.Mem.Base != x86.RAX || in.Reg != x86.RAX {
		t.Errorf("% x: no load by RAX at %d", code, loadAt)
	}
	if ret, err := x86.Decode(code[walkEnd:], 0); err != nil || ret.Kind != x86.Ret {
		t.Errorf("% x: the loop does not end at %d", code, walkEnd)
	}
	lines, at := ring64MB(), 0
	for n := &lines[0]; ; n = n.next {
		if at++; n.next == &lines[0] {
			break
		}
	}
	if at != len(lines) {
		t.Errorf("the ring has %d of %d lines", at, len(lines))
	}
	walk(&lines[0], 5)
	countDown(3)
}

// TestHardware: what counts known work right is counted, and no more.
func TestHardware(t *testing.T) {
	standIn(t)
	no, bad := func() error { return nil }, errors.New("it lies")
	for _, c := range []struct {
		work, misses, places error
		counters             string
		missing              int
	}{
		{nil, nil, nil, "cycles instructions cache-references cache-misses", 0},
		{nil, nil, bad, "cycles instructions cache-references cache-misses", 1},
		{nil, bad, nil, "cycles instructions", 1},
		{bad, nil, nil, "", 1},
	} {
		s := &Set{}
		s.findHardware(func() error { return c.work }, func() error { return c.misses }, func(int) error { return c.places })
		var names []string
		for _, x := range s.Counters {
			names = append(names, x.Name)
		}
		if got := strings.Join(names, " "); got != c.counters || len(s.Missing) != c.missing || s.Places() != (c.missing == 0) || s.Hardware() != (c.counters != "") {
			t.Errorf("%+v: %q, %v", c, got, s.Missing)
		}
	}
	// The kernel's events in the hardware's stead are found out.
	if err := Known(); err == nil {
		t.Error("page faults were taken for instructions")
	}
	if err := knownMisses(); err == nil {
		t.Error("page faults were taken for misses")
	}
	if err := knownPlaces(1); err == nil {
		t.Error("page faults were taken for places of misses")
	}
	open = func(*unix.PerfEventAttr, int, int) (int, error) { return -1, unix.EMFILE }
	if err := (&Set{}).findPrecise(func(int) error { return no() }); err == nil {
		t.Error("what cannot be opened is precise")
	}
	if _, err := (&Set{Counters: software[:1], software: 1}).Open(unix.Gettid(), 8); err == nil || !strings.Contains(err.Error(), "count what thread") {
		t.Errorf("opened: %v", err)
	}
	if err := knownPlaces(1); !errors.Is(err, unix.EMFILE) {
		t.Error(err)
	}
}
