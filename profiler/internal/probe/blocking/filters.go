package blocking

import (
	"bytes"

	"github.com/skewlens/skewlens/profiler/internal/image"
)

// What a program loads that forbids itself system calls, as the first argument of prctl or
// of syscall.
var filters = [][]byte{
	{0xbf, 22, 0, 0, 0},      // PR_SET_SECCOMP
	{0xbf, 38, 0, 0, 0},      // PR_SET_NO_NEW_PRIVS, before it
	{0xbf, 0x3d, 0x01, 0, 0}, // SYS_seccomp
}

// MayFilter reports whether an image may forbid itself system calls: it can make such a
// call, and loads somewhere what that is given. It is for where the C library's calls are
// not known before they are made.
func MayFilter(im *image.Image) bool {
	loads := false
	for i := range im.Sections {
		s := &im.Sections[i]
		for _, f := range filters {
			loads = loads || s.Exec && bytes.Contains(s.Data, f)
		}
	}
	if !loads || im.Imports["prctl"] || im.Imports["syscall"] || im.Imports["seccomp_load"] {
		return loads
	}
	var b body
	for s, at := range syscalls(im) {
		if f := im.FuncAt(s.Addr + uint64(at)); f != nil {
			if b.read(im, f); b.filters(s.Addr + uint64(at)) {
				return true
			}
		}
	}
	return false
}

// filters reports whether the system call at an address is prctl or seccomp, or one whose
// number is not known.
func (b *body) filters(at uint64) bool {
	for k := range b.insns {
		if b.insns[k].Addr == at {
			nr, known := b.number(k)
			return !known || nr == 157 || nr == 317
		}
	}
	return false
}
