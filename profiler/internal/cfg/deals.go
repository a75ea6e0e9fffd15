package cfg

import (
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
	files  map[uint64]bool       // calls that read what several threads may
	slots  map[uint64]Call       // calls through registers that were loaded from slots, with what they enter
	spaces [takerDepth + 1]Space // of graphs, by how deep the call is
}

// habit is what a function does about what threads share, itself or by calls.
type habit struct {
	fetches bool // by one instruction
	locks   bool
	unlocks bool     // or may: it is too large to be looked at
	fills   x86.Regs // arguments, through which it stores
}

func (h *habit) add(o habit) {
	h.fetches, h.locks, h.unlocks = h.fetches || o.fetches, h.locks || o.locks, h.unlocks || o.unlocks
}

// NewDealer is for the blocks of a program.
func NewDealer(p *Program) *Dealer {
	return &Dealer{p: p, known: map[*Func]habit{}, files: map[uint64]bool{}, slots: map[uint64]Call{}}
}

const (
	smallTaker = 200 // instructions of a function that does nothing but take
	takerDepth = 8   // calls of such functions in each other
	mostRounds = 500 // over a function: it takes some ten, and nothing may hang
)

// Deals reports, by block, whether the branch that ends it depends on what was
// taken, and stands in a loop that takes: whichever way control came.
func (d *Dealer) Deals(g *Graph) (by []bool) {
	by = make([]bool, len(g.Blocks))
	if letsMeet(g.Func.Name) || !g.goesBack() {
		return by
	}
	d.readsShared(g)
	d.readsSlots(g)
	if !slices.ContainsFunc(g.Blocks, d.takes) {
		return by
	}
	loops, takes := d.loopsThatTake(g)
	if len(takes) == 0 {
		return by
	}
	framed := g.Framed()
	names := namedIn(g, framed)
	known := map[*Block]*taken{} // at the block's end
	same := map[*Block]bool{}    // nothing has changed before it since
	for again, rounds := true, 0; again; rounds++ {
		if again = false; rounds > mostRounds {
			return by
		}
		for _, b := range g.Blocks {
			if same[b] {
				continue
			}
			same[b] = true
			if t := d.after(b, known, framed, names); t != nil && (known[b] == nil || !t.equals(known[b])) {
				known[b], again = t, true
				for _, e := range b.Succ {
					delete(same, e.To)
				}
			}
		}
	}
	doomed := g.ending()
	panics := func(e *Edge) bool { return e.To != nil && doomed[e.To.ID] }
	for i, b := range g.Blocks {
		in := takes[loops.Inner[i]] || loops.Inner[i] == flowgraph.None // the first piece of a loop may be taken before it
		by[i] = in && known[b] != nil && known[b].decides(b.Last()) && !slices.ContainsFunc(b.Succ, panics)
	}
	g.untilTold(by, loops, framed)
	return by
}

// decides reports whether a branch, or the jump of a switch, goes by what was taken.
func (t *taken) decides(in *x86.Insn) bool {
	return in.Kind == x86.Jcc && t.flags || in.Kind == x86.JmpInd && in.Use&t.regs != 0
}

// goesBack reports whether a function may have loops: each has an edge to where it is
// not behind. Most functions have none, and need not be looked at.
func (g *Graph) goesBack() bool {
	return slices.ContainsFunc(g.Edges, func(e *Edge) bool { return e.From != nil && e.To != nil && e.To.Start <= e.From.Start })
}

// takes reports whether something is taken in a block. In most functions there is none,
// and where their loops are need not be found out.
func (d *Dealer) takes(b *Block) bool {
	h := d.does(b, 0)
	return h.fetches || h.locks
}

// loopsThatTake are a function's loops, and those of them that something is taken in. That
// parts begin behind regions makes no loop another one.
func (d *Dealer) loopsThatTake(g *Graph) (loops *flowgraph.Loops, takes map[int32]bool) {
	flow := g.flow()
	loops = flow.Loops(flow.Dominators(g.roots(Resumed)))
	takes = map[int32]bool{}
	for i, b := range g.Blocks {
		l := loops.Inner[i]
		if l == flowgraph.None || takes[l] {
			continue
		}
		if d.takes(b) {
			for ; l != flowgraph.None; l = loops.All[l].Parent {
				takes[l] = true
			}
		}
	}
	return loops, takes
}

