package cfg

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// markSpins marks the blocks of loops that only wait. Each way back to a head
// is looked at by itself: an outer loop often shares its head with the waiting
// loop in it.
func (g *Graph) markSpins(flow *flowgraph.Graph, tree *flowgraph.Tree) {
	r := cycles{g: g, flow: flow, tree: tree, seen: make([]int32, len(g.Blocks)), works: make([]bool, len(g.Blocks)), worked: make([]bool, len(g.Blocks))}
	for i, b := range g.Blocks {
		r.works[i] = b.works()
	}
	for _, l := range g.Loops {
		clear(r.worked)
		for _, e := range l.Head.Pred {
			if e.From == nil || !l.Has(e.From) {
				continue
			}
			if body := r.over(int32(l.Head.ID), int32(e.From.ID)); body != nil && waits(body) {
				for _, b := range body {
					b.Spin = true
				}
			}
		}
	}
}

// cycles finds the blocks of cycles. A loop around a switch may have a thousand back
// edges and as many blocks before each of them, of which one tells that it is no wait.
type cycles struct {
	g     *Graph
	flow  *flowgraph.Graph
	tree  *flowgraph.Tree
	works []bool
	seen  []int32 // in which search; the last one is n
	n     int32

	worked []bool // the rounds through a block, which ends some, work; of one head
}

// over are the blocks, by number, of the rounds that take one back edge; nil where one of
// them works.
func (r *cycles) over(head, latch int32) (body []*Block) {
	r.n++
	r.seen[head] = r.n
	body = append(body, r.g.Blocks[head])
	if r.works[head] {
		return nil
	}
	defer func() { r.worked[latch] = r.worked[latch] || body == nil }()
	for walk := []int32{latch}; len(walk) > 0; {
		v := walk[len(walk)-1]
		walk = walk[:len(walk)-1]
		if r.seen[v] == r.n || !r.tree.Reached(v) {
			continue
		}
		if r.works[v] || r.worked[v] {
			return nil
		}
		r.seen[v] = r.n
		body = append(body, r.g.Blocks[v])
		for _, p := range r.flow.Pred(v) {
			if r.worked[p] {
				return nil
			}
			walk = append(walk, p)
		}
	}
	slices.SortFunc(body, func(a, b *Block) int { return cmp.Compare(a.ID, b.ID) })
	return body
}

// works reports whether a block does what nobody does who waits, whatever else there is.
func (b *Block) works() bool {
	for i := range b.Calls {
		if !yields[b.Calls[i].Import] {
			return true
		}
	}
	for i := range b.Insns {
		x := &b.Insns[i]
		_, kept := slotOf(x)
		if !x.Kind.IsCall() && (x.Stores && !x.Lock && !kept || x.IsString() || x.Kind == x86.Ret) {
			return true
		}
	}
	return false
}

// waits reports whether a cycle of blocks that do not work only waits for memory to change: it calls
// nothing but yields, stores nothing of its own, and no register in it moves
// on by itself: whatever it computes comes from loads of addresses that stay
// the same, or that are loaded from such ones each time. (A search through an
// array also loads and leaves, but its address moves.) An atomic exchange on such an address is a spin lock: it waits too.
func waits(body []*Block) bool {
	loads, c := false, newWrites(body)
	for _, b := range body {
		for i := range b.Insns {
			x := &b.Insns[i]
			if x.Kind.IsCall() {
				continue
			}
			if x.Stores && !x.Lock && !c.keeps(b, i) {
				return false
			}
			loads = loads || x.Loads
		}
	}
	return loads && !c.moving(body)
}

// writes is what the rounds of a cycle write: registers, and slots of the frame.
type writes struct {
	def   x86.Regs
	slots map[slot]bool
}

// slot is a place in a function's frame, by how far it is from a register.
type slot struct {
	base x86.Reg
	disp int64
}

func newWrites(body []*Block) *writes {
	c := &writes{slots: map[slot]bool{}}
	for _, b := range body {
		for i := range b.Insns {
			if x := &b.Insns[i]; !x.Kind.IsCall() {
				c.def |= x.Def
				if s, ok := slotOf(x); ok && x.Stores {
					c.slots[s] = true
				}
			}
		}
	}
	c.forgetSaved(body)
	return c
}

// forgetSaved takes out registers that are put into a slot before the calls of a cycle,
// and loaded from there behind them: they stay the same.
func (c *writes) forgetSaved(body []*Block) {
	for s := range c.slots {
		var r, others x86.Regs
		plain := true
		for _, b := range body {
			for i := range b.Insns {
				x := &b.Insns[i]
				if x.Kind.IsCall() {
					continue
				}
				if at, ok := slotOf(x); ok && at == s {
					plain, r = plain && x.Vex == 0 && x.Map == 0 && x.Opcode&^2 == 0x89, r|x.Reg.Set()
				} else {
					others |= x.Def
				}
			}
		}
		if plain && r&(r-1) == 0 && r&others == 0 {
			c.def &^= r
			delete(c.slots, s)
		}
	}
}

