package native

import (
	"encoding/binary"
	"fmt"

	"github.com/skewlens/skewlens/profile"
)

// Threads of a program in Go that its C code starts, or a library in C. They run no
// goroutines but those that are called from there, and no rule knows what they are
// part of: what they do is not counted, and that is said. Who starts a thread for
// Go's runtime does so in a function of its own, to which the stack leads.

// startsThreads is that function: cgo's.
const startsThreads = "_cgo_sys_thread_start"

// startedSpan is how much of the creator's stack is looked at: of glibc's functions
// in between those for the thread's attributes are a few hundred bytes.
const startedSpan = 4096

// cThreads are such threads.
type cThreads struct {
	from, to uint64 // startsThreads; 0: the program has none, and no thread but Go's
	alive    map[int]bool
	all      int
	cpuNS    int64
}

func newCThreads(m *module) cThreads {
	c := cThreads{alive: map[int]bool{}}
	for i := range m.im.Funcs {
		if f := &m.im.Funcs[i]; f.Name == startsThreads {
			c.from, c.to = f.Addr+m.bias, f.Addr+f.Size+m.bias
		}
	}
	return c
}

// made: by has made a thread, and stands where it did.
func (c *cThreads) made(ts *threads, tid, by int) {
	if c.from == 0 {
		return
	}
	stack := make([]byte, startedSpan)
	if err := ts.p.Read(stack, ts.p.SP(by)); err != nil {
		return
	}
	for ; len(stack) >= 8; stack = stack[8:] {
		if at := binary.LittleEndian.Uint64(stack); at > c.from && at <= c.to {
			return
		}
	}
	c.alive[tid] = true
	c.all++
}

// ends: a thread is about to end.
func (c *cThreads) ends(ts *threads, tid int) {
	if c.alive[tid] {
		c.cpuNS += ts.p.CPUNS(tid)
		delete(c.alive, tid)
	}
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
