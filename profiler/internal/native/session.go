package native

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/section"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// keepCounts is how many bytes of instances are kept whole.
const keepCounts = 32 << 20

// session is one program, from the injection of its counters to its end.
type session struct {
	job     backend.Job
	p       *tracee.Process
	in      *injection
	lines   backend.Lines
	solver  *solve.Solver
	tracker *section.Tracker
	rate    tickRate

	gates    *gates
	threads  *threads
	signals  signals
	stacks   *stacks
	lineage  lineage
	progress progress
	procs    []profile.Warning // on how many threads goroutines run
	stops    map[int]lastStop  // of those threads

	ending     bool // the first thread has come to its end: others may follow at once
	began      time.Time
	begin, end uint64         // time stamps at the program's first instruction, and after its last
	children   int            // processes that it has started
	queuedNS   int64          // for which its threads were ready and had no core
	code       int            // exit status
	killed     syscall.Signal // 0: ended by itself
}

// newSession puts the counters into a program that is stopped before its entry.
func newSession(j backend.Job, p *tracee.Process, src source, rate tickRate) (*session, error) {
	in, err := inject(p, src, j)
	if err != nil {
		return nil, err
	}
	solver := in.newSolver()
	stacks := newStacks(p, in, solver)
	s := &session{job: j, p: p, in: in, lines: src.lines, solver: solver, rate: rate, began: time.Now(), begin: rdtsc(),
		signals: signals{p: p, in: in, stacks: stacks, diverted: map[int][]diverted{}, leaving: map[int]*leaving{}}, stacks: stacks, stops: map[int]lastStop{},
		lineage: lineage{injections: []*injection{in}}, progress: progress{to: j.Progress}}
	s.gates = newGates(in, src.lines)
	us := newUnits(in, solver.Work)
	var loop func(int32) section.Loop
	if us.on() {
		loop = us.loop
	}
	s.tracker = section.New(section.Config{
		Goroutines: in.golang != nil,
		Main:       sync.OnceValue(func() string { return in.mainFile(src.lines) }),
		Times:      j.Times,
		Solve:      solver.Solve,
		Work:       solver.Work,
		Wakes:      solver.Wakes,
		Entered:    func(c profile.Counts, f profile.Addr) bool { return solver.Entered(c, uint64(f)) },
		Line:       src.lines.Key,
		Locate:     s.gates.locate,
		Passes:     func(c profile.Counts, site profile.Addr) bool { return in.passed(solver, c, uint64(site)) },
		Apart:      in.apart,
		Gate:       s.gates.decided,
		Loop:       loop,
		MPI:        in.mpi(p),
		BeginTSC:   s.begin,
		NSPerTick:  float64(rate),
		MaxBytes:   keepCounts,
	})
	s.threads = newThreads(p, in, solver, s.tracker, rate)
	if j.Hardware {
		if s.threads.hardware, err = openHardware(in, solver); err != nil {
			return nil, err
		}
	}
	s.threads.calls.stacks = s.stacks
	s.threads.faults.beside = j.Beside
	if in.golang != nil {
		s.threads.goroutines = newGoroutines(in)
		s.signals.goroutines = s.threads.goroutines
		s.procs = src.procsDoubt(j)
	}
	s.threads.waits = &waitReader{in: in, stacks: s.stacks, lines: src.lines, calls: s.threads.calls, user: map[profile.Addr]bool{}}
	s.threads.units = us
	s.threads.gates, s.gates.calls = s.gates, s.threads.calls
	return s, nil
}

// newSolver is for the counters of all modules.
func (in *injection) newSolver() *solve.Solver {
	var modules []solve.Module
	for _, m := range in.modules {
		modules = append(modules, solve.Module{Spec: m.spec, Bias: m.bias, Base: m.base, Kept: m.solved})
	}
	v := solve.New(in.layout, modules...)
	if in.simulation != nil {
		v.Simulation.Each, v.Simulation.Reuse = in.simulation.each, in.simulation.reuse
	}
	return v
}

// loop lets the program run and handles its threads' stops until it is gone,
// or another program is followed in its place.
func (s *session) loop() error {
	defer s.in.release()
	defer s.threads.faults.close()
	defer s.threads.closeCounters()
	defer func() { s.threads.cores.end() }()
	if err := s.start(); err != nil {
		return err
	}
	for {
		e, waited, err := s.p.Next()
		if waited {
			s.threads.fresh = rdtsc()
		}
		if errors.Is(err, syscall.ECHILD) {
			break
		}
		if err != nil {
			return err
		}
		if err := handlers[e.Kind](s, e); err != nil {
			return err
		}
		s.progress.show(s.p.Threads(), s.tracker.Instances)
		if s.lineage.next != nil {
			return nil
		}
		if e.Kind == tracee.Gone && e.Tid == s.p.Pid {
			break
		}
	}
	s.threads.endAll()
	s.end = rdtsc()
	return nil
}

// start lets the first thread go.
func (s *session) start() error {
	var err error
	if s.in.shared, err = s.in.view(0); err != nil {
		return err
	}
	s.in.common = threadarea.NewCommon(s.in.layout, s.in.shared, s.in.base(0))
	s.in.common.Gates = s.gates.n()
	s.in.common.SetTimer(s.in.timer())
	if s.job.Cores > 0 {
		s.threads.cores = newCores(s.p, s.in)
		s.signals.cores = s.threads.cores
	}
	if s.threads.silent = s.in.mayFilter(); !s.threads.silent {
		s.in.common.Rate = uint64((1 << 32) / s.rate)
	}
	s.progress.start()
	if s.job.Running != nil {
		s.job.Running()
	}
	if s.in.golang != nil {
		gs, err := s.threads.carry(s.p.Pid, s.p.Pid)
		if err != nil {
			return err
		}
		if err := s.p.SetGS(s.p.Pid, gs); err != nil {
			return err
		}
		return s.p.Go()
	}
	first, err := s.threads.birth(s.p.Pid, nil)
	if err != nil {
		return err
	}
	if err := s.p.SetGS(s.p.Pid, s.in.base(first.slot)); err != nil {
		return err
	}
	first.area.SetTop(s.p.SP(s.p.Pid))
	if err := s.adopt(first); err != nil {
		return err
	}
	return s.p.Go()
}

// progress tells how far a run has come.
type progress struct {
	to       func(elapsed time.Duration, threads, instances int) // nil: nobody
	started  time.Time
	reported time.Time
}

func (p *progress) start() { p.started = time.Now() }

func (p *progress) show(threads, instances int) {
	if p.to != nil && time.Since(p.reported) > 100*time.Millisecond {
		p.reported = time.Now()
		p.to(time.Since(p.started), threads, instances)
	}
}
