package places

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/pack"
)

func some(r *rand.Rand) profile.Location {
	frame := func() profile.Frame {
		return profile.Frame{File: []string{"", "/a.c", "/usr/include/b.h"}[r.IntN(3)], Line: r.IntN(5) - 1, Column: r.IntN(3) << (10 * r.IntN(3)), Function: fmt.Sprint([]string{"", "f", "g"}[r.IntN(3)])}
	}
	l := profile.Location{Frame: frame(), SymbolOffset: profile.Addr(r.Uint64N(3) << (20 * r.IntN(3)))}
	for range r.IntN(4) - 1 {
		l.InlinedAt = append(l.InlinedAt, frame())
	}
	return l
}

func packed(t *Table) []byte {
	var w pack.Writer
	t.Pack(&w)
	return w.B
}

// What was added is found again, in this run and, after Pack and New, in later ones, with
// what these add; and nothing else is.
func TestAllIsFoundAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	want := map[Key]profile.Location{}
	x := New(nil)
	for run := range 6 {
		for range 200 {
			k, l := Key{profile.Addr(r.Uint64N(500) << (r.IntN(2) * 40)), uint32(r.IntN(3)) << (31 * r.IntN(2))}, some(r)
			if _, is := want[k]; is {
				continue
			}
			if _, is := x.Find(k); is || x.Has(k) {
				t.Fatalf("run %d: %v is found before it was added", run, k)
			}
			added := l
			added.Address = 5 // of one run
			x.Add(k, added)
			want[k] = l
		}
		for k, l := range want {
			if got, is := x.Find(k); !is || !x.Has(k) || !reflect.DeepEqual(got, l) {
				t.Fatalf("run %d: %v is at %+v, %v, want %+v", run, k, got, is, l)
			}
		}
		b := packed(x)
		if again := packed(New(b)); !reflect.DeepEqual(again, b) {
			t.Fatal("what is read and written again is something else")
		}
		x = New(b)
		if x.Grown() {
			t.Error("grown by nothing")
		}
	}
}

func TestGrown(t *testing.T) {
	x := New(nil)
	for i := range 2 * enough {
		if got := x.Grown(); got != (i >= enough) {
			t.Fatalf("%d new ones are worth a file: %v", i, got)
		}
		x.Add(Key{Addr: profile.Addr(i)}, profile.Location{})
	}
	x = New(packed(x))
	if x.Grown() {
		t.Error("grown by nothing")
	}
	x.Add(Key{As: 1}, profile.Location{})
	if !x.Grown() {
		t.Error("not grown by one")
	}
}

// Bytes that are not what was written give other locations or none, and do no harm.
func FuzzBytes(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	x := New(nil)
	for i := range 20 {
		x.Add(Key{profile.Addr(i), uint32(i % 3)}, some(r))
	}
	b := packed(x)
	for n := range len(b) {
		f.Add(b[:n])
		c := append([]byte(nil), b...)
		c[n] ^= byte(1 + r.IntN(255))
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x := New(b)
		for i := range x.len() {
			x.Find(x.key(i))
		}
		k, l := Key{Addr: 7}, profile.Location{Frame: profile.Frame{File: "f", Line: 1}}
		if got, is := x.Find(k); is {
			l = got
		} else {
			x.Add(k, l)
		}
		sorted := true // as all that was written is
		for i := 1; i < x.len(); i++ {
			sorted = sorted && compare(x.key(i-1), x.key(i)) < 0
		}
		if got, is := New(packed(x)).Find(k); sorted && (!is || !reflect.DeepEqual(got, l)) {
			t.Fatalf("%+v is found as %+v, %v", l, got, is)
		}
	})
}
