package blocking

import (
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
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
	loads := has(im, filters)
	if !loads || asks(im) {
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

// has reports whether an image's code has any of those bytes.
func has(im *image.Image, any [][]byte) bool {
	for range places(im, any...) {
		return true
	}
	return false
}

// asks reports whether it asks a library for such calls.
func asks(im *image.Image) bool {
	return im.Imports["prctl"] || im.Imports["syscall"] || im.Imports["seccomp_load"]
}

// What Go gives a function that makes a system call by its number, first.
var goFilters = [][]byte{
	{0xb8, 157, 0, 0, 0}, // prctl
	{0xb8, 0x3d, 0x01, 0, 0},
}

// MayFilterInGo is MayFilter for a program in Go. All make system calls by number, but few
// these: but for the standard library, which names memory so, and says what a child is to
// get when its parent dies.
func MayFilterInGo(im *image.Image) bool {
	if asks(im) && has(im, filters) {
		return true
	}
	var b body
	for s, at := range places(im, goFilters...) {
		f := im.FuncAt(s.Addr + uint64(at))
		if f != nil && !strings.HasPrefix(f.Name, "syscall.") && !strings.HasPrefix(f.Name, "runtime.") && b.callsSystem(im, f) {
			return true
		}
	}
	return false
}

// callsSystem: the function in Go calls one that makes a system call, by its name.
func (b *body) callsSystem(im *image.Image, f *image.Func) bool {
	b.read(im, f)
	for i := range b.insns {
		in := &b.insns[i]
		if in.Kind != x86.Call {
			continue
		}
		if g := im.FuncAt(in.Target); g != nil && strings.Contains(g.Name, "yscall") {
			return true
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
