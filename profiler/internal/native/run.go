package native

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/section"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
	"github.com/skewlens/skewlens/profiler/internal/unwind"
)

// Run runs a program to its end and returns what it did. It must be called on
// a locked OS thread.
func Run(c Config) (*profile.Profile, error) {
	clk := startClock()
	s, err := read(c, c.Path)
	script := c.FollowExec && image.IsScript(err)
	if err != nil && !script {
		return nil, err
	}
	p, err := tracee.Start(tracee.Command{Path: c.Path, Args: append([]string{c.Name}, c.Args...), Env: c.Env, Dir: c.Dir, Files: c.Files})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if c.Started != nil {
		c.Started(p.Pid)
	}
	if script { // then it is its interpreter that runs
		if c.Path, c.Args, err = p.Replaced(); err == nil {
			s, err = read(c, c.Path)
		}
	}
	var r *run
	if err == nil {
		r, err = newRun(c, p, s, clk.nsPerTick())
	}
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("prepare %s: %w", c.Path, err)
	}
	var saving sync.WaitGroup
	defer saving.Wait()
	// From here on records are the garbage: filed as soon as they are read. With
	// many threads that is most of the memory, and it stands beside the target's.
	defer debug.SetGCPercent(debug.SetGCPercent(40))
	for {
		for _, m := range r.in.mods {
			saving.Go(m.save)
		}
		err := r.loop()
		r.in.memory.Close()
		if err != nil {
			p.Kill()
			return nil, fmt.Errorf("follow %s: %w", c.Path, err)
		}
		if r.next == nil {
			return r.profile(), nil
		}
		r = r.next
	}
}

// source is a program that was read.
type source struct {
	*analysis
	lines Lines
}

// read reads a program and plans how to count in it.
func read(c Config, path string) (s source, err error) {
	opt, err := probe.ParseOptions(c.Probe)
	if err != nil {
		return s, err
	}
	im, lines, err := c.Open(path)
	if err != nil {
		return s, err
	}
	s = source{&analysis{im: im, question: question{opt: opt}}, lines}
	if len(c.Libraries) > 0 {
		return s, nil // analysed together, once they are there
	}
	if s.analysis, err = analyse(im, s.question, c.Analyses); err == nil && s.spec.Program.UsesGS() {
		err = fmt.Errorf("%s uses the GS register, in which this backend keeps its counters; it cannot be profiled", path)
	}
	return s, err
}

// run is a program that runs.
type run struct {
	c         Config
	p         *tracee.Process
	in        *placed
	solver    *solve.Solver
	tracker   *section.Tracker
	lines     Lines
	nsPerTick float64

	begin    uint64 // time stamp at the program's first instruction
	end      uint64
	threads  []*thread // by ThreadID
	byTid    map[int]*thread
	diverted map[int][]diverted   // by thread; the innermost handler last
	waiting  map[int]tracee.Event // threads that stopped before their creator said so
	free     []int                // slots
	nextSlot int
	code     int            // exit status
	killed   syscall.Signal // 0: ended by itself
	next     *run           // of the program that took this one's place, when that is followed
	ever     []*placed      // in, and before it those of the programs whose place this one took
	replaced []string       // their paths
	execed   string         // the program that took this one's place, and is not followed
	refused  error          // why not, when it should have been
	lost     uint64
	reported time.Time
	started  time.Time
	crash    string
	unwinder *unwind.Unwinder
	sites    map[uint64]site // by return address
}

// thread is a thread of the target.
type thread struct {
	id         profile.ThreadID
	tid        int
	slot       int
	area       *threadarea.Area
	mem        []byte
	lastTSC    uint64
	begin, end uint64
	cpuNS      int64
	totals     profile.Counts
	open       []record.Delta // frames that it never left
	stood      []profile.Addr
	dead       bool
}

