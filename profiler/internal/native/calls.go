package native

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/section"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// calls finds the calls of library functions that records stand for.
type calls struct {
	in     *injection
	solver *solve.Solver
	sites  map[uint64]site // by return address
}

// site is where a return address leads: the call before it, and whether that
// surely called a hooked function.
type site struct {
	addr profile.Addr
	sure bool
}

// site returns the call of a library function that a record stands for, as a
// link-time address: the call behind which it returns. A function that was
// reached by a tail jump returns to its caller's caller, in the program or
// not; then it is the one such jump that the thread has taken since.
func (cs *calls) site(ret uint64, d []record.Delta) profile.Addr {
	s, ok := cs.sites[ret]
	if !ok {
		s = cs.find(cs.in.original(ret, false))
		cs.sites[ret] = s
	}
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

// caller is the call before a return address.
func (cs *calls) caller(ret uint64) profile.Addr {
	s, ok := cs.sites[ret]
	if !ok {
		s = cs.find(cs.in.original(ret, false))
		cs.sites[ret] = s
	}
	return s.addr
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
		call = prog.CallBefore(f, ret)
	}
	if call == nil {
		return site{profile.Addr(ret - 1 + m.base), false}
	}
	name := m.im.PLT[call.Target]
	if call.Kind == x86.CallInd {
		name = m.im.GOT[call.RIPTarget]
	} else if g := prog.FuncAt(call.Target); g != nil {
		name = g.Name
	}
	_, hooked := section.Hook(name)
	return site{profile.Addr(call.Addr + m.base), hooked || call.Kind == x86.CallInd && name == ""}
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
