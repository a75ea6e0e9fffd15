package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Spec is everything about the copy that does not depend on a process.
type Spec struct {
	Program *cfg.Program
	plans   []*Plan
	byFunc  map[*cfg.Func]*Plan
	hooks   Hooks
	opt     probe.Options
	from    Numbers
	next    Numbers // complete once the copy was written
	size    uint64  // of the cache, in bytes
	insns   int     // of all functions
	used    byteSet // original bytes that are not dead
	units   []Unit

	space   cfg.Space // for functions that are emitted once more
	network placement.Space
	once    *asm.Assembler // there are labels for all functions, of which that needs few
}

// Hooks says which library functions, by name, are to be recorded, and how.
type Hooks = func(name string) (record.Hook, bool)

// Numbers are the first free ones of functions, counters, indirect calls, gates,
// units and simulated accesses.
// Modules of one process are numbered one behind the other.
type Numbers struct{ Function, Chord, Site, Gate, Unit, Op int32 }

// Next is where the module behind this one begins.
func (s *Spec) Next() Numbers { return s.next }

// New plans a program. Functions that turn out not to be movable get their
// reason in cfg.Func.Skip.
func New(p *cfg.Program, hooks Hooks, opt probe.Options, from Numbers) *Spec {
	return plan(p, hooks, opt, from, shortReach)
}

// plan is New with jumps of two bytes that reach as far as said.
func plan(p *cfg.Program, hooks Hooks, opt probe.Options, from Numbers, reach int64) *Spec {
	pl := newPlanner(p)
	pl.reach = reach
	pl.noLeaf, pl.retainSome, pl.freeReturns, pl.units, pl.simulates = opt.NoLeaf || p.Traces(), opt.HoldSome, !p.Unwinds(), opt.Units, opt.Caches.On()
	pl.homeward = p.Image.Go != nil && !opt.NoLeaf && !p.ReadsReturns()
	pl.ranging = newRanging(p.Image, &opt)
	pl.run()
	s := newSpec(p, hooks, opt, from)
	for _, f := range p.Funcs {
		q := pl.plans[f]
		if f.Skip != "" || q == nil {
			continue
		}
		q.Site = s.next.Site
		s.next.Site += q.sites
		q.Op = s.next.Op
		s.next.Op += pl.ranging.numbers(q.ops)
		s.size += q.size
		s.add(q)
	}
	if opt.Looks {
		s.lookWhereEntered()
	}
	s.size = (s.size + 0xfffff) &^ 0xfffff
	s.used = pl.bytes.kept()
	return s
}

func newSpec(p *cfg.Program, hooks Hooks, opt probe.Options, from Numbers) *Spec {
	opt.NoInduction = opt.NoInduction || p.Leaps()
	s := &Spec{Program: p, hooks: hooks, opt: opt, from: from, next: from, byFunc: make(map[*cfg.Func]*Plan, len(p.Funcs)), size: 1 << 16} // recorder, look.S, caches
	if opt.Goroutines && hooks != nil {
		s.hooks = goHooks(hooks)
	}
	for i := range p.Regions {
		s.size += gateSize * uint64(2+len(p.Regions[i].Leaves))
	}
	s.next.Gate += int32(len(p.Regions))
	return s
}

func (s *Spec) add(q *Plan) {
	q.unit = -1
	q.Number = s.next.Function
	s.next.Function++
	s.plans = append(s.plans, q)
	s.byFunc[q.Func] = q
	s.insns += q.Func.Insns
}

// Plans are the plans of the functions that move, by number.
func (s *Spec) Plans() []*Plan { return s.plans }

// Plan returns the plan of a function, or nil where it stays.
func (s *Spec) Plan(f *cfg.Func) *Plan { return s.byFunc[f] }

// Counters is where a moved function counts; g is its graph. With a space the network
// lasts until the next one.
func (s *Spec) Counters(q *Plan, g *cfg.Graph, space *placement.Space) *placement.Network {
	return placement.Place(g, q.excluded, q.ran, q.first, s.opt, space)
}

// Uses reports whether a byte of the program's text executes or was written
// over, so that it is not free; also whether it lies outside.
func (s *Spec) Uses(addr uint64) bool { return s.used.has(addr) }

// CodeSize is an upper bound for the cache, in bytes.
func (s *Spec) CodeSize() uint64 { return s.size }

// Home is where the cache lies best, as a link-time address: right below the
// program, since its heap grows upwards from it; or, where a program lies too
// low for that, as far above it as code can reach.
func (s *Spec) Home() uint64 {
	im := s.Program.Image
	if !im.Relocatable {
		return (im.Lowest + Reach - s.size) &^ 0xfff
	}
	return (im.Lowest - homeGap - s.size) &^ 0xfff
}

const (
	homeGap = 16 << 20
	// Reach is how far code reaches, from a program's lowest address, whatever
	// it names: in bytes.
	Reach = 1<<31 - 64<<20
)

// FullTrap reports whether a stop at an offset of the cache says that the
// thread's ring is full.
func (s *Spec) FullTrap(offset uint64) bool { return threadarea.IsFull(offset) }
