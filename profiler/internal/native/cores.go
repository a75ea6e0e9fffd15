package native

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
	"github.com/skewlens/skewlens/profiler/internal/virtual"
)

// cores keep the threads of a session together in virtual time, where that was
// asked for; nil where not.
type cores struct {
	p       *tracee.Process
	in      *injection
	machine *virtual.Machine
	clocks  threadarea.Clocks
	members map[*thread]*member
	free    []int // entries that were used before
	next    int
	knowing sync.Mutex
	solver  *solve.Solver // of its own: it is asked while the session's works; nil until there is somebody to wait for
	unknown []int         // functions whose counters' worths nobody has asked for yet
	enters  uint32        // how often functions were entered when these were asked for
	stop    chan struct{}
	stopped chan struct{}
}

// member is a thread that has a clock.
type member struct {
	threadarea.Entry
	number int
	area   *threadarea.Area
	task   *tracee.Task
}

func (m *member) LookSoon() { m.area.LookSoon() }
func (m *member) Release()  { m.Entry.Release(tracee.Wake) }

// system is what the operating system says of a member.
type system struct{ *member }

func (s system) Sleeps() bool { return s.task.Sleeps() && !s.area.Simulates() }
func (s system) CPU() int64   { return s.task.CPU() }

// How many functions' counters are known when a second thread comes, and how many more
// are asked for at a time, which takes tens of microseconds each: others wait for the
// machine to look meanwhile, and a thread in code that is not known does not get on.
const (
	learnFirst = 4000
	learnMore  = 8
)

// newCores begins to keep threads together.
func newCores(p *tracee.Process, in *injection) *cores {
	cs := &cores{p: p, clocks: in.common.Clocks(virtual.Quantum), members: map[*thread]*member{}, in: in,
		stop: make(chan struct{}), stopped: make(chan struct{})}
	in.simulation.clock(cs.clocks, in.layout)
	cs.machine = virtual.New(cs.clocks)
	go cs.run()
	return cs
}

// run is the machine's ticks, until the session ends.
func (cs *cores) run() {
	runtime.LockOSThread()
	defer close(cs.stopped)
	for n := 1; ; n++ {
		select {
		case <-cs.stop:
			return
		default:
		}
		tracee.Await(cs.clocks.Asked(), cs.machine.Next())
		atomic.StoreUint32(cs.clocks.Asked(), 0)
		cs.machine.Tick(time.Now())
		cs.learn(learnMore, n%64 == 0)
	}
}

// know begins to say what counters are worth: of functions that were entered while a
// thread was alone, all of them, and of those that come first, whether they run or not.
func (cs *cores) know() {
	cs.knowing.Lock()
	known := cs.solver != nil
	if !known {
		cs.solver = cs.in.newSolver()
		for fi := range cs.solver.Functions() {
			if fi < learnFirst {
				cs.solver.Worths(fi, cs.clocks.SetWorth)
			} else {
				cs.unknown = append(cs.unknown, fi)
			}
		}
	}
	cs.knowing.Unlock()
	if !known {
		cs.learn(math.MaxInt, true)
	}
}

// learn says what the counters of some functions are worth that have been entered
// since, if threads say that any were, or anyway.
func (cs *cores) learn(more int, anyway bool) {
	cs.knowing.Lock()
	defer cs.knowing.Unlock()
	enters := cs.clocks.Enters()
	if enters == cs.enters && !anyway {
		return
	}
	cs.unknown = slices.DeleteFunc(cs.unknown, func(fi int) bool {
		first, after := cs.solver.Chords(fi)
		if more == 0 || !cs.clocks.LiveFrom(first, after) {
			return false
		}
		more--
		cs.solver.Worths(fi, cs.clocks.SetWorth)
		return true
	})
	if more > 0 {
		cs.enters = enters
	}
}

// join gives a new thread a clock, which begins at its creator's time.
func (cs *cores) join(t *thread) {
	if cs == nil {
		return
	}
	task, err := cs.p.Task(t.tid)
	if err != nil || cs.next == threadarea.MaxClocks && len(cs.free) == 0 {
		t.area.StayApart()
		return
	}
	n := cs.next
	if k := len(cs.free); k > 0 {
		n, cs.free = cs.free[k-1], cs.free[:k-1]
	} else {
		cs.next++
		cs.clocks.Use(cs.next)
	}
	m := &member{cs.clocks.Entry(n), n, t.area, task}
	m.SetClock(0)
	var creator virtual.Clock
	if c := cs.members[t.parent]; c != nil {
		creator = c
	}
	if t.hidden || len(cs.members) > 0 {
		cs.know()
	}
	if alone := cs.alone(); alone != nil {
		alone.area.Meet(cs.clocks, alone.Entry, cs.machine.Now())
	}
	cs.machine.Born(m, system{m}, creator)
	t.area.Join(cs.clocks, m.Entry)
	cs.members[t] = m
	if alone := cs.alone(); alone != nil {
		alone.area.SetAlone()
	}
	cs.ask()
}

// ask makes the machine look now.
func (cs *cores) ask() {
	atomic.StoreUint32(cs.clocks.Asked(), 1)
	tracee.Wake(cs.clocks.Asked())
}

// leave takes a thread's clock away.
func (cs *cores) leave(t *thread) {
	if cs == nil || cs.members[t] == nil {
		return
	}
	m := cs.members[t]
	cs.machine.Died(m)
	m.task.Close()
	cs.free = append(cs.free, m.number)
	delete(cs.members, t)
	if alone := cs.alone(); alone != nil {
		alone.area.SetAlone()
	}
}

// alone is the only one who has a clock; nil: there are others, or it runs goroutines,
// which count in areas of their own.
func (cs *cores) alone() *member {
	for t, m := range cs.members {
		if len(cs.members) == 1 && !t.hidden {
			return m
		}
	}
	return nil
}

// loose lets all threads go on while something is done for which some may have
// to; the function that it returns ends that.
func (cs *cores) loose() func() {
	if cs == nil {
		return func() {}
	}
	cs.machine.Free()
	return cs.machine.Bind
}

// end ends the ticks.
func (cs *cores) end() {
	if cs == nil {
		return
	}
	cs.machine.Free()
	close(cs.stop)
	cs.ask()
	<-cs.stopped
}

// doubts says where threads could not be kept together.
func (cs *cores) doubts() []profile.Warning {
	if cs == nil || !cs.machine.Over() {
		return nil
	}
	return []profile.Warning{{Code: "virtual-cores", Message: "nothing got on for a while when threads were kept together as on cores of their own, so they were let go: what threads took themselves depends on this machine's scheduler"}}
}
