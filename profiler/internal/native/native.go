package native

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/skewlens/skewlens/internal/garbage"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/goroutine"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Backend is the native backend.
type Backend struct{}

// Name implements backend.Backend.
func (Backend) Name() string { return "native" }

// Check implements backend.Backend.
func (Backend) Check(events []backend.Events) error {
	for _, e := range events {
		if e != backend.Edges && e != backend.Cache && e != backend.Hardware {
			return fmt.Errorf("the native backend cannot count %s: use --events %s, %s,%s or %s,%s", e, backend.Edges, backend.Edges, backend.Cache, backend.Edges, backend.Hardware)
		}
	}
	if !slices.Contains(events, backend.Edges) {
		return fmt.Errorf("the native backend counts %s always: use --events %s,%s, or --backend perf", backend.Edges, backend.Edges, backend.Hardware)
	}
	return nil
}

// Run implements backend.Backend.
func (Backend) Run(j backend.Job) (o *backend.Outcome, err error) {
	j.Hardware = slices.Contains(j.Events, backend.Hardware)
	return onThread(j)
}

// onThread runs a job on a thread of its own.
func onThread(j backend.Job) (o *backend.Outcome, err error) {
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread() // ptrace belongs to a thread; it ends with this goroutine
		o, err = run(j)
		close(done)
	}()
	<-done
	return o, err
}

// large is from how many bytes on a program takes so much memory to look at that huge
// pages pay; so does a thread that records much (ringFull).
const large = 1 << 20

// run is Run on a thread of its own.
func run(j backend.Job) (*backend.Outcome, error) {
	defer garbage.Pace(100)()
	if f, err := os.Stat(j.Path); err == nil && f.Size() >= large {
		garbage.Huge()
	}
	watch := startWatch()
	src, err := read(j, j.Path)
	script := j.FollowExec && image.IsScript(err)
	if err != nil && !script {
		return nil, err
	}
	src.setProcs(&j)
	p, err := tracee.Start(tracee.Command{Path: j.Path, Args: append([]string{j.Name}, j.Args...), Env: j.Env, Dir: j.Dir, Files: j.Files})
	if errors.Is(err, tracee.ErrForbidden) {
		err = &backend.Unavailable{Err: err}
	}
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if j.Started != nil {
		j.Started(p.Pid)
	}
	if script { // then it is its interpreter that runs
		if j.Path, j.Args, j.Env, err = p.Replaced(); err == nil {
			src, err = read(j, j.Path)
		}
	}
	var s *session
	if err == nil {
		s, err = prepare(j, p, src, watch.rate())
	}
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("prepare %s: %w", j.Path, err)
	}
	return follow(s)
}

// prepare is newSession, also where the program is not what it was when it
// comes to its entry: constructors may start it anew, in another environment.
func prepare(j backend.Job, p *tracee.Process, src source, rate tickRate) (*session, error) {
	s, err := newSession(j, p, src, rate)
	for errors.Is(err, tracee.ErrReplaced) {
		path, args, env, gone := p.Replaced()
		if gone != nil || !j.FollowExec && path != src.im.Path {
			return nil, err
		}
		j.Path, j.Args, j.Env = path, args, env
		if src, err = read(j, path); err == nil {
			s, err = newSession(j, p, src, rate)
		}
	}
	return s, err
}

// overInUse is how many per cent of garbage are let grow over what is in use. While the
// program runs records are the garbage: filed as soon as they are read. With many
// threads that is most of the memory, and it stands beside the target's.
const overInUse = 40

// follow runs a program to its end, and those that take its place, where they
// are followed.
func follow(s *session) (*backend.Outcome, error) {
	var saving sync.WaitGroup
	defer saving.Wait()
	defer garbage.Pace(overInUse)()
	for {
		for _, m := range slices.Concat(s.in.modules, s.in.aside) {
			saving.Go(m.save)
		}
		defer s.in.simulation.close() // when the outcome is there
		err := s.loop()
		s.in.memory.Close()
		if err != nil {
			s.p.Kill()
			return nil, fmt.Errorf("follow %s: %w", s.job.Path, err)
		}
		if s.lineage.next == nil {
			o := s.outcome()
			saving.Wait()
			for _, m := range s.in.modules {
				m.keepRan(s.solver)
			}
			return o, nil
		}
		s = s.lineage.next
	}
}

// source is a program that was read. It is analysed when it is there, with all
// that it runs among.
type source struct {
	*analysis
	lines     backend.Lines
	libraries bool              // some are to be counted
	golang    *goroutine.Layout // nil: it is not in Go
	procs     bool              // GOMAXPROCS was set for it
}

// read reads a program.
func read(j backend.Job, path string) (src source, err error) {
	var opt options
	if opt.probe, err = probe.ParseOptions(j.Probe); err != nil {
		return src, err
	}
	if j.Times {
		opt.probe.NoCounters, opt.probe.Times = true, true
	}
	opt.probe.HoldSome, opt.probe.Looks, opt.probe.Units = j.Testing.HoldSome, j.Cores > 0, j.Units
	if opt.probe.Caches, err = front(&j); err != nil {
		return src, err
	}
	opt.erased = j.Erased
	im, lines, err := j.Open(path)
	if err != nil {
		return src, err
	}
	// The kernel names a program by its real path: of one that was called by a link,
	// or in a folder that is one, the mappings would seem to be another file's.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		im.Path = real
	}
	var layout *goroutine.Layout
	if im.HasGo {
		l, err := readGo(path, im, lines, &j)
		if err != nil {
			return src, err
		}
		layout, opt.probe.Goroutines = &l, true
		opt.probe.NoLeaf = opt.probe.NoLeaf || l.Unled != 0
	}
	if err := looksForLeaks(path, j.Env); err != nil {
		return src, err
	}
	wants := byDefault(j.Libraries) && needsLibraries(path) || slices.ContainsFunc(j.Libraries, func(x string) bool { return x != backend.NoLibraries })
	return source{&analysis{im: im, options: opt}, lines, wants, layout, false}, nil
}

func usesGS(path string) error {
	return &backend.Unavailable{Err: fmt.Errorf("%s uses the GS register, in which this backend keeps its counters; it cannot be profiled", path)}
}
