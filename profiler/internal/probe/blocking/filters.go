package blocking

import (
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// What a program loads that forbids itself system calls, as the first argument of prctl, or
// of syscall and its like, which are given the call's number.
var (
	options = [][]byte{{0xbf, 22, 0, 0, 0}, {0xbf, 38, 0, 0, 0}}           // PR_SET_SECCOMP, and PR_SET_NO_NEW_PRIVS before it; EINVAL is 22, too
	numbers = [][]byte{{0xbf, 0x3d, 0x01, 0, 0}, {0xbf, nrPrctl, 0, 0, 0}} // SYS_seccomp
)

const nrPrctl, nrSeccomp = 157, 317

// MayFilter reports whether an image may forbid itself system calls: it can make such a
// call, and loads somewhere what that is given. It is for where the C library's calls are
// not known before they are made.
func MayFilter(im *image.Image) bool {
	option, number := has(im, options), has(im, numbers)
	if (option || number) && asks(im) {
		return true
	}
	var b body
	for s, at := range syscalls(im) {
		f := im.FuncAt(s.Addr + uint64(at))
		if f == nil {
			continue
		}
		b.read(im, f)
		switch nr, known := b.numberAt(s.Addr + uint64(at)); {
		case known && nr == nrSeccomp, known && nr == nrPrctl && option, !known && number:
			return true
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
	{0xb8, nrPrctl, 0, 0, 0},
	{0xb8, 0x3d, 0x01, 0, 0},
}

// MayFilterInGo is MayFilter for a program in Go. All make system calls by number, but few
// these: but for the standard library, which names memory so, and says what a child is to
// get when its parent dies.
func MayFilterInGo(im *image.Image) bool {
	if asks(im) && (has(im, options) || has(im, numbers)) {
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

// numberAt is the number of the system call at an address; known is false where that is in
// a register that the function was given, or the like.
func (b *body) numberAt(at uint64) (nr uint32, known bool) {
	for k := range b.insns {
		if b.insns[k].Addr == at {
			return b.number(k)
		}
	}
	return 0, true
}
