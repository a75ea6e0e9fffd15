package native

import (
	"encoding/binary"
	"fmt"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Threads of a program in Go that its C code starts, or a library in C. They run no
// goroutines but those that are called from there, and no rule knows what they are
// part of: what they do is not counted, and that is said. Those that cgo starts for
// Go's runtime all begin in a function of its own. Which function a thread begins in
// is kept beside it by the C library. (The stack of who made it does not tell: in the
// gaps of pthread_create's frames what an earlier call left can stand.)

// beginsForGo is that function: cgo's.
const beginsForGo = "threadentry"

// Where the C library keeps what a thread begins in: glibc in its struct pthread, to
// which FS points (1,600 bytes into it), musl behind the stack, in front of what is
// thread-local.
const (
	aboveFS = 2048
	belowFS = 4096
)

// cThreads are such threads.
type cThreads struct {
	begin uint64 // beginsForGo; 0: the program has none, and no thread but Go's
	all   int
	cpuNS int64
}

func newCThreads(m *module) (c cThreads) {
	for i := range m.im.Funcs {
		if f := &m.im.Funcs[i]; f.Name == beginsForGo {
			c.begin = f.Addr + m.bias
		}
	}
	return c
}

// ends: a thread is about to end.
func (c *cThreads) ends(p *tracee.Process, tid int) {
	if c.begin == 0 || tid == p.Pid {
		return
	}
	fs := p.FS(tid)
	if c.stands(p, fs, aboveFS) || c.stands(p, fs-belowFS, belowFS) {
		return
	}
	c.all++
	ran, _ := p.Times(tid)
	c.cpuNS += ran
}

// stands: the address of cgo's function is among those bytes.
func (c *cThreads) stands(p *tracee.Process, at, size uint64) bool {
	b := make([]byte, size)
	if p.Read(b, at) != nil {
		return false
	}
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b) == c.begin {
			return true
		}
	}
	return false
}

// doubt says what is missing.
func (c *cThreads) doubt() []profile.Warning {
	if c.all == 0 {
		return nil
	}
	n, them := fmt.Sprintf("%d threads that C code started ran", c.all), "they"
	if c.all == 1 {
		n, them = "a thread that C code started ran", "it"
	}
	return []profile.Warning{{Code: "c-threads", Message: fmt.Sprintf("%s for %d ms of CPU time: what %s did is not counted", n, c.cpuNS/1e6, them)}}
}
