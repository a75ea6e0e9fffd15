package native

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/section"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// calls finds the calls of library functions that records stand for.
type calls struct {
	in     *injection
	solver *solve.Solver
	stacks *stacks
	sites  map[uint64]*site // by return address
	latest *site            // that was asked for last
	tails  map[tail][]uint64
	ways   map[string][]uint64      // chains of a program in Go, by what they are
	made   map[*cfg.Func][]x86.Insn // the calls of functions that were looked at
	space  cfg.Space                // to find them in
}

// tail is a tail jump, and the chain that it was made behind.
type tail struct {
	site  uint64
	chain *uint64
}

// site is where a return address leads: the call before it, and whether that
// surely called a hooked function.
type site struct {
	ret    uint64
	addr   profile.Addr
	sure   bool
	callee string // "": not known
}

// chain returns the call that a record stands for, and the program's calls that
// led to it, that one first; 0 where none is known. What a library does on its
// own account is called by nobody. since is what the thread counted since the last
// record but those of rounds, in the middle of which no flow is whole.
func (cs *calls) chain(rec *record.Record, since []record.Delta) (site uint64, chain []uint64) {
	if !rec.Library {
		site = uint64(cs.site(rec.Site, since))
	}
	if rec.Stack == nil {
		return site, nil
	}
	chain = cs.led(rec.Site, rec.Stack)
	switch {
	case len(chain) == 0:
		return site, nil
	case rec.Library:
		site = chain[0]
	case site != chain[0] && site != 0: // by a tail jump
		chain = cs.behind(site, chain)
	}
	return site, chain
}

// led are the program's calls that led to one which returns to ret, that one first.
func (cs *calls) led(ret uint64, s *record.Stack) []uint64 {
	if cs.in.golang != nil {
		return cs.way(ret, s).calls
	}
	c := cs.stacks.chain(ret, s)
	calls, known := c.Kept.([]uint64)
	if !known {
		calls = []uint64{}
		for _, ret := range c.Returns {
			if x := cs.at(ret); x.addr != 0 {
				calls = append(calls, uint64(x.addr))
			}
		}
		c.Kept = calls
	}
	return calls
}

// behind is the chain of a call that was made by a tail jump.
func (cs *calls) behind(site uint64, chain []uint64) []uint64 {
	k := tail{site, &chain[0]}
	if cs.tails[k] == nil {
		cs.tails[k] = append([]uint64{site}, chain...)
	}
	return cs.tails[k]
}

// at is the site of a return address.
func (cs *calls) at(ret uint64) *site {
	if s := cs.latest; s != nil && s.ret == ret {
		return s
	}
	s, ok := cs.sites[ret]
	if !ok {
		found := cs.find(cs.in.original(ret, false))
		found.ret, s = ret, &found
		cs.sites[ret] = s
	}
	cs.latest = s
	return s
}

// site returns the call of a library function that a record stands for, as a
// link-time address: the call behind which it returns. A function that was
// reached by a tail jump returns to its caller's caller, in the program or
// not; then it is the one such jump that the thread has taken since.
func (cs *calls) site(ret uint64, d []record.Delta) profile.Addr {
	s := cs.at(ret)
	if s.sure {
		return s.addr
	}
	c := cs.solver.Solve(d)
	best := s.addr
	for _, t := range cs.solver.Departures() {
		if _, ok := section.Hook(t.Name); ok && c.Of(t.Event) > 0 {
			best = t.Site
		}
	}
	return best
}

// find returns the call before a return address.
func (cs *calls) find(at uint64) site {
	m, ret := cs.in.moduleOf(at)
	if m == nil || m.im.SectionAt(ret) == nil {
		return site{}
	}
	prog := m.spec.Program
	var call *x86.Insn
	if f := prog.Owner(ret - 1); f != nil {
		call = cs.before(prog, f, ret)
	}
	if call == nil {
		return site{addr: profile.Addr(ret - 1 + m.base)}
	}
	name := m.im.PLT[call.Target]
	if call.Kind == x86.CallInd {
		name = m.im.GOT[call.RIPTarget]
	} else if g := prog.FuncAt(call.Target); g != nil {
		name = g.Name
	}
	_, hooked := section.Hook(name)
	return site{addr: profile.Addr(call.Addr + m.base), sure: hooked || call.Kind == x86.CallInd && name == "", callee: name}
}

// before is the call of a function that returns to an address, or nil.
func (cs *calls) before(prog *cfg.Program, f *cfg.Func, ret uint64) *x86.Insn {
	made, known := cs.made[f]
	if !known {
		made = prog.Calls(f, &cs.space)
		cs.made[f] = made
	}
	i := slices.IndexFunc(made, func(in x86.Insn) bool { return in.End() == ret })
	if i < 0 {
		return nil
	}
	return &made[i]
}

// function turns a function's run-time address into the profile's; 0 where it
// lies in none of the modules.
func (cs *calls) function(v uint64) uint64 {
	m, a := cs.in.moduleOf(v)
	if m == nil || m.im.SectionAt(a) == nil {
		return 0
	}
	return a + m.base
}