// after is what holds what was taken at the end of a block, as far as that is
// known of the blocks before it, nil where none is; it is sure only where it is
// so on every way there.
func (d *Dealer) after(b *Block, known map[*Block]*taken, framed bool, p *named) *taken {
	var t *taken
	for _, e := range b.Pred {
		switch u := known[e.From]; {
		case e.Kind == Resumed:
		case e.From == nil:
			t = &taken{consts: p.calls.given}
		case u == nil: // not yet come to
		case t == nil:
			t = u.clone()
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
			t.step(b, i, isSlot(in, framed), p)
			continue
		}
		c := d.entered(&b.Calls[call])
		call++
		t.call(d.habitIn(b, c, 0), c.Callee != nil || Deals(c.Import) || messages[c.Import] || d.files[c.Insn.Addr], p)
	}
	return t
}

// does is what a block does: what calls of functions that it does not know do is
// not in it.
func (d *Dealer) does(b *Block, depth int) (h habit) {
	h.fetches = slices.ContainsFunc(b.Insns, func(in x86.Insn) bool { return fetches(&in) })
	for i := range b.Calls {
		h.add(d.habitIn(b, &b.Calls[i], depth))
	}
	return h
}

// habitIn is what a call of a block does. To copy or destroy a std::function, as what was
// taken, is a call by pointer that says so, and lets no lock go.
func (d *Dealer) habitIn(b *Block, c *Call, depth int) habit {
	const clone, destroy = 2, 3 // std::_Manager_operation
	if c = d.entered(c); c.Callee == nil && c.Import == "" {
		k := slices.IndexFunc(b.Insns, func(in x86.Insn) bool { return in.Addr == c.Insn.Addr })
		if v, known := constant(b, k, x86.RDX); known && (v == clone || v == destroy) {
			return habit{}
		}
	}
	if d.files[c.Insn.Addr] {
		return message
	}
	return d.habitOf(c, depth)
}

// habitOf is what a call does.
func (d *Dealer) habitOf(c *Call, depth int) habit {
	if c = d.entered(c); c.Callee != nil {
		if h, is := receivesInRust(c.Callee.Name); is {
			return h
		}
	}
	switch {
	case c.Callee != nil && receives[c.Callee.Name]:
		return habit{fetches: true, fills: x86.RBX.Set()} // what was received, if anything
	case c.Callee != nil && (runsOne(c.Callee.Name) || fetchesAtomic(c.Callee.Name)):
		return habit{fetches: true}
	case c.Callee != nil && takesInline(c.Callee.Name):
		return habit{locks: true}
	case c.Callee != nil && givesInline(c.Callee.Name):
		return habit{unlocks: true}
	case c.Callee != nil:
		return d.function(c.Callee, depth+1)
	case c.Import == "":
		return habit{unlocks: true} // by pointer: whatever it does
	}
	if messages[c.Import] {
		return message
	}
	locks, unlocks := lockOf(c.Import)
	return habit{fetches: Deals(c.Import), locks: locks, unlocks: unlocks, fills: x86.RDI.Set()}
}

// convention is how a function calls others.
func (f *Func) convention() *convention {
	if f.Go {
		return &inGo
	}
	return &ofC
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

// messages are functions by which whoever is free takes the next message of a queue, the
// system's, GLib's or APR's.
var messages = map[string]bool{"mq_receive": true, "mq_timedreceive": true, "msgrcv": true,
	"g_async_queue_pop": true, "g_async_queue_pop_unlocked": true, "g_async_queue_try_pop": true, "g_async_queue_timeout_pop": true,
	"apr_queue_pop": true, "apr_queue_trypop": true, "apr_queue_timedpop": true}

// function is what a function does that is small.
func (d *Dealer) function(f *Func, depth int) habit {
	h, known := d.known[f]
	if known {
		return h
	}
	if f.Runtime && d.p.Image.Go != nil {
		return habit{}
	}
	if depth > takerDepth || f.Skip != "" || f.Insns == 0 || f.Insns > smallTaker {
		return habit{unlocks: true}
	}
	d.known[f] = habit{}
	g := d.p.Blocks(f, &d.spaces[depth]) // those of its callers are in use
	d.readsShared(g)
	d.readsSlots(g)
	doomed := g.ending()
	for i, b := range g.Blocks {
		if !doomed[i] { // panics take locks, too
			h.add(d.does(b, depth))
		}
	}
	if !f.Go {
		h.fills = d.fills(g, depth)
	}
	d.known[f] = h
	return h
}

// fetches recognises instructions that read and change memory as one, and tell
// what was there: xadd, cmpxchg, xchg.
func fetches(in *x86.Insn) bool {
	return in.Lock && in.HasMem && in.Vex == 0 &&
		(in.Map == 1 && in.Opcode&0xf6 == 0xb0 || in.Map == 1 && in.Opcode&0xfe == 0xc0 || in.Map == 0 && in.Opcode&0xfe == 0x86)
}