// newRun puts the counters into a program that is stopped before its entry.
func newRun(c Config, p *tracee.Process, s source, nsPerTick float64) (*run, error) {
	in, err := inject(p, s, c)
	if err != nil {
		return nil, err
	}
	r := &run{c: c, p: p, in: in, lines: s.lines, nsPerTick: nsPerTick, byTid: map[int]*thread{},
		diverted: map[int][]diverted{}, waiting: map[int]tracee.Event{}, nextSlot: 1, ever: []*placed{in}, sites: map[uint64]site{}, unwinder: unwind.New(p)}
	var mods []solve.Module
	for _, m := range in.mods {
		mods = append(mods, solve.Module{Spec: m.spec, Bias: m.bias, Base: m.base})
	}
	r.solver = solve.New(in.layout, mods...)
	r.begin = rdtsc()
	r.tracker = section.New(section.Config{
		Solve:     r.solver.Solve,
		Work:      r.solver.Work,
		Entered:   func(c profile.Counts, f profile.Addr) bool { return r.solver.Entered(c, uint64(f)) },
		Line:      s.lines.Key,
		BeginTSC:  r.begin,
		NSPerTick: nsPerTick,
		MaxBytes:  keepCounts,
	})
	return r, nil
}

// loop lets the program run and handles its threads' stops until it is gone,
// or another program is followed in its place.
func (r *run) loop() error {
	mute, err := r.in.view(0) // slot 0 swallows what forked children count
	if err != nil {
		return err
	}
	threadarea.InitSink(r.in.layout, mute, r.in.base(0))
	if err := tracee.Unmap(mute); err != nil {
		return err
	}
	r.started = time.Now()
	if err := r.birth(r.p.Pid, nil); err != nil {
		return err
	}
	if err := r.p.SetGS(r.p.Pid, r.in.base(r.threads[0].slot)); err != nil {
		return err
	}
	if err := r.p.Go(); err != nil {
		return err
	}
	for {
		e, err := r.p.Wait()
		if errors.Is(err, syscall.ECHILD) {
			break
		}
		if err != nil {
			return err
		}
		if err := r.handle(e); err != nil {
			return err
		}
		r.progress()
		if r.next != nil {
			return nil
		}
		if e.Kind == tracee.Gone && e.Tid == r.p.Pid {
			break
		}
	}
	for _, t := range r.threads {
		if !t.dead {
			r.death(t)
		}
	}
	r.end = rdtsc()
	return nil
}

func (r *run) handle(e tracee.Event) error {
	t := r.byTid[e.Tid]
	switch e.Kind {
	case tracee.NewThread:
		if t == nil { // its creator's stop, which says whose it is, comes later
			r.waiting[e.Tid] = e
			return nil
		}
		if err := r.p.SetGS(e.Tid, r.in.base(t.slot)); alive(err) != nil {
			return err
		}
	case tracee.Cloned:
		if t == nil {
			break
		}
		child, err := r.p.Child(e.Tid)
		if err != nil {
			break
		}
		r.drainOne(t) // the create that made the child comes before its birth
		if err := r.birth(child, t); err != nil {
			return err
		}
		if first, ok := r.waiting[child]; ok {
			delete(r.waiting, child)
			if err := r.handle(first); err != nil {
				return err
			}
		}
	case tracee.NewChild:
		if err := r.mute(e.Tid); alive(err) != nil {
			return err
		}
		r.in.forget(r.p, e.Tid)
		return r.p.Detach(e.Tid)
	case tracee.Trap:
		pc, err := r.p.PC(e.Tid)
		if m := r.in.cacheOf(pc); err == nil && t != nil && m != nil && m.spec.FullTrap(pc-m.cache) {
			r.drain()
			t.area.Reset()
			break
		}
		if ok, err := r.returns(e.Tid, pc); ok {
			return alive(err)
		}
		if d := r.in.dlopening; err == nil && d != nil && pc-1 == d.brk {
			if err := r.opened(e); alive(err) != nil {
				return err
			}
			break
		}
		if m, a := r.in.moduleOf(pc - 1); err == nil && m != nil {
			if to, ok := m.late.Trapped(a); ok {
				if err := r.p.SetPC(e.Tid, m.cache+to); alive(err) != nil {
					return err
				}
				break
			}
		}
		e.Kind, e.Sig = tracee.Signal, syscall.SIGTRAP // the program's own
		return r.deliver(e)
	case tracee.Signal:
		r.noteCrash(e)
		return r.deliver(e)
	case tracee.Exiting:
		if t != nil && !t.dead {
			t.cpuNS = r.p.CPUNS(t.tid)
			t.open, t.stood = r.openFrames(t)
			r.drain()
			r.death(t)
		}
	case tracee.Execed:
		return r.exec(e)
	case tracee.Gone:
		if t != nil && !t.dead {
			r.drain()
			r.death(t)
		}
		delete(r.byTid, e.Tid)
		delete(r.diverted, e.Tid)
		if e.Tid == r.p.Pid {
			r.code, r.killed = e.End()
		}
	}
	return r.p.Resume(e)
}

