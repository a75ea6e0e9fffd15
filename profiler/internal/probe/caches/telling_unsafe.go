package caches

import "unsafe"

// word is one of the memory's, which the target changes meanwhile.
func (t *Telling) word(at uint64) *uint64 { return (*uint64)(unsafe.Pointer(&t.mem[at])) }
