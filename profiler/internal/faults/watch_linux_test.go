package faults

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func watch(t *testing.T) *Watch {
	t.Helper()
	w, err := Open(os.Getpid())
	if err != nil {
		t.Skipf("this machine does not let page faults be watched: %v", err)
	}
	t.Cleanup(w.Close)
	return w
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

func touch(m []byte) {
	for i := 0; i < len(m); i += page {
		m[i] = 1
	}
}

// TestFaultsOfAThread: as many are found as pages are touched, in hardly more time
// than that took, in their order.
func TestFaultsOfAThread(t *testing.T) {
	t.Run("everybody", func(t *testing.T) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		findsAll(t, watch(t))
	})
	t.Run("own", func(t *testing.T) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		w, err := OpenOwn(os.Getpid(), []int{unix.Gettid()})
		if err != nil {
			t.Skip(err)
		}
		defer w.Close()
		findsAll(t, w)
	})
}

func findsAll(t *testing.T, w *Watch) {
	t.Helper()
	for range 20 {
		before := w.Lost()
		n, ns, took := faultsOf(t, w)
		if w.Lost() > before {
			continue // whoever reads the samples did not get a processor in time
		}
		if n < touched*95/100 || n > touched*105/100 {
			t.Errorf("%d page faults, want about %d", n, touched)
		}
		if ns <= 0 || ns > took*13/10 { // to write down when one began is part of it
			t.Errorf("they took %v of %v", time.Duration(ns), time.Duration(took))
		}
		return
	}
	t.Error("samples were lost each time")
}

const touched = 20000 // pages

// faultsOf touches pages, and returns how many faults were found, how long they took
// together, and how long it took, in ns.
func faultsOf(t *testing.T, w *Watch) (n int, ns, took int64) {
	t.Helper()
	m := fresh(t, touched)
	w.Collect()
	w.Take(unix.Gettid())
	begin := Now()
	touch(m)
	end := Now()
	w.Collect()
	last := begin
	lo := uint64(reflect.ValueOf(m).Pointer())
	for _, f := range w.Take(unix.Gettid()) {
		if f.Addr < lo || f.Addr >= lo+touched*page {
			continue // the test's own
		}
		if f.Begin < last || f.End < f.Begin || f.End > end {
			t.Fatalf("page faults from %d to %d, those before end at %d, all at %d", f.Begin, f.End, last, end)
		}
		n, ns, last = n+f.N, ns+f.NS, f.End
	}
	if w.Take(unix.Gettid()) != nil {
		t.Error("what was taken is there again")
	}
	return n, ns, end - begin
}

