package cfg

import (
	"maps"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Dealer tells where threads take their work from a store that all share: a
// counter that is fetched and advanced by one instruction, a queue under a
// lock. Such a place ends in a branch that depends on what was taken: there is
// more, or there is none.
type Dealer struct {
	p      *Program
	known  map[*Func]habit       // nothing while that is found out
	spaces [takerDepth + 1]Space // of graphs, by how deep the call is
}

// habit is what a function does about what threads share, itself or by calls.
type habit struct {
	fetches bool // by one instruction
	locks   bool
	unlocks bool // or may: it is too large to be looked at
}

func (h *habit) add(o habit) {
	h.fetches, h.locks, h.unlocks = h.fetches || o.fetches, h.locks || o.locks, h.unlocks || o.unlocks
}

// NewDealer is for the blocks of a program.
func NewDealer(p *Program) *Dealer { return &Dealer{p: p, known: map[*Func]habit{}} }

const (
	smallTaker = 120 // instructions of a function that does nothing but take
	takerDepth = 8   // calls of such functions in each other
)

// Deals reports, by block, whether the branch that ends it depends on what was
// taken, and stands in a loop that takes: whichever way control came.
func (d *Dealer) Deals(g *Graph) (by []bool) {
	by = make([]bool, len(g.Blocks))
	if letsMeet(g.Func.Name) || !g.goesBack() {
		return by
	}
	inner, takes := d.loopsThatTake(g)
	if len(takes) == 0 {
		return by
	}
	runtime := slices.ContainsFunc(g.Blocks, func(b *Block) bool {
		return slices.ContainsFunc(b.Calls, func(c Call) bool { return Deals(c.Import) })
	})
	framed := g.Framed()
	known := map[*Block]*taken{} // at the block's end
	for again := true; again; {
		again = false
		for _, b := range g.Blocks {
			if t := d.after(b, known, framed); t != nil && (known[b] == nil || !t.equals(known[b])) {
				known[b], again = t, true
			}
		}
	}
	for i, b := range g.Blocks {
		in := takes[inner[i]] || inner[i] == flowgraph.None && runtime // the first piece of a region's loop is taken before it
		by[i] = b.Last().Kind == x86.Jcc && in && known[b] != nil && known[b].flags
	}
	return by
}

// goesBack reports whether a function may have loops: each has an edge to where it is
// not behind. Most functions have none, and need not be looked at.
func (g *Graph) goesBack() bool {
	return slices.ContainsFunc(g.Edges, func(e *Edge) bool { return e.From != nil && e.To != nil && e.To.Start <= e.From.Start })
}

// loopsThatTake are the loops that something is taken in, and by block the
// innermost one. That parts begin behind regions makes no loop another one.
func (d *Dealer) loopsThatTake(g *Graph) (inner []int32, takes map[int32]bool) {
	flow := g.flow()
	loops := flow.Loops(flow.Dominators(g.roots(Resumed)))
	takes = map[int32]bool{}
	for i, b := range g.Blocks {
		l := loops.Inner[i]
		if l == flowgraph.None || takes[l] {
			continue
		}
		if h := d.does(b, 0); h.fetches || h.locks {
			for ; l != flowgraph.None; l = loops.All[l].Parent {
				takes[l] = true
			}
		}
	}
	return loops.Inner, takes
}

// after is what holds what was taken at the end of a block, as far as that is
// known of the blocks before it, nil where none is; it is sure only where it is
// so on every way there.
func (d *Dealer) after(b *Block, known map[*Block]*taken, framed bool) *taken {
	var t *taken
	for _, e := range b.Pred {
		switch u := known[e.From]; {
		case e.Kind == Resumed:
		case e.From == nil:
			t = &taken{}
		case u == nil: // not yet come to
		case t == nil:
			t = &taken{u.regs, u.consts, maps.Clone(u.slots), u.flags, u.held}
		default:
			t.meet(u)
		}
	}
	if t == nil {
		return nil
	}
	call := 0
	for i := range b.Insns {
		in := &b.Insns[i]
		if !in.Kind.IsCall() {
			t.step(in, in.HasMem && in.Mem.Index == x86.None && (in.Mem.Base == x86.RSP || in.Mem.Base == x86.RBP && framed))
			continue
		}
		c := &b.Calls[call]
		call++
		t.call(d.habitOf(c, 0), c.Callee != nil || Deals(c.Import))
	}
	return t
}

// does is what a block does: what calls of functions that it does not know do is
// not in it.
func (d *Dealer) does(b *Block, depth int) (h habit) {
	h.fetches = slices.ContainsFunc(b.Insns, func(in x86.Insn) bool { return fetches(&in) })
	for i := range b.Calls {
		h.add(d.habitOf(&b.Calls[i], depth))
	}
	return h
}

// habitOf is what a call does.
func (d *Dealer) habitOf(c *Call, depth int) habit {
	switch {
	case c.Callee != nil && receives[c.Callee.Name]:
		return habit{fetches: true}
	case c.Callee != nil:
		return d.function(c.Callee, depth+1)
	case c.Import == "":
		return habit{unlocks: true} // by pointer: whatever it does
	}
	return habit{fetches: Deals(c.Import), locks: locks[c.Import], unlocks: GivesLock(c.Import)}
}

// Deals recognises functions of OpenMP's runtimes by which a thread takes the next
// rounds of a loop, or the next section: they return whether there are any, or which.
func Deals(name string) bool {
	if rest, is := strings.CutPrefix(name, "GOMP_loop_"); is {
		taken := strings.Contains(rest, "dynamic") || strings.Contains(rest, "guided") || strings.Contains(rest, "runtime")
		return taken && (strings.HasSuffix(rest, "_next") || strings.HasSuffix(rest, "_start"))
	}
	return strings.HasPrefix(name, "__kmpc_dispatch_next_") || name == "GOMP_sections_next" || name == "GOMP_sections_start"
}

// function is what a function does that is small.
func (d *Dealer) function(f *Func, depth int) habit {
	h, known := d.known[f]
	if known {
		return h
	}
	if depth > takerDepth || f.Skip != "" || f.Insns == 0 || f.Insns > smallTaker {
		return habit{unlocks: true}
	}
	d.known[f] = habit{}
	for _, b := range d.p.Blocks(f, &d.spaces[depth]).Blocks { // those of its callers are in use
		h.add(d.does(b, depth))
	}
	d.known[f] = h
	return h
}

// locks are the functions behind which shared data are read.
var locks = map[string]bool{"pthread_mutex_lock": true, "pthread_mutex_trylock": true, "pthread_mutex_timedlock": true, "pthread_spin_lock": true,
	"pthread_rwlock_wrlock": true, "mtx_lock": true,
	// A wait at a condition variable ends with the lock held.
	"pthread_cond_wait": true, "pthread_cond_timedwait": true, "pthread_cond_clockwait": true, "cnd_wait": true, "cnd_timedwait": true,
	"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE": true}

// fetches recognises instructions that read and change memory as one, and tell
// what was there: xadd, cmpxchg, xchg.
func fetches(in *x86.Insn) bool {
	return in.Lock && in.HasMem && in.Vex == 0 &&
		(in.Map == 1 && in.Opcode&0xf6 == 0xb0 || in.Map == 1 && in.Opcode&0xfe == 0xc0 || in.Map == 0 && in.Opcode&0xfe == 0x86)
}

// taken follows what was taken through straight code: the registers and slots
// of the frame that hold it or what was made of it.
type taken struct {
	regs   x86.Regs
	consts x86.Regs // hold what the code itself says: task = -1
	slots  map[x86.Mem]origin
	flags  bool
	held   bool // a lock is: whatever is read may be shared
}

// origin is where a value comes from.
type origin uint8

const (
	elsewhere origin = iota
	fixed
	store
)

// and is where a value comes from that comes from either: what is a constant where
// nothing was taken tells just that.
func (o origin) and(p origin) origin {
	if o == elsewhere || p == elsewhere {
		return elsewhere
	}
	return max(o, p)
}

// meet keeps what is so in both.
func (t *taken) meet(u *taken) {
	t.regs, t.consts = t.regs&(u.regs|u.consts)|t.consts&u.regs, t.consts&u.consts
	t.flags, t.held = t.flags && u.flags, t.held && u.held
	for m, o := range t.slots {
		t.slots[m] = o.and(u.slots[m])
	}
	for m := range u.slots {
		if _, known := t.slots[m]; !known {
			t.put(m, elsewhere)
		}
	}
}

func (t *taken) put(slot x86.Mem, o origin) {
	if t.slots == nil {
		t.slots = map[x86.Mem]origin{}
	}
	t.slots[slot] = o
}

func (t *taken) equals(u *taken) bool {
	return t.regs == u.regs && t.consts == u.consts && t.flags == u.flags && t.held == u.held && maps.Equal(t.slots, u.slots)
}

// call: what a function of the program returns was taken, if it takes, or reads
// under the lock that is held; others keep only the registers that callees save.
func (t *taken) call(h habit, own bool) {
	const saved = 1<<x86.RBX | 1<<x86.RBP | 1<<x86.RSP | 1<<x86.R12 | 1<<x86.R13 | 1<<x86.R14 | 1<<x86.R15
	t.regs, t.consts = t.regs&saved, t.consts&saved
	if own && (h.fetches || h.locks || t.held && !h.unlocks) {
		t.regs |= x86.RAX.Set()
	}
	t.flags, t.held = false, !h.unlocks && (h.locks || t.held)
}

// step follows them through an instruction; own: its memory operand is a slot.
func (t *taken) step(in *x86.Insn, own bool) {
	o := t.of(in, own)
	if in.Stores && own {
		if in.Lock {
			t.put(in.Mem, elsewhere)
		} else {
			t.put(in.Mem, o)
		}
	}
	t.regs, t.consts = t.regs&^in.Def, t.consts&^in.Def
	switch def := in.Def &^ x86.RSP.Set(); o {
	case store:
		t.regs |= def
	case fixed:
		t.consts |= def
	}
	if in.FlagsKilled != 0 {
		t.flags = o == store
	}
}

// of is where what an instruction makes comes from.
func (t *taken) of(in *x86.Insn, own bool) origin {
	if clears := in.Map == 0 && in.Vex == 0 && (in.Opcode == 0x31 || in.Opcode == 0x33) && !in.HasMem && in.Reg == in.RM; clears {
		return fixed
	}
	from, used := in.Use&t.regs != 0 || in.FlagsRead != 0 && t.flags || fetches(in), in.Use
	o := fixed
	if in.HasMem {
		if own {
			used &^= in.Mem.Base.Set()
		}
		if in.Loads {
			at, slot := t.slots[in.Mem]
			from = from || own && at == store || t.held && !slot && in.Mem.Base != x86.RSP
			if !own || at != fixed {
				o = elsewhere
			}
		}
	}
	switch {
	case from:
		return store
	case used&^t.consts != 0 || in.FlagsRead != 0 || in.Lock:
		return elsewhere
	}
	return o
}
