package pack

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// record is one of everything.
type record struct {
	uints     []uint64
	flag      bool
	text      []byte
	ascending []uint64
}

func (r *record) write(w *Writer) {
	for _, v := range r.uints {
		w.Uint(v)
	}
	w.Bool(r.flag)
	w.Bytes(r.text)
	w.Ascending(r.ascending)
}

func (r *record) read(from *Reader) record {
	var out record
	for range r.uints {
		out.uints = append(out.uints, from.Uint())
	}
	out.flag, out.text, out.ascending = from.Bool(), from.Bytes(), from.Ascending()
	return out
}

func (r *record) equal(x *record) bool {
	return slices.Equal(r.uints, x.uints) && r.flag == x.flag && bytes.Equal(r.text, x.text) &&
		slices.Equal(r.ascending, x.ascending)
}

var records = []record{
	{},
	{uints: []uint64{0, 1, 127, 128, 1 << 32, math.MaxUint64}, flag: true},
	{text: []byte("a byte string"), ascending: []uint64{7}},
	{text: make([]byte, 300), ascending: []uint64{0, 0, 5, 5, 1 << 60, math.MaxUint64}},
}

// TestRoundTrip reads back, one behind the other, what was written.
func TestRoundTrip(t *testing.T) {
	var w Writer
	for i := range records {
		records[i].write(&w)
	}
	r := Reader{B: w.B}
	for i := range records {
		if got := records[i].read(&r); !got.equal(&records[i]) {
			t.Errorf("record %d is %v, was %v", i, got, records[i])
		}
	}
	if r.Err != nil || len(r.B) > 0 {
		t.Errorf("%v; %d bytes left", r.Err, len(r.B))
	}
}

// TestTooShort cuts a record everywhere: each of its beginnings is an error,
// and behind an error all is zero.
func TestTooShort(t *testing.T) {
	var w Writer
	full := &records[3]
	full.write(&w)
	for n := range w.B {
		r := Reader{B: slices.Clip(w.B[:n])}
		full.read(&r)
		if r.Err != ErrShort {
			t.Errorf("%d of %d bytes: %v", n, len(w.B), r.Err)
		}
		if r.Uint() != 0 || r.Bool() || len(r.Bytes()) > 0 || r.Ascending() != nil || r.Err != ErrShort {
			t.Errorf("%d of %d bytes: something is read behind the error", n, len(w.B))
		}
	}
}

// TestLen refuses numbers of things that cannot be there.
func TestLen(t *testing.T) {
	for _, c := range []struct {
		n          uint64
		size, left int
		want       int
	}{
		{3, 2, 6, 3}, {3, 2, 7, 3}, {3, 2, 5, 0}, {0, 8, 0, 0}, {math.MaxUint64, 1, 100, 0}, {1 << 63, 8, 100, 0},
	} {
		r := Reader{B: append(binary.AppendUvarint(nil, c.n), make([]byte, c.left)...)}
		if got := r.Len(c.size); got != c.want || (r.Err != nil) != (uint64(c.want) != c.n) {
			t.Errorf("%d things of %d bytes in %d: %d, %v", c.n, c.size, c.left, got, r.Err)
		}
	}
}

// TestNumberTooLarge: what no 64 bits hold is an error.
func TestNumberTooLarge(t *testing.T) {
	r := Reader{B: bytes.Repeat([]byte{0xff}, 11)}
	if r.Uint() != 0 || r.Err != ErrShort {
		t.Error("a number of 77 bits is read")
	}
}

// FuzzReader reads anything; what is read, written and read again is the same.
func FuzzReader(f *testing.F) {
	for i := range records {
		var w Writer
		records[i].write(&w)
		f.Add(w.B, len(records[i].uints))
	}
	f.Fuzz(func(t *testing.T, b []byte, numbers int) {
		shape := record{uints: make([]uint64, max(0, numbers)%16)}
		r := Reader{B: b}
		first := shape.read(&r)
		if r.Err != nil || !slices.IsSorted(first.ascending) { // differences that go beyond 64 bits were never written
			return
		}
		var w Writer
		first.write(&w)
		again := Reader{B: w.B}
		if second := shape.read(&again); again.Err != nil || !second.equal(&first) {
			t.Errorf("%v became %v (%v)", first, second, again.Err)
		}
	})
}
