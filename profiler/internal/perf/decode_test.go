package perf

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// words is a record's body.
func words(w ...uint64) (b []byte) {
	for _, x := range w {
		b = binary.NativeEndian.AppendUint64(b, x)
	}
	return b
}

// twoGroups is a thread with two counters of the kernel's and one of the hardware's.
func twoGroups() *Thread {
	return &Thread{missID: 30, missFD: -1, groups: []group{
		{ids: []uint64{10, 11, 12}, before: reading{value: make([]uint64, 2)}},
		{ids: []uint64{20, 21}, before: reading{value: make([]uint64, 1)}},
	}}
}

// soft and hard are samples of marks.
func soft(at, clock, faults uint64) []byte {
	return words(10, at, 3, at, at, 0, 10, clock, 11, faults, 12)
}

func hard(at, running, cycles uint64) []byte {
	return words(20, at, 2, at, running, 0, 20, cycles, 21)
}

// take has a thread read records of samples.
func (t *Thread) take(all ...[]byte) {
	for _, b := range all {
		if s, ok := t.decode(unix.PERF_RECORD_SAMPLE, b); ok {
			t.in = append(t.in, s)
		}
	}
}

// TestMarks: from mark to mark it is the difference, whichever group's sample comes first;
// misses are those since the mark before; what had no hardware part of the time is scaled.
func TestMarks(t *testing.T) {
	x := twoGroups()
	x.take(soft(100, 5, 1), hard(101, 101, 50),
		words(30, 0x401000, 105), words(30, 0x401000, 106), words(30, 0x402000, 107),
		hard(200, 200, 80), soft(199, 9, 1), soft(300, 10, 4), hard(301, 250, 130), words(30, 0x403000, 305))
	for i, want := range []struct {
		n      []uint64
		misses map[uint64]int
		scaled bool
	}{
		{[]uint64{5, 1, 50}, nil, false},
		{[]uint64{4, 0, 30}, map[uint64]int{0x401000: 2, 0x402000: 1}, false},
		{[]uint64{1, 3, 101}, nil, true}, // 50 in 50 of 101
	} {
		if !x.complete() {
			t.Fatalf("mark %d is not there", i)
		}
		c, ok := x.next(true)
		if !ok || !slices.Equal(c.N, want.n) || c.Scaled != want.scaled || len(c.Misses) != len(want.misses) {
			t.Fatalf("mark %d: %+v (%v), want %+v", i, c, ok, want)
		}
		for pc, n := range want.misses {
			if c.Misses[pc] != n {
				t.Errorf("mark %d: %v, want %v", i, c.Misses, want.misses)
			}
		}
	}
	if x.complete() || len(x.in) != 1 {
		t.Errorf("left: %+v", x.in)
	}
}

// TestLost: where something was lost, or a group had no hardware when a mark was made,
// nothing is said from then on.
func TestLost(t *testing.T) {
	for name, what := range map[string]func(*Thread){
		"a record that says so": func(x *Thread) {
			x.take(soft(1, 1, 1), hard(1, 1, 1))
			s, _ := x.decode(unix.PERF_RECORD_LOST, words(0, 7))
			x.in = append(x.in, s)
			x.take(soft(2, 2, 2), hard(2, 2, 2))
		},
		"no hardware at a mark": func(x *Thread) {
			x.take(soft(1, 1, 1), hard(1, 1, 1), soft(2, 2, 2), soft(3, 3, 3), hard(3, 2, 3))
		},
		"none at all between two": func(x *Thread) {
			x.take(soft(1, 1, 1), hard(1, 1, 1), soft(2, 2, 2), hard(2, 1, 1))
		},
		"another group's numbers": func(x *Thread) {
			x.take(soft(1, 1, 1), hard(1, 1, 1), soft(2, 2, 2), words(20, 2, 2, 2, 2, 0, 20, 9, 99))
		},
		"a short one": func(x *Thread) {
			x.take(soft(1, 1, 1), hard(1, 1, 1), soft(2, 2, 2)[:40], hard(2, 2, 2))
		},
	} {
		x := twoGroups()
		what(x)
		if c, ok := x.next(x.complete()); !ok || !slices.Equal(c.N, []uint64{1, 1, 1}) {
			t.Errorf("%s: first %+v, %v", name, c, ok)
		}
		for range 2 {
			if c, ok := x.next(x.complete()); ok {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

// TestGrowth: sums of growths are that from the first to the last, where all was counted.
func TestGrowth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 13))
	for range 200 {
		var before, now reading
		before.value, now.value = []uint64{0, 0}, []uint64{0, 0}
		sum := make([]uint64, 2)
		for range r.IntN(20) + 1 {
			d := r.Uint64N(1000)
			now.enabled, now.running = now.enabled+d, now.running+d
			if now.value = slices.Clone(now.value); d > 0 {
				now.value[0] += r.Uint64N(1 << 40)
				now.value[1] += r.Uint64N(3)
			}
			if scaled, known := growth(&before, &now, sum); scaled || !known {
				t.Fatalf("from %+v to %+v: scaled %v, known %v", before, now, scaled, known)
			}
			before = now
		}
		if !slices.Equal(sum, now.value) {
			t.Fatalf("%v, want %v", sum, now.value)
		}
	}
}

// FuzzDecode: whatever stands in a ring, it is read without harm.
func FuzzDecode(f *testing.F) {
	f.Add(uint32(9), soft(1, 2, 3))
	f.Add(uint32(9), hard(1, 2, 3)[:30])
	f.Add(uint32(2), words(1))
	f.Fuzz(func(t *testing.T, kind uint32, body []byte) {
		x := twoGroups()
		if s, ok := x.decode(kind, body); ok {
			x.in = append(x.in, s)
			x.next(true)
		}
	})
}