// slotOf is the slot that an instruction's operand in memory is.
func slotOf(in *x86.Insn) (s slot, ok bool) {
	return slot{in.Mem.Base, int64(in.Mem.Disp)}, in.HasMem && in.Mem.Index == x86.None && (in.Mem.Base == x86.RBP || in.Mem.Base == x86.RSP)
}

// moving: some block of a cycle computes something else each time round.
func (c *writes) moving(body []*Block) bool {
	return slices.ContainsFunc(body, c.movesOn)
}

// yields are the calls by which a loop that waits gives its time to others, or sees what
// they have written.
var yields = map[string]bool{"sched_yield": true, "pthread_yield": true, "thrd_yield": true,
	"__kmpc_flush": true, "__kmpc_omp_taskyield": true, "GOMP_taskyield": true}

// movesOn reports whether a block of a cycle computes something else each time round.
func (c *writes) movesOn(b *Block) bool {
	for i := range b.Insns {
		x := &b.Insns[i]
		if x.Kind.IsCall() {
			continue
		}
		if regs := (x.Mem.Base.Set() | x.Mem.Index.Set()) & c.def; x.HasMem && regs != 0 && !c.anew(b, i, regs) {
			return true // its address moves
		}
		// r op= …: a register that builds on its own value moves on by itself,
		// unless it was loaded afresh in the same block before.
		if x.Def&x.Use != 0 && x.Kind == x86.Normal && !freshBefore(b, i, x.Def&x.Use) && !x.Lock && !masks(x) {
			return true
		}
	}
	return false
}

// anew reports whether registers that the rounds write have been computed in the
// block before instruction i from what stays the same: p in while (*p == 0), loaded
// each time where others might change it, but not in p = p->next. A slot that the
// rounds write is as what the block has put there before.
func (c *writes) anew(b *Block, i int, regs x86.Regs) bool {
	for k := i - 1; k >= 0 && regs != 0; k-- {
		in := &b.Insns[k]
		if in.Def&regs == 0 {
			continue
		}
		if in.Kind != x86.Normal || in.Stores || in.Lock || !c.anew(b, k, in.Use&c.def) || in.Loads && !c.slotAnew(b, k) {
			return false
		}
		regs &^= in.Def
	}
	return regs == 0
}

// slotAnew reports whether what instruction i loads is of no slot, or of one that holds
// the same in each round, or what this one has put there.
func (c *writes) slotAnew(b *Block, i int) bool {
	s, ok := slotOf(&b.Insns[i])
	if !ok || !c.slots[s] {
		return true
	}
	for k := i - 1; k >= 0; k-- {
		if x, ok := slotOf(&b.Insns[k]); ok && x == s && b.Insns[k].Stores {
			return c.keeps(b, k)
		}
	}
	return false
}

// freshBefore reports whether all registers were loaded or set in the block
// before instruction i, without building on themselves.
func freshBefore(b *Block, i int, regs x86.Regs) bool {
	for k := i - 1; k >= 0; k-- {
		if in := &b.Insns[k]; in.Def&regs != 0 && in.Use&in.Def == 0 {
			regs &^= in.Def
		}
	}
	return regs == 0
}

// masks: and, or, test-like: idempotent, so repeating them moves nothing; and
// plain moves (whose destination the decoder may also name as used).
func masks(in *x86.Insn) bool {
	if in.Vex != 0 {
		return false
	}
	switch in.Map {
	case 0:
		op := in.Opcode
		switch {
		case op >= 0x20 && op <= 0x25, op >= 0x08 && op <= 0x0d, op >= 0x38 && op <= 0x3d, op == 0x84, op == 0x85, op == 0xa8, op == 0xa9:
			return true
		case op == 0x80 || op == 0x81 || op == 0x83:
			return in.Ext() == 4 || in.Ext() == 1 || in.Ext() == 7
		case op == 0x8b || op == 0x8a || op == 0x63 || op == 0x90 || op == 0xf6 || op == 0xf7:
			return op != 0xf7 && op != 0xf6 || in.Ext() < 2
		case op >= 0x30 && op <= 0x33: // xor %r,%r clears
			return clears(in)
		case op == 0x87 || op == 0x86: // the spin lock's own exchange
			return in.HasMem
		}
	case 1:
		return in.Opcode == 0xb6 || in.Opcode == 0xb7 || in.Opcode == 0xbe || in.Opcode == 0xbf || in.Opcode == 0x1f || in.Opcode >= 0x90 && in.Opcode <= 0x9f
	}
	return false
}

// keeps reports whether a store only keeps what the block has just computed from what
// stays the same, or loaded, in a slot of its own frame, as unoptimised code does
// with every value: mov flag, %eax; mov %eax, -4(%rbp).
func (c *writes) keeps(b *Block, i int) bool {
	st := &b.Insns[i]
	_, own := slotOf(st)
	return own && st.Vex == 0 && st.Map == 0 && (st.Opcode == 0x88 || st.Opcode == 0x89) && c.anew(b, i, st.Reg.Set()&c.def)
}
