package profiler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/skewlens/skewlens/profiler/internal/cpuclock"
	"github.com/skewlens/skewlens/profiler/internal/timed"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// ThreadsWord is replaced by the number of threads in a command and in its
// environment.
const ThreadsWord = "{threads}"

// Command is a program that is timed: in Words and Env, {threads} stands for P.
type Command struct {
	Path  string // of the file
	Words []string
	Env   []string
}

// ScaleConfig says what to time, and how.
type ScaleConfig struct {
	Program           Command
	Baseline, Elision *Command      // run on one core; nil: there is none
	Threads           []int         // P, each once
	Turns             []int         // P, each once: so many threads also run on one core, where they take turns
	TurnsLimit        time.Duration // of one of these: ErrTurns if it takes longer; 0: none
	Runs, Warmup      int           // of each; what warms up is not reported
	Pin               bool          // to P cores
	Lines             bool          // sample where the CPU time goes
	Stdin             func() (*os.File, error)
	Stdout, Stderr    *os.File
	Progress          func(ScaleProgress) // nil: nobody is interested
}

// ScaleProgress is what is going on.
type ScaleProgress struct {
	Elapsed   time.Duration
	Done, All int
	What      string // as "4 threads"; "": nothing runs now
}

// TimedRun is one run of a program that nothing was put into.
type TimedRun struct {
	Wall, CPU time.Duration
	Queue     time.Duration // for which threads were ready but had no core, added up
	Seen      float64       // for which part of CPU that is known
	Left      bool          // something that it has started still ran when it ended
	Samples   Samples
}

// Samples are how often each place was met where a run spent its CPU time, by the
// name of the place; nil: it was not sampled.
type Samples struct {
	Places map[string]int
	Alone  map[string]int // of them those beside which no other thread of the program ran
	Total  int
	Lost   uint64
	Kernel bool // also while the kernel worked for it
}

// SamplePeriod is the CPU time between two samples.
const SamplePeriod = cpuclock.Period

// SamplePlace is a line of the user's, or a function of what was built elsewhere.
type SamplePlace = cpuclock.Place

// ScaleRuns is what was measured, without what warmed up.
type ScaleRuns struct {
	Baseline, Elision []TimedRun
	At                map[int][]TimedRun // by P
	Turns             map[int][]TimedRun // by P: so many threads that took turns on one core
	Place             func(name string) SamplePlace
	NoSamples         error // why there are none; nil: there are, or none were asked for
}

// Cores are how many this process may use, and how many physical ones they are.
func Cores() (cores, whole int, err error) {
	all, whole, err := timed.Cores()
	return len(all), whole, err
}

// Scale times a program on several numbers of cores. The runs take turns, there and
// back, so that what changes slowly on the machine touches all of them alike. The
// first run that fails ends it with an error.
func Scale(ctx context.Context, c ScaleConfig) (*ScaleRuns, error) {
	g := guardSignals(ctx)
	defer g.stop()
	s := &scaling{ScaleConfig: c, guard: g, begun: time.Now(), out: &ScaleRuns{At: map[int][]TimedRun{}, Turns: map[int][]TimedRun{}}}
	var err error
	if s.cores, _, err = timed.Cores(); err != nil {
		return nil, err
	}
	if c.Lines {
		s.resolver = cpuclock.NewResolver()
		defer s.resolver.Close() // the places stay
		s.out.Place = s.resolver.Place
	}
	kinds := s.kinds()
	s.all = len(kinds) * (c.Warmup + c.Runs)
	for round := range c.Warmup + c.Runs {
		for _, k := range kinds {
			if err := s.run(ctx, k, round); err != nil {
				return nil, err
			}
		}
		slices.Reverse(kinds)
	}
	return s.out, nil
}

// ErrTurns: threads that should take turns on one core took far too long, since they spin
// while they wait for each other.
var ErrTurns = errors.New("with its threads by turns on one core it takes far too long: they spin while they wait for each other")

// scaling is a study under way.
type scaling struct {
	ScaleConfig
	guard     *guard
	cores     []int
	begun     time.Time
	done, all int
	out       *ScaleRuns
	resolver  *cpuclock.Resolver // nil: no samples are taken
}

// kind is a program on so many cores, and where its runs go.
type kind struct {
	what    string
	command *Command
	p       int
	turns   bool // its threads take turns on one core
	keep    func(TimedRun)
}

func (s *scaling) kinds() (all []kind) {
	for _, x := range []struct {
		name    string
		command *Command
		runs    *[]TimedRun
	}{{"the baseline", s.Baseline, &s.out.Baseline}, {"the elision", s.Elision, &s.out.Elision}} {
		if x.command != nil {
			all = append(all, kind{x.name, x.command, 1, false, func(r TimedRun) { *x.runs = append(*x.runs, r) }})
		}
	}
	for _, p := range s.Threads {
		what := strconv.Itoa(p) + " threads"
		if p == 1 {
			what = "1 thread"
		}
		all = append(all, kind{what, &s.Program, p, false, func(r TimedRun) { s.out.At[p] = append(s.out.At[p], r) }})
	}
	for _, p := range s.Turns {
		all = append(all, kind{strconv.Itoa(p) + " threads by turns", &s.Program, p, true, func(r TimedRun) { s.out.Turns[p] = append(s.out.Turns[p], r) }})
	}
	return all
}

