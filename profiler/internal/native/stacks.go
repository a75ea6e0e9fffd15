package native

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/blocking"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
	"github.com/skewlens/skewlens/profiler/internal/unwind"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// dwarfNumber is a general register's number in DWARF.
var dwarfNumber = [16]int{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

// stacks finds the active frames of ending threads.
type stacks struct {
	p        *tracee.Process
	in       *injection
	solver   *solve.Solver
	unwinder *unwind.Unwinder
	chains   *unwind.Chains
	piece    unwind.Piece
	mapped   bool                   // the unwinder knows what is mapped
	lost     map[uint64]bool        // where stacks were lost
	read     []unwind.Mapping       // what was mapped when that was last read
	idle     int                    // for so many of them it is not read again …
	gap      int                    // … which is the more, the more often nothing had changed
	open     map[standing]openFrame // of programs in Go, what was asked before
}

// standing is how a frame stands at an address.
type standing struct {
	addr uint64
	how  relocate.How
}

// openFrame is what solve.ActiveFrame says of it.
type openFrame struct {
	delta record.Delta
	ok    bool
}

func newStacks(p *tracee.Process, in *injection, solver *solve.Solver) *stacks {
	u := unwind.New(p)
	u.Original, u.Bridge = in.original, in.bridge
	return &stacks{p: p, in: in, solver: solver, unwinder: u, chains: unwind.NewChains(u), lost: map[uint64]bool{}, open: map[standing]openFrame{}}
}

// active finds the frames of the program that are on an ending thread's stack,
// innermost first: they were entered and will never be left. Most threads end
// in the C library with no frame of the program below. Of a thread that asks for
// something they are those that it has when it makes its call.
func (k *stacks) active(tid int) (frames []record.Delta, next []profile.Addr) {
	regs, err := k.p.DwarfRegs(tid)
	if err != nil {
		return nil, nil
	}
	if k.in.waits.stubs.Asking(regs[unwind.PC]) {
		sp := &regs[dwarfNumber[x86.RSP]]
		call, after := blocking.AskedFrom(*sp)
		if regs[unwind.PC], err = k.p.Word(call); err != nil {
			return nil, nil
		}
		*sp = after
	}
	return k.activeAt(regs, false)
}

// activeAt is active with these registers; under: those that a signal came to.
func (k *stacks) activeAt(regs [17]uint64, under bool) (frames []record.Delta, next []profile.Addr) {
	if !k.mapped && k.readMappings() != nil {
		return nil, nil
	}
	add := func(pc uint64, how relocate.How) {
		addr, ok := k.in.addr(pc)
		if !ok {
			return
		}
		if d, n, ok := k.solver.ActiveFrame(addr, how); ok {
			frames = append(frames, d)
			if n != 0 {
				next = append(next, profile.Addr(n))
			}
		}
	}
	pc := &regs[unwind.PC]
	if a, ok := k.in.libraryAt(*pc); ok {
		*pc = a
	}
	how := relocate.Before
	if m := k.in.cacheOf(*pc); m != nil {
		x := m.stand(*pc - m.cache)
		if x.How == relocate.Nowhere {
			return nil, nil
		}
		*pc, how = x.Addr+m.bias, x.How
	}
	loops := func(regs *[17]uint64, how relocate.How) {
		if a, ok := k.in.addr(regs[unwind.PC]); ok {
			frames = append(frames, k.loops(a, how, regs)...)
		}
	}
	loops(&regs, how)
	stack, complete := k.walk(func() ([]unwind.Frame, bool) { return k.unwinder.Stack(regs) })
	for i, x := range stack {
		switch {
		case i == 0:
			add(x.PC, how)
		case x.Called:
			add(x.PC-1, relocate.After)
		default:
			add(x.PC, relocate.Before)
			loops((*[17]uint64)(x.Regs), relocate.Before)
			under = true
		}
	}
	if !complete && !under { // it may be lost in a handler
		if regs, _, ok := k.unwinder.Signalled(regs); ok {
			more, rest := k.activeAt(regs, true)
			return append(frames, more...), append(next, rest...)
		}
	}
	return frames, next
}

// loops is what is missing in the loops around an address of the profile at which a thread
// stands with these registers.
func (k *stacks) loops(at uint64, how relocate.How, regs *[17]uint64) []record.Delta {
	return k.solver.ActiveLoops(at, how, func(x x86.Reg) uint64 { return regs[dwarfNumber[x]] })
}

// places are where a thread stands in moved code, as the profile's addresses,
// from the innermost frame to the outermost one that a jump may lead to.
func (k *stacks) places(tid int) (places []uint64) {
	regs, err := k.p.DwarfRegs(tid)
	if err != nil || !k.mapped && k.readMappings() != nil {
		return nil
	}
	pc := &regs[unwind.PC]
	if m := k.in.cacheOf(*pc); m != nil {
		if x := m.stand(*pc - m.cache); x.How != relocate.Nowhere {
			*pc = x.Addr + m.bias
		}
	}
	stack, _ := k.walk(func() ([]unwind.Frame, bool) { return k.unwinder.Stack(regs) })
	last := 0
	for i, x := range stack {
		if i > 0 && x.Called {
			x.PC--
		}
		if a, ok := k.in.addr(x.PC); ok {
			places = append(places, a)
			if k.solver.Resumes(a) {
				last = len(places)
			}
		}
	}
	if last > 0 {
		places = places[:last]
	}
	return places
}

// saved are the registers of record.Stack.
var saved = [...]x86.Reg{x86.RBX, x86.RBP, x86.R12, x86.R13, x86.R14, x86.R15}

// chain is where the calls return to that led to a call which returns to ret,
// that one first.
func (k *stacks) chain(ret uint64, s *record.Stack) *unwind.Chain {
	k.piece.Words = s.Words
	r := &k.piece.Regs
	r[unwind.PC], r[dwarfNumber[x86.RSP]] = ret, s.SP
	for i, x := range saved {
		r[dwarfNumber[x]] = s.Saved[i]
	}
	return k.chainOf()
}

// chainOf is where the calls return to that led to the piece's program counter.
func (k *stacks) chainOf() *unwind.Chain {
	if !k.mapped {
		k.readMappings()
	}
	c := k.chains.Of(&k.piece)
	if c.Lost != 0 && k.learn(c.Lost) {
		c = k.chains.Of(&k.piece)
	}
	return c
}

// walk unwinds a stack, again where that is lost in what was loaded meanwhile.
func (k *stacks) walk(unwound func() (frames []unwind.Frame, complete bool)) (frames []unwind.Frame, complete bool) {
	frames, complete = unwound()
	if !complete && k.learn(frames[len(frames)-1].PC) {
		frames, complete = unwound()
	}
	return frames, complete
}

// learn looks for what was loaded meanwhile, as a stack was lost at an address: once for
// each, and seldom where that has often been in vain (stacks end in code that says
// nothing of its frames, too, at ever new places); it reports whether it may help.
func (k *stacks) learn(lost uint64) bool {
	if k.lost[lost] {
		return false
	}
	if k.idle > 0 {
		k.idle--
		return false
	}
	k.lost[lost] = true
	before := k.read
	if k.readMappings() != nil || slices.Equal(before, k.read) {
		k.gap = min(2*k.gap+1, 63)
		k.idle = k.gap
		return false
	}
	k.gap = 0
	k.chains.Forget()
	return true
}

// readMappings tells the unwinder what is mapped now.
func (k *stacks) readMappings() error {
	ms, err := k.p.Mappings()
	if err != nil {
		return err
	}
	k.read = nil
	for _, m := range ms {
		if m.Exec && m.Path != "" {
			k.read = append(k.read, unwind.Mapping{Lo: m.Lo, Hi: m.Hi, Offset: m.Offset, Path: m.Path})
		}
	}
	k.unwinder.SetMappings(k.read)
	k.mapped = true
	return nil
}
