package cfg

import "strings"

// Programs in Go. Their functions call by a convention of Go's own: every general
// register but the stack pointer, the frame pointer and r14 is the caller's, and up
// to r11 they hold arguments; r12, r13 and r15 hold none. What the runtime does is no
// part of the program: it schedules goroutines, on stacks of its own too, and looks
// at return addresses whenever it likes. It stays where it is.
//
// Any call may end in a panic, and a thread may be caught in any that goes through a
// pointer, or to the runtime, which calls deferred functions. Edges for all of these
// would cost a counter each: calls are taken to come back, but for those that lead
// to where threads are caught by names, and the profiler finds on a goroutine's stack
// who has not.

// ofGo marks what stays in a program of Go, and what never comes back.
func (p *Program) ofGo(f *Func) {
	begins, assembly := p.Image.Go.Begins(f.Ranges[0].Lo)
	switch f.Go = begins; {
	case !begins && p.Image.Cgo && !ofCgo(f.Name):
		return
	case !begins:
		f.Runtime, f.Skip = true, "it is not written in Go"
	case ofGoRuntime(f.Name):
		f.Runtime, f.Skip = true, "Go's runtime"
	case assembly:
		f.Skip = "it is written in assembly"
	}
	f.stays = f.Skip != ""
	f.ends = goEnds(f.Name)
}

var goRuntime = []string{"runtime.", "internal/runtime/", "internal/abi.", "internal/bytealg.", "internal/cpu.", "internal/goarch.", "internal/goos.",
	"internal/chacha8rand.", "internal/race.", "sync/atomic.", "internal/msan.", "internal/asan.", "runtime/cgo.", "runtime/internal/",
	"time.sendTime", "time.goFunc", "_rt0_", "_cgo_", "go:"}

// ofGoRuntime: a function is the runtime's, or called by it on its own stacks. What
// the runtime calls of a package has that package's name; what C calls has that in C.
func ofGoRuntime(name string) bool {
	return begins(name, goRuntime) || !strings.Contains(name, ".") && !strings.HasPrefix(name, "_cgoexp_")
}

// ofCgo: a function in C is of what Go's runtime brings along to start threads, to come
// to C, and to be called from there.
func ofCgo(name string) bool {
	own := strings.HasPrefix(name, "_cgo_") && !strings.Contains(name, "_Cfunc_")
	return own || strings.HasPrefix(name, "x_cgo_") || name == "threadentry" || name == "crosscall1"
}

// By these Go calls a function in C, and C one in Go, which may not come back there: it
// may panic.
const CallsC, CallsGo = "runtime.cgocall", "crosscall2"

// ReadsReturns reports whether other functions than those by which Go's runtime walks up
// stacks look at return addresses: what the race detector is told of each call, and, of
// the runtime's own tests, what follows frame pointers.
func (p *Program) ReadsReturns() bool {
	return p.HasFunc("runtime.racefuncenter") || p.HasFunc("runtime.FPCallers")
}

// goEnds: a function of the runtime never comes back.
func goEnds(name string) bool {
	switch name {
	case "runtime.gopanic", "runtime.throw", "runtime.fatal", "runtime.block", "runtime.goexit", "runtime.goexit1":
		return true
	}
	return strings.HasPrefix(name, "runtime.panic")
}
