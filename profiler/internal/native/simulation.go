package native

import (
	"fmt"
	"math/bits"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/cachesim"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/caches"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// simulation is the caches that the program simulates as it runs; nil where it
// does not. A slot is a core: who takes the place of a thread that has ended
// finds the caches as that one left them.
type simulation struct {
	*caches.Hierarchy
	shared  *tracee.Shared
	view    []byte
	latency cachesim.Latency
	each    int     // how many misses one that is simulated stands for
	reuse   bool    // how far back accesses come is told, and no machine simulated
	beyond  int     // threads that found no core
	first   *thread // that has the first core, while it is alone
	several bool    // it is not
	told    *told   // nil: the program simulates them
}

// front is what moved code has to know of a job's caches.
func front(j *backend.Job) (f probe.Front, err error) {
	if m := j.Machine; m != nil && tellsAll(j) {
		if j.SampleSets > 1 {
			return f, fmt.Errorf("simulate caches: %s is simulated beside the program, and all of its sets are: leave out --sample-sets", m.Name)
		}
		return probe.Front{Sets: tellingSets, Shift: uint8(bits.TrailingZeros(uint(m.Line))), Tells: true}, nil
	} else if m != nil {
		s, err := caches.NewSample(*m, j.SampleSets)
		return probe.Front{Sets: int(m.L1.Sets(m.Line)), Shift: uint8(bits.TrailingZeros(uint(m.Line))), Sample: s.Lines}, err
	}
	return f, nil
}

// newSimulation prepares the caches of a machine, for so many accesses.
func newSimulation(p *tracee.Process, j *backend.Job, ops int) (s *simulation, err error) {
	if j.Machine == nil {
		return nil, nil
	}
	if tellsAll(j) {
		return newTelling(p, j, ops)
	}
	sample, err := caches.NewSample(*j.Machine, j.SampleSets)
	if err != nil {
		return nil, err
	}
	l, err := caches.NewLayout(*j.Machine, sample, ops)
	if err != nil {
		return nil, err
	}
	if j.Reuse {
		l = l.WithReuse(ops / 2)
	}
	s = &simulation{reuse: j.Reuse, latency: j.Machine.Latency, each: max(1, sample.Of)}
	if err := s.share(p, l.Size()); err != nil {
		return nil, err
	}
	s.shared.Large(p, s.view, l.Dense())
	s.Hierarchy = caches.New(l, s.view, s.shared.Addr)
	return s, nil
}

// newTelling prepares memory by which accesses are told.
func newTelling(p *tracee.Process, j *backend.Job, ops int) (*simulation, error) {
	if err := caches.CheckTelling(ops); err != nil {
		return nil, err
	}
	s := &simulation{latency: j.Machine.Latency, each: 1}
	if err := s.share(p, caches.TellingSize); err != nil {
		return nil, err
	}
	s.told = newTold(j, caches.NewTelling(j.Machine.Line, s.view, s.shared.Addr))
	return s, nil
}

// share maps memory that the program has, too.
func (s *simulation) share(p *tracee.Process, size uint64) (err error) {
	if s.shared, err = p.MapShared(size); err != nil {
		return fmt.Errorf("simulate caches: %w", err)
	}
	if s.view, err = s.shared.View(0, size); err != nil {
		s.shared.Close()
		return fmt.Errorf("simulate caches: %w", err)
	}
	return nil
}

// close lets go of the memory here.
func (s *simulation) close() {
	if s != nil {
		if s.told != nil {
			s.told.close()
		}
		tracee.Unmap(s.view)
		s.shared.Close()
	}
}

// join gives a new thread its core.
func (s *simulation) join(t *thread) {
	if s == nil {
		return
	}
	n := t.slot - 1 // slot 0 is nobody's
	if n >= s.cores() {
		s.beyond++
		return
	}
	if s.told != nil {
		s.told.join(n, t)
		return
	}
	switch {
	case s.several:
	case n == 0:
		s.first = t
	default: // of them, the first one may end before others come
		s.Many(s.first.area.FrontMemory())
		s.first, s.several = nil, true
	}
	s.Settle(n, t.area.SetCore(s.Core(n)))
}

// cores is how many have caches.
func (s *simulation) cores() int {
	if s.told != nil {
		return cachesim.MaxCores
	}
	return caches.Cores
}

// leave is told of a thread that has ended, before its counters are read.
func (s *simulation) leave(t *thread) {
	n := t.slot - 1
	switch {
	case s == nil || n >= s.cores():
	case s.told != nil:
		s.told.leave(n, t)
	default:
		s.Leave(n, t.area.FrontMemory())
	}
}

// clock has misses take their time on virtual cores.
func (s *simulation) clock(c threadarea.Clocks, l threadarea.Layout) {
	if s == nil || s.reuse || s.told != nil { // what misses is known only where parts end
		return
	}
	for n := l.Misses(); n < l.Fixed(); n++ {
		c.SetWorth(int32(n), int64(s.each)*int64(s.latency.OfClass(cachesim.Class((n-l.Misses())%threadarea.MissClasses))), 1)
	}
}

// tell tells a solver what is known beside the misses.
func (s *simulation) tell(v *solve.Solver, j *backend.Job, threads []*thread) {
	if s == nil {
		return
	}
	machine := j.Machine
	if s.told != nil {
		for op, n := range s.told.made {
			(*j.Testing.Accessed)[v.Accesses(int32(op))] += n
		}
		v.Simulation = solve.Simulation{Machine: *machine, Each: 1, Partner: func(op int) (int, profile.ThreadID, bool) { return s.told.partner(op, threads) }}
		return
	}
	v.Simulation = solve.Simulation{Machine: *machine, Each: s.each, Doubt: s.Doubt, Reuse: s.reuse, Partner: func(op int) (int, profile.ThreadID, bool) {
		by, cores, ok := s.Partner(op)
		writer := profile.ThreadID(0)
		if bits.OnesCount64(cores) == 1 {
			for _, t := range threads {
				switch {
				case t.slot-1 != bits.TrailingZeros64(cores):
				case writer != 0:
					return by, 0, ok // several, one after the other
				default:
					writer = t.id + 1
				}
			}
		}
		return by, writer, ok
	}}
}

// doubts says where the simulation is not what was asked for.
func (s *simulation) doubts() (list []profile.Warning) {
	if s == nil {
		return nil
	}
	left := uint64(0)
	if s.told != nil {
		left = s.told.LeftOut()
		list = append(list, s.told.doubts()...)
	} else {
		left = s.LeftOut()
		if t := s.Trouble(); t != "" {
			list = append(list, profile.Warning{Code: "caches", Message: t})
		}
	}
	if n := left; n > 0 {
		list = append(list, profile.Warning{Code: "caches", Message: fmt.Sprintf("%d accesses of signals' handlers, which came while another one was simulated, were left out", n)})
	}
	if s.each > 1 {
		list = append(list, profile.Warning{Code: "sampled-sets", Message: fmt.Sprintf("one of %d sets of the caches was simulated: misses are estimates, what few lines miss may count %d times or not at all, and lines that threads share are few", s.each, s.each)})
	}
	if s.beyond > 0 {
		more := ""
		if s.told == nil {
			more = fmt.Sprintf("; with --cores %d or more up to %d have, which takes longer", caches.Cores+1, cachesim.MaxCores)
		}
		list = append(list, profile.Warning{Code: "caches", Message: fmt.Sprintf("%d cores have caches, and %d threads found none of them free: their misses are not known%s", s.cores(), s.beyond, more)})
	}
	return list
}

// erasedIn are those of module i, by link-time addresses.
func (o *options) erasedIn(i int) (of map[uint64]bool) {
	for _, a := range o.erased {
		if int(a/profile.LibraryStep) != i {
			continue
		}
		if of == nil {
			of = map[uint64]bool{}
		}
		of[uint64(a%profile.LibraryStep)] = true
	}
	return of
}
