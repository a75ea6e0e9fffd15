package native

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/probe/blocking"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/unwind"
)

// waitReader turns records of system calls that have blocked into waits: what
// for, and by which call of the user's own code.
type waitReader struct {
	in     *injection
	stacks *stacks
	lines  backend.Lines
	calls  *calls
	user   map[profile.Addr]bool // calls: whether they are in the user's own code
	known  int                   // waits
}

// record is that of a wait, or a wake. Where nothing was waited for its kind is "".
func (r *waitReader) record(raw []byte) record.Record {
	w := blocking.Parse(raw)
	x := &record.Wait{Begin: w.Begin}
	if class := blocking.ClassOf(w.Number, w.Arg1, w.Arg2); class != blocking.None {
		site, through := r.caller(&w)
		x.Kind, x.Site = kindOf(class, through), site
		r.known++
		if class == blocking.Futex && w.Woken() {
			x.Object = w.Arg1
		}
	} else if n := w.Wakes(); n > 0 {
		x.Wakes, x.Object = n, w.Arg1
		x.Site, _ = r.caller(&w)
	}
	return record.Record{TSC: w.End, CPUNS: w.CPUNS, Wait: x}
}

// caller is the innermost call in the user's own code that led to a wait, and
// the names of the functions that it led through, the innermost first.
func (r *waitReader) caller(w *blocking.Wait) (site profile.Addr, through []string) {
	regs := unwind.Regs(w.Regs)
	pc := r.in.original(w.After, false)
	if pc == w.After {
		return 0, nil
	}
	regs[unwind.PC] = pc
	for _, f := range r.stack(w, regs) {
		at := f.PC - 1 // in the call, or the system call
		a, counted := r.in.addr(at)
		if !counted {
			through = append(through, r.in.waits.name(at))
			continue
		}
		call := profile.Addr(a)
		if f.Called {
			call = r.calls.at(f.PC).addr
		}
		if site == 0 {
			site = call
		}
		if r.own(call) {
			return call, through
		}
		m, link := r.in.moduleOf(at)
		if fn := m.spec.Program.Owner(link); fn != nil {
			through = append(through, fn.Name)
		}
	}
	return site, through
}

// stack is the frames of a thread whose stack was copied.
func (r *waitReader) stack(w *blocking.Wait, regs unwind.Regs) []unwind.Frame {
	mem := copied{w.Regs[7], w.Stack}
	return r.stacks.walk(func() ([]unwind.Frame, bool) { return r.stacks.unwinder.StackIn(mem, regs) })
}

// own reports whether a call is, or was inlined, in a file that is no header of
// the system's.
func (r *waitReader) own(call profile.Addr) bool {
	is, known := r.user[call]
	if !known {
		_, is = r.lines.Locate(call).Own()
		r.user[call] = is
	}
	return is
}

// copied is a piece of a thread's stack.
type copied struct {
	at    uint64
	bytes []byte
}

// Read implements unwind.Memory.
func (c copied) Read(b []byte, addr uint64) error {
	off := addr - c.at
	if off >= uint64(len(c.bytes)) || uint64(len(c.bytes))-off < uint64(len(b)) {
		return fmt.Errorf("%#x was not copied", addr)
	}
	copy(b, c.bytes[off:])
	return nil
}

// byFunction says what a futex is waited on for, by the function that does so.
var byFunction = []struct {
	prefix string
	kind   profile.WaitKind
}{
	{"pthread_barrier_", profile.WaitBarrier},
	{"pthread_cond_", profile.WaitCondition}, {"cnd_", profile.WaitCondition}, {"sem_", profile.WaitCondition},
	{"pthread_join", profile.WaitJoin}, {"pthread_timedjoin", profile.WaitJoin}, {"pthread_clockjoin", profile.WaitJoin}, {"thrd_join", profile.WaitJoin},
	{"pthread_mutex_", profile.WaitLock}, {"mtx_", profile.WaitLock}, {"pthread_rwlock_", profile.WaitLock},
	{"pthread_once", profile.WaitLock}, {"cxa_guard_acquire", profile.WaitLock},
	// The heap's own locks.
	{"malloc", profile.WaitLock}, {"calloc", profile.WaitLock}, {"realloc", profile.WaitLock}, {"free", profile.WaitLock},
	{"cfree", profile.WaitLock}, {"posix_memalign", profile.WaitLock}, {"aligned_alloc", profile.WaitLock},
}

func kindOf(c blocking.Class, through []string) profile.WaitKind {
	switch c {
	case blocking.Sleep:
		return profile.WaitSleep
	case blocking.IO:
		return profile.WaitIO
	case blocking.Lock:
		return profile.WaitLock
	}
	for _, name := range through {
		name = strings.TrimLeft(name, "_")
		for _, f := range byFunction {
			if strings.HasPrefix(name, f.prefix) {
				return f.kind
			}
		}
	}
	return profile.WaitCondition
}
