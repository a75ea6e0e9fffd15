package native

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Where a run-time address lies: in a module as it was loaded, or in the code
// cache that its functions were moved to.

// cacheOf returns the module in whose code cache a run-time address lies, or nil.
func (in *injection) cacheOf(pc uint64) *module {
	for _, list := range [...][]*module{in.modules, in.aside} {
		for _, m := range list {
			if m.holds(pc) {
				return m
			}
		}
	}
	return nil
}

// moduleOf returns the module that a run-time address belongs to as it was
// loaded, and the link-time address; or nil.
func (in *injection) moduleOf(pc uint64) (*module, uint64) { return linked(in.modules, pc) }

// movedOf is moduleOf, also of libraries that are not counted.
func (in *injection) movedOf(pc uint64) (*module, uint64) {
	if m, a := linked(in.modules, pc); m != nil {
		return m, a
	}
	return linked(in.aside, pc)
}

func linked(list []*module, pc uint64) (*module, uint64) {
	for _, m := range list {
		if a, ok := m.link(pc); ok {
			return m, a
		}
	}
	return nil, 0
}

// passes returns the module in which a thread passes an island of ours at a
// run-time address, or nil.
func (in *injection) passes(pc uint64) *module {
	if m, a := in.movedOf(pc); m != nil && m.patcher.Island(a) {
		return m
	}
	return nil
}

// addr is a run-time address as the profile has it; ok is false outside of the
// modules.
func (in *injection) addr(pc uint64) (a uint64, ok bool) {
	m, link := in.moduleOf(pc)
	if m == nil {
		return 0, false
	}
	return link + m.base, true
}

// libraryAt is where the original stands for a thread in code of ours that libraries' functions
// were led to.
func (in *injection) libraryAt(pc uint64) (a uint64, ok bool) {
	if a, ok = in.mprotect.begins(pc); ok {
		return a, true
	}
	return in.waits.stubs.Origin(pc)
}

// original translates a return address in the cache, of a leaf that was called
// from there, or of a signal that came there.
func (in *injection) original(pc uint64, interrupted bool) uint64 {
	m := in.cacheOf(pc)
	if m == nil {
		if a, ok := in.libraryAt(pc); ok {
			return a
		}
		return pc
	}
	at := pc - m.cache
	if !interrupted {
		at--
	}
	x := m.stand(at)
	switch {
	case x.How == relocate.Nowhere:
		return pc
	case interrupted && !x.How.Executed(), x.How == relocate.Arrives:
		return x.Addr + m.bias
	}
	insn, err := x86.Decode(m.im.Bytes(x.Addr), x.Addr)
	if err != nil {
		return pc
	}
	return insn.End() + m.bias
}

// home is the original of a return address.
func (in *injection) home(ret uint64) uint64 { return in.original(ret, false) }

// bridge tells how to come from a return address in the code that threads of a team
// begin by to the one before: see threadarea.Bridge.
func (in *injection) bridge(pc uint64) (byRBP bool, above int64, ok bool) {
	m := in.cacheOf(pc)
	if m == nil {
		return false, 0, false
	}
	b, ok := threadarea.BridgeAt(pc - m.cache)
	return b.ByRBP, b.Above, ok
}

// moduleAt is the module of an address of the profile, nil where that is none.
func (in *injection) moduleAt(a profile.Addr) *module {
	if i := int(a / profile.LibraryStep); i < len(in.modules) {
		return in.modules[i]
	}
	return nil
}

// passed reports whether counts include entries of the function that holds an
// address of the profile; also where that cannot be told.
func (in *injection) passed(v *solve.Solver, c profile.Counts, a uint64) bool {
	m := in.moduleAt(profile.Addr(a))
	if m == nil {
		return true
	}
	f := m.spec.Program.Owner(a - m.base)
	return f == nil || m.spec.Plan(f) == nil || v.Entered(c, f.Ranges[0].Lo+m.base)
}

// apart reports whether two calls of one function stand in critical sections of
// their own.
func (in *injection) apart(a, b profile.Addr) bool {
	m := in.moduleAt(a)
	if m == nil || m != in.moduleAt(b) {
		return false
	}
	if m.locks == nil {
		m.locks = cfg.NewLocks(m.spec.Program)
	}
	return m.locks.Apart(uint64(a)-m.base, uint64(b)-m.base)
}
