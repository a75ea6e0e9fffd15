// Package pack writes and reads numbers and byte strings one behind the other:
// for what is read back by the same program only, soon and often, where a
// self-describing format would take longer than to compute the thing anew.
//
//	Uint, Bool ─▶ 7 bits a byte ─┐
//	Bytes      ─▶ length, bytes ─┤             ┌─▶ the same calls in the same
//	Ascending  ─▶ length, steps ─┴▶ Writer.B … Reader.B    order, and then Err
//
// Nothing in the bytes says what they are: reader and writer agree by making
// the same calls, and whoever keeps the bytes knows of which version they are.
// The reader trusts no length: it asks for no more memory than a small multiple
// of the bytes that are there. Its first error stays, and all behind it reads as
// zero, so that a caller asks once, at the end.
package pack

import (
	"encoding/binary"
	"errors"
)

// Writer appends to B.
type Writer struct{ B []byte }

// Uint appends a number; small ones take a byte.
func (w *Writer) Uint(v uint64) { w.B = binary.AppendUvarint(w.B, v) }

// Bool appends a truth value.
func (w *Writer) Bool(v bool) {
	if v {
		w.Uint(1)
	} else {
		w.Uint(0)
	}
}

// Bytes appends a byte string.
func (w *Writer) Bytes(b []byte) {
	w.Uint(uint64(len(b)))
	w.B = append(w.B, b...)
}

// Ascending appends numbers that never become smaller, as their differences.
func (w *Writer) Ascending(list []uint64) {
	w.Uint(uint64(len(list)))
	last := uint64(0)
	for _, v := range list {
		w.Uint(v - last)
		last = v
	}
}

// ErrShort says that there is less than was written, or something else.
var ErrShort = errors.New("the bytes end too early")

// Reader takes from B what a Writer appended. After an error everything reads
// as zero.
type Reader struct {
	B   []byte
	Err error
}

// Uint reads a number; most are small.
func (r *Reader) Uint() uint64 {
	if len(r.B) > 0 && r.B[0] < 0x80 {
		v := r.B[0]
		r.B = r.B[1:]
		return uint64(v)
	}
	return r.long()
}

func (r *Reader) long() uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.B, r.Err = nil, ErrShort
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Len reads a number of things that take at least size bytes each.
func (r *Reader) Len(size int) int {
	n := r.Uint()
	if n > uint64(len(r.B)/size) {
		r.B, r.Err = nil, ErrShort
		return 0
	}
	return int(n)
}

// Bool reads a truth value.
func (r *Reader) Bool() bool { return r.Uint() != 0 }

// Bytes reads a byte string: a part of B, not a copy.
func (r *Reader) Bytes() []byte {
	n := r.Len(1)
	b := r.B[:n:n]
	r.B = r.B[n:]
	return b
}

// Ascending reads numbers that never become smaller; nil if there are none.
func (r *Reader) Ascending() []uint64 {
	n := r.Len(1)
	if n == 0 {
		return nil
	}
	list := make([]uint64, n)
	last := uint64(0)
	for i := range list {
		last += r.Uint()
		list[i] = last
	}
	return list
}