// run runs a kind once.
func (s *scaling) run(ctx context.Context, k kind, round int) error {
	if ctx.Err() != nil {
		return s.ended(syscall.SIGTERM)
	}
	if sig := s.guard.signalled(); sig != 0 {
		return s.ended(sig)
	}
	s.tell(k.what)
	defer s.tell("")
	stdin, err := s.Stdin()
	if err != nil {
		return err
	}
	defer stdin.Close()
	words, env := k.command.With(k.p)
	j := timed.Job{
		Path: k.command.Path, Words: words, Env: env,
		Files: [3]uintptr{stdin.Fd(), s.Stdout.Fd(), s.Stderr.Fd()},
		Began: func(pid int) { s.guard.started(pid); s.guard.runs() },
		Ended: s.guard.ended,
	}
	switch {
	case k.turns:
		j.Cores, j.Turns, j.Limit = s.cores[:1], true, s.TurnsLimit
	case s.Pin:
		j.Cores = s.cores[:min(k.p, len(s.cores))]
	}
	samples := s.sample(&j)
	r, err := timed.Run(j)
	sampled := samples()
	if sig := s.guard.signalled(); sig != 0 {
		return s.ended(sig)
	}
	if r.Late {
		return ErrTurns
	}
	if err == nil {
		err = failure(r)
	}
	if err != nil {
		which := fmt.Sprintf("run %d of %d", round-s.Warmup+1, s.Runs)
		if round < s.Warmup {
			which = fmt.Sprintf("warm-up run %d of %d", round+1, s.Warmup)
		}
		return fmt.Errorf("%s of %s (%s): %w", which, strings.Join(words, " "), k.what, err)
	}
	s.done++
	if round >= s.Warmup {
		k.keep(TimedRun{Wall: r.Wall, CPU: r.CPU, Queue: r.Queue, Seen: r.Seen, Left: r.Left, Samples: sampled})
	}
	return nil
}

// sample has a job sampled, and returns what gives the samples when it has ended.
// All jobs are, so that all pay the same for it. Where it cannot be done, the first
// one says why.
func (s *scaling) sample(j *timed.Job) func() Samples {
	var clock *cpuclock.Clock
	if s.resolver != nil {
		j.Before = func() func(int) {
			c, err := cpuclock.Open(s.resolver)
			if err != nil {
				s.resolver, s.out.NoSamples = nil, err
				return func(int) {}
			}
			clock = c
			return func(int) { c.Begin() }
		}
	}
	return func() Samples {
		if clock == nil {
			return Samples{}
		}
		return Samples(clock.End())
	}
}

func (s *scaling) tell(what string) {
	if s.Progress != nil {
		s.Progress(ScaleProgress{Elapsed: time.Since(s.begun), Done: s.done, All: s.all, What: what})
	}
}

func (s *scaling) ended(sig syscall.Signal) error {
	s.guard.endFamily(sig)
	return fmt.Errorf("ended by %s after %d of %d runs: nothing is reported", tracee.SignalName(sig), s.done, s.all)
}

// failure is why a run cannot be timed.
func failure(r timed.Result) error {
	switch {
	case r.Signal != 0:
		return fmt.Errorf("ended by %s: only runs that succeed are timed; try it alone", tracee.SignalName(r.Signal))
	case r.Exit != 0:
		return fmt.Errorf("exit status %d: only runs that succeed are timed; try it alone", r.Exit)
	}
	return nil
}

// with puts P in the place of {threads}, and into OMP_NUM_THREADS.
func (c *Command) With(p int) (words, env []string) {
	put := func(in []string) []string {
		out := make([]string, len(in))
		for i, s := range in {
			out[i] = strings.ReplaceAll(s, ThreadsWord, strconv.Itoa(p))
		}
		return out
	}
	env = slices.DeleteFunc(put(c.Env), func(s string) bool { return strings.HasPrefix(s, "OMP_NUM_THREADS=") })
	return put(c.Words), append(env, "OMP_NUM_THREADS="+strconv.Itoa(p))
}

// Replay returns what gives each run of a program the same standard input: f from
// where it is now on. What is no file is read to its end first, into a file that has
// no name.
func Replay(f *os.File) (func() (*os.File, error), error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w: give it < /dev/null", err)
	}
	if info.Mode()&os.ModeCharDevice != 0 { // a terminal, /dev/null: there is nothing to begin again
		return func() (*os.File, error) { return again(f, -1) }, nil
	}
	from := int64(0)
	if info.Mode().IsRegular() {
		if from, err = f.Seek(0, io.SeekCurrent); err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
	} else {
		t, err := os.CreateTemp("", "skewlens-stdin-")
		if err != nil {
			return nil, fmt.Errorf("keep standard input for each run: %w: give it as a file, < FILE", err)
		}
		os.Remove(t.Name())
		if _, err := t.ReadFrom(f); err != nil {
			return nil, errors.Join(fmt.Errorf("keep standard input for each run: %w: give it as a file, < FILE", err), t.Close())
		}
		f = t
	}
	return func() (*os.File, error) { return again(f, from) }, nil
}

// again opens a file once more, with an offset of its own; from −1: it is shared.
func again(f *os.File, from int64) (*os.File, error) {
	if from < 0 {
		fd, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_DUPFD_CLOEXEC, 0)
		if errno != 0 {
			return nil, fmt.Errorf("give standard input to a run: %w", errno)
		}
		return os.NewFile(fd, f.Name()), nil
	}
	n, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err == nil {
		_, err = n.Seek(from, io.SeekStart)
	}
	if err != nil {
		return nil, fmt.Errorf("give standard input to a run: %w: give it as a file, < FILE", err)
	}
	return n, nil
}