// TestFailedFaults: where there is nothing to be had, a fault begins and does not
// end; those after it are timed all the same.
func TestFailedFaults(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := watch(t)
	nothing := fresh(t, 1)
	if err := unix.Mprotect(nothing, unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for range 5 {
		func() {
			defer func() { recover() }()
			nothing[0]++
		}()
	}
	before := int64(0)
	for range 40 { // by then the counters that are apart have written, and were set back
		w.Collect()
		before = w.usual[where{}].n
		touch(fresh(t, 500))
	}
	w.Collect()
	if got := w.usual[where{}].n - before; got < 500/interval/2 {
		t.Errorf("%d of the last 500 faults were timed, want about %d", got, 500/interval)
	}
}

// TestRing: samples are read as they were written, also over the ring's end, and
// what found no room is counted.
func TestRing(t *testing.T) {
	r := &ring{memory: make([]byte, page), data: make([]byte, ringSize), ids: map[uint64]kind{7: begins, 8: minors, 9: majors}}
	r.head = new(unix.PerfEventMmapPage)
	g := rand.New(rand.NewPCG(1, 2))
	put := func(kind uint32, words ...uint64) {
		b := binary.NativeEndian.AppendUint32(nil, kind)
		b = binary.NativeEndian.AppendUint16(b, 0)
		b = binary.NativeEndian.AppendUint16(b, uint16(8+8*len(words)))
		for _, w := range words {
			b = binary.NativeEndian.AppendUint64(b, w)
		}
		for _, x := range b {
			r.data[r.head.Data_head%ringSize] = x
			r.head.Data_head++
		}
	}
	for range 3000 {
		var want []sample
		missed := uint64(0)
		for range g.IntN(30) {
			k := kind(g.IntN(kinds))
			s := sample{kind: k, at: g.Int64(), pid: g.Uint32(), tid: g.Uint32(), addr: g.Uint64() | 1}
			words := []uint64{7 + uint64(k), uint64(s.pid) | uint64(s.tid)<<32, uint64(s.at), s.addr}
			if k != begins {
				s.pc = g.Uint64()
				words = slices.Insert(words, 1, s.pc)
			}
			switch n := g.IntN(3); {
			case k == begins:
			case n == 0:
				s.sp, s.top = g.Uint64(), g.Uint64()
				words = append(words, 2, s.sp, 8, s.top, 8)
			case n == 1:
				s.sp = g.Uint64()
				words = append(words, 2, s.sp, 0)
			default:
				words = append(words, 0, 0)
			}
			put(unix.PERF_RECORD_SAMPLE, words...)
			want = append(want, s)
			if g.IntN(9) == 0 {
				n := g.Uint64N(5)
				missed += n
				put(unix.PERF_RECORD_LOST, 8, n)
			}
		}
		var got []sample
		lost := r.read(func(s sample) { got = append(got, s) })
		if !slices.Equal(got, want) || lost != missed || r.head.Data_tail != r.head.Data_head {
			t.Fatalf("read %v, %d lost, of %v, %d lost", got, lost, want, missed)
		}
	}
}

// TestTimes: a fault's end belongs to the begin before it, if that is the same fault.
func TestTimes(t *testing.T) {
	r := &ring{}
	for i, x := range []struct {
		s     sample
		ns    int64
		apart int
	}{
		{sample{kind: minors, at: 5, tid: 1, addr: 64}, 0, 1},
		{sample{kind: begins, at: 10, tid: 1, addr: 64}, 0, 1},
		{sample{kind: minors, at: 14, tid: 1, addr: 64}, 4, 0},
		{sample{kind: minors, at: 15, tid: 1, addr: 64}, 0, 1},
		{sample{kind: begins, at: 20, tid: 1, addr: 64}, 0, 1},
		{sample{kind: minors, at: 24, tid: 2, addr: 64}, 0, 2},
		{sample{kind: majors, at: 90, tid: 1, addr: 64}, 70, 0},
		{sample{kind: majors, at: 95, tid: 1, addr: 64}, 0, 0},
	} {
		r.follow(&x.s)
		if x.s.ns != x.ns || r.apart != x.apart {
			t.Errorf("sample %d: %d ns, %d ends of others; want %d, %d", i, x.s.ns, r.apart, x.ns, x.apart)
		}
	}
}

// TestLostCores: what takes far longer than is usual counts as is usual, where
// enough is known.
func TestLostCores(t *testing.T) {
	u := usual{}
	for range 7 {
		u = u.and(2000)
	}
	if !u.plausible(4_000_000) {
		t.Error("seven know what is usual")
	}
	u = u.and(2000)
	for ns, want := range map[int64]bool{4_000_000: false, 500_000: true, 1000: true} {
		if u.plausible(ns) != want {
			t.Errorf("%d ns where 2000 are usual: plausible is %v", ns, !want)
		}
	}
	if huge := (usual{8, 8 * 400_000}); !huge.plausible(3_900_000) {
		t.Error("huge pages take long")
	}
}

// TestOnline: the kernel's lists of processors, and what is none.
func TestOnline(t *testing.T) {
	for text, want := range map[string][]int{"0\n": {0}, "0-3\n": {0, 1, 2, 3}, "0,2-3,7\n": {0, 2, 3, 7}, "": nil, "3-1": nil, "0-99999999": nil, "x": nil} {
		got, err := online(func(string) ([]byte, error) { return []byte(text), nil })
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}

// TestManyFaults: what nobody asks for stays bounded, and its number right.
func TestManyFaults(t *testing.T) {
	w := &Watch{threads: map[int][]Fault{}, usual: map[where]usual{}}
	const n = 100_000
	for i := range int64(n) {
		w.add(&sample{kind: minors, at: i, tid: 1, pc: uint64(i % 3), ns: 10})
	}
	sum := 0
	fs := w.Take(1)
	for _, f := range fs {
		sum += f.N
	}
	if sum != n*interval || len(fs) > many+few || w.lost != 0 {
		t.Errorf("%d faults in %d pieces, %d lost; want %d", sum, len(fs), w.lost, n*interval)
	}
	for i := range int64(n) {
		w.add(&sample{kind: majors, at: i, tid: 1, pc: uint64(i)})
	}
	if fs := w.Take(1); len(fs) != few*many || w.lost != n-few*many {
		t.Errorf("%d kept, %d lost", len(fs), w.lost)
	}
}

// TestRefused: a processor that may not be watched, or is none, ends in an error.
func TestRefused(t *testing.T) {
	if r, err := openRing(everybody, 1<<15); err == nil || r != nil {
		t.Errorf("a processor that is none: %v %v", r, err)
	}
}
