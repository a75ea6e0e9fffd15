package native

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
	"github.com/skewlens/skewlens/profiler/internal/unwind"
)

// Where the threads of a program in Go are kept together in virtual time each has an
// area of its own, to which GS leads while it runs no goroutine: its clock is there,
// that of whatever goroutine it runs (package goroutine). Nothing is recorded there.
//
// Go's scheduler has as many threads run goroutines at a time as GOMAXPROCS says, which
// is the number of this machine's cores unless it is set. So it is set, if the user has
// not.

const maxProcs = "GOMAXPROCS"

// carry lets a thread run goroutines that is before its first instruction: it tells where
// GS is to lead. by is stopped: it, or its creator, which may not be able to make room
// for it. From then on others do not get on without it.
func (ts *threads) carry(tid, by int) (gs uint64, err error) {
	if ts.cores == nil {
		return ts.in.base(0), nil
	}
	carriers := ts.goroutines.carriers
	if t := carriers[tid]; t != nil {
		return ts.in.base(t.slot), nil
	}
	t := &thread{begin: rdtsc(), living: &living{tid: tid, hidden: true}}
	if by != tid {
		t.parent = carriers[by]
	}
	t.slot = ts.slots.take()
	if !ts.in.mapped(t.slot) {
		if by != tid { // who is in the middle of a system call cannot make another one
			ts.slots.give(t.slot)
			return 0, nil
		}
		if err := ts.in.grow(ts.p, by); err != nil {
			return 0, err
		}
	}
	if t.mem, err = ts.in.view(t.slot); err != nil {
		return 0, err
	}
	t.area = threadarea.New(ts.in.common, t.mem, ts.in.base(t.slot), 1<<62, 1<<62, t.begin)
	t.area.Mute()
	ts.cores.join(t)
	carriers[tid] = t
	return ts.in.base(t.slot), nil
}

// drop is told of the end of a thread that ran goroutines.
func (ts *threads) drop(tid int) {
	if ts.goroutines == nil || ts.goroutines.carriers[tid] == nil {
		return
	}
	t := ts.goroutines.carriers[tid]
	delete(ts.goroutines.carriers, tid)
	ts.cores.leave(t)
	if ts.in.wipe(t.slot, t.mem, t.area) == nil {
		ts.slots.give(t.slot)
	}
}

// pend notes what a goroutine has executed of a loop that it may leave its thread in,
// by the signal by which the runtime asks for that: its counters have it only when it
// leaves the loop, maybe on another thread, and the time is this one's.
func (s *signals) pend(e tracee.Event) {
	if s.cores == nil || s.goroutines == nil || e.Sig != syscall.SIGURG {
		return
	}
	base, err := s.p.GS(e.Tid)
	if err != nil {
		return
	}
	t := s.goroutines.byBase[base]
	regs, err := s.p.DwarfRegs(e.Tid)
	if t == nil || err != nil {
		return
	}
	if a, ok := s.in.addr(regs[unwind.PC]); ok {
		lack := s.stacks.loops(a, relocate.Before, &regs)
		t.area.Pend(s.cores.clocks, lack)
	}
}

// dropAll is told of the end of all.
func (ts *threads) dropAll() {
	if ts.goroutines == nil {
		return
	}
	for tid := range ts.goroutines.carriers {
		ts.drop(tid)
	}
}

// setProcs has a program in Go run goroutines on as many threads as there are to be
// cores, unless its environment says how many.
func (src *source) setProcs(j *backend.Job) {
	if _, set := procs(j.Env); src.golang == nil || j.Cores == 0 || set {
		return
	}
	j.Env = append(slices.Clip(j.Env), fmt.Sprintf("%s=%d", maxProcs, j.Cores))
	src.procs = true
}

// procs is what an environment says of that.
func procs(env []string) (value string, set bool) {
	for _, v := range env {
		if rest, is := strings.CutPrefix(v, maxProcs+"="); is && rest != "" {
			value, set = rest, true
		}
	}
	return value, set
}

// procsDoubt says on how many threads goroutines run, where these are kept together.
func (src *source) procsDoubt(j backend.Job) []profile.Warning {
	n, set := procs(j.Env)
	text := ""
	switch {
	case j.Cores == 0:
	case src.procs:
		text = fmt.Sprintf("GOMAXPROCS=%s was set for the program, so that goroutines run on as many threads as it is to have cores; runtime.NumCPU is still this machine's", n)
	case !set:
		text = fmt.Sprintf("goroutines run on as many threads as this machine has cores, and these are kept together as on %d; set GOMAXPROCS=%d", j.Cores, j.Cores)
	case n != fmt.Sprint(j.Cores):
		text = fmt.Sprintf("goroutines run on as many threads as GOMAXPROCS=%s says, and these are kept together as on %d cores", n, j.Cores)
	}
	if text == "" {
		return nil
	}
	return []profile.Warning{{Code: "gomaxprocs", Message: text}}
}