// birth numbers a new thread and prepares its area. Threads are numbered in
// the order in which they were created, which their own first stops need not
// follow.
func (r *run) birth(tid int, parent *thread) error {
	t := &thread{id: profile.ThreadID(len(r.threads)), tid: tid, begin: rdtsc()}
	if n := len(r.free); n > 0 {
		t.slot = r.free[n-1]
		r.free = r.free[:n-1]
	} else {
		t.slot = r.nextSlot
		r.nextSlot++
	}
	if t.slot >= r.in.slots {
		return fmt.Errorf("more than %d threads at once", r.in.slots-1)
	}
	mem, err := r.in.view(t.slot)
	if err != nil {
		return err
	}
	t.mem = mem
	base := r.in.base(t.slot)
	t.area = threadarea.New(r.in.layout, mem, base, r.in.base(0)+r.in.layout.Waits(), uint64(float64(cpuClockGap)/r.nsPerTick), t.begin)
	r.threads = append(r.threads, t)
	r.byTid[tid] = t
	parentID := profile.ThreadID(-1)
	if parent != nil {
		parentID = parent.id
	}
	r.tracker.Born(t.id, parentID, t.begin)
	return nil
}

// death takes what a thread has left and frees its area.
func (r *run) death(t *thread) {
	t.dead = true
	t.end = rdtsc()
	r.drainOne(t)
	rest := record.Merge(append(r.solver.Resolve(t.area, t.area.Rest()), t.open...))
	r.tracker.Died(t.id, t.end, t.cpuNS, rest)
	t.totals = r.solver.Solve(record.Merge(append(r.solver.Resolve(t.area, t.area.All()), t.open...)))
	r.lost += t.area.Lost()
	tracee.Unmap(t.mem)
	t.area, t.mem = nil, nil
	if err := r.in.wipe(t.slot); err == nil {
		r.free = append(r.free, t.slot)
	}
}

// drain takes the records of all threads and lets the tracker handle what is
// surely complete: a record that is being written just now bears a time that
// is not before its thread's last one, and no other thread can write one from
// before this moment.
func (r *run) drain() {
	const slack = 1 << 20 // ticks for a store to become visible
	horizon := rdtsc() - slack
	for _, t := range r.byTid {
		if t.dead {
			continue
		}
		busy := t.area.Busy()
		r.drainOne(t)
		if busy {
			horizon = min(horizon, t.lastTSC)
		}
	}
	r.tracker.Advance(horizon)
}

func (r *run) drainOne(t *thread) {
	t.area.Records(func(rec record.Record) {
		t.lastTSC = rec.TSC
		rec.Delta = r.solver.Resolve(t.area, rec.Delta)
		rec.Site = uint64(r.callSite(rec.Site, rec.Delta))
		rec.Arg3 = r.linkTime(rec.Kind, rec.Arg3)
		r.tracker.Record(t.id, rec)
	})
}

// progress reports now and then.
func (r *run) progress() {
	if r.c.Progress != nil && time.Since(r.reported) > 100*time.Millisecond {
		r.reported = time.Now()
		r.c.Progress(time.Since(r.started), r.p.Threads(), r.tracker.Instances)
	}
}

// noteCrash remembers the signal that is likely to end the program, with the
// function that it hit.
func (r *run) noteCrash(e tracee.Event) {
	switch e.Sig {
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE, syscall.SIGABRT:
		r.crash = tracee.SignalName(e.Sig)
	}
}
