package threadarea

import "unsafe"

// word is a header word for atomic access. The area is page-aligned and the
// offsets are multiples of eight.
func (a *Area) word(off uint64) *uint64 { return (*uint64)(unsafe.Pointer(&a.mem[off])) }

// half is one of 32 bits, at a multiple of four.
func (a *Area) half(off uint64) *uint32 { return (*uint32)(unsafe.Pointer(&a.mem[off])) }

// words are so many 64-bit ones from an offset on, a multiple of eight: where many are
// read, one by one takes long.
func (a *Area) words(off, n uint64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(a.mem[off:off+8*n]))), n)
}
