package native

import (
	"slices"
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
		is := r.caller(&w)
		x.Kind, x.Site = kindOf(class, is.through), is.site
		r.known++
		if class == blocking.Futex && w.Woken() {
			x.Object = w.Arg1
		}
	} else if n := w.Wakes(); n > 0 {
		x.Wakes, x.Object = n, w.Arg1
		x.Site = r.caller(&w).site
	}
	return record.Record{TSC: w.End, CPUNS: w.CPUNS, Wait: x}
}

// way is how the user's code came to wait.
type way struct {
	site    profile.Addr // the innermost call in the user's own code
	through []string     // the functions that it led through, the innermost first
}

// caller is the way to a wait. There are few of them, which come again and again.
func (r *waitReader) caller(w *blocking.Wait) way {
	pc := r.in.original(w.After, false)
	if pc == w.After {
		return way{}
	}
	p := &r.stacks.piece
	p.Regs, p.Words = unwind.Regs(w.Regs), w.Stack
	p.Regs[unwind.PC] = pc
	c := r.stacks.chainOf()
	if is, known := c.Kept.(way); known {
		return is
	}
	is := r.wayBy(c.Returns)
	c.Kept = is
	return is
}

// wayBy is the way by so many frames; the innermost made the system call.
func (r *waitReader) wayBy(frames []uint64) (is way) {
	for i, pc := range frames {
		at := pc - 1 // in the call, or the system call
		a, counted := r.in.addr(at)
		if !counted {
			is.through = append(is.through, r.in.waits.name(at))
			continue
		}
		call := profile.Addr(a)
		if i > 0 {
			at := r.calls.at(pc)
			call = at.addr
			if is.site == 0 && at.callee != "" { // a library need not name what it calls itself, or may go there by a jump
				is.through = append(is.through, at.callee)
			}
		}
		if is.site == 0 {
			is.site = call
		}
		if r.own(call) {
			is.site = call
			return is
		}
		m, link := r.in.moduleOf(at)
		if fn := m.spec.Program.Owner(link); fn != nil {
			is.through = append(is.through, fn.Name)
		}
	}
	return is
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

// byFunction says what a futex is waited on for, by the function that does so.
var byFunction = []struct {
	prefix string
	kind   profile.WaitKind
}{
	{"pthread_barrier_", profile.WaitBarrier},
	{"pthread_cond_", profile.WaitCondition}, {"cnd_", profile.WaitCondition}, {"sem_", profile.WaitCondition},
	{"pthread_join", profile.WaitJoin}, {"pthread_timedjoin", profile.WaitJoin}, {"pthread_clockjoin", profile.WaitJoin}, {"thrd_join", profile.WaitJoin},
	{"pthread_mutex_", profile.WaitLock}, {"mtx_", profile.WaitLock}, {"pthread_rwlock_", profile.WaitLock},
	{"pthread_once", profile.WaitLock}, {"cxa_guard_acquire", profile.WaitLock}, {"g_mutex_", profile.WaitLock},
	// OpenMP's.
	{"GOMP_barrier", profile.WaitBarrier}, {"GOMP_loop_end", profile.WaitBarrier}, {"GOMP_sections_end", profile.WaitBarrier}, {"kmpc_barrier", profile.WaitBarrier},
	{"GOMP_critical_", profile.WaitLock}, {"GOMP_atomic_", profile.WaitLock}, {"omp_set_lock", profile.WaitLock}, {"omp_set_nest_lock", profile.WaitLock},
	{"kmpc_critical", profile.WaitLock}, {"kmpc_set_lock", profile.WaitLock}, {"kmpc_set_nest_lock", profile.WaitLock},
	// The heap's own locks.
	{"malloc", profile.WaitLock}, {"calloc", profile.WaitLock}, {"realloc", profile.WaitLock}, {"free", profile.WaitLock},
	{"cfree", profile.WaitLock}, {"posix_memalign", profile.WaitLock}, {"aligned_alloc", profile.WaitLock},
}

// locks are pieces of symbols of functions that wait for a lock by themselves, without
// pthread's: Rust's, of its library and of parking_lot, as either of its two manglings
// has them, and Qt's.
var locks = []string{
	"5Mutex14lock_contended", "6RwLock14read_contended", "6RwLock15write_contended", "4Once4call", "4Once4wait",
	"8RawMutex9lock_slow", "9RawRwLock16lock_shared_slow", "9RawRwLock19lock_exclusive_slow", "4Once14call_once_slow",
	"11QBasicMutex12lockInternal", "6QMutex4lock",
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
		if slices.ContainsFunc(locks, func(l string) bool { return strings.Contains(name, l) }) {
			return profile.WaitLock
		}
		name = strings.TrimLeft(name, "_")
		for _, f := range byFunction {
			if strings.HasPrefix(name, f.prefix) {
				return f.kind
			}
		}
	}
	return profile.WaitCondition
}
