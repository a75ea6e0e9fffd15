package cfg

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Region is code that does nothing but synchronise, with a wait in it: where
// threads may meet. Whoever passes it comes in by one gate and leaves by others.
// It is the largest such part of a function; where that is the whole function,
// the part of the caller that the call stands in.
type Region struct {
	Func   *Func
	Site   uint64   // what the user sees of it; 0: the call of Func
	Enter  uint64   // the instruction before which it begins,
	Also   uint64   // likewise, when it is come to for the first time: see unpeel; 0: nowhere else
	Leaves []uint64 // the instructions before which it ends
	Object Object
	Works  []uint64 // instructions of Func that are surely not of it
	Idle   bool     // it only waits: see findIdle
	Future bool     // for a future
}

// Object tells what a region's threads may have in common, where it begins.
type Object uint8

const (
	NoObject      Object = iota
	FirstArgument        // the register of the first argument
	Operand              // the address of the memory that the instruction at Enter names
)

// gate is where a region begins or ends.
type gate struct {
	at     uint64
	enter  bool
	region int32
}

// GatesAt are the regions that begin, or end, before an instruction.
func (f *Func) GatesAt(at uint64, enter bool) (regions []int32) {
	i, _ := slices.BinarySearchFunc(f.gates, at, func(g gate, a uint64) int { return cmp.Compare(g.at, a) })
	for ; i < len(f.gates) && f.gates[i].at == at; i++ {
		if f.gates[i].enter == enter {
			regions = append(regions, f.gates[i].region)
		}
	}
	return regions
}

// MaxRegions is how many regions of a program are watched.
const MaxRegions = 400

// findGates finds where threads may meet in functions that are no region as a whole.
func (g *way) findGates(called map[*Func]bool) []Region {
	for _, f := range g.p.Funcs {
		if e := g.effects[f]; e != nil && e.meets() && e.frees && !called[f] && f.Skip == "" && f.Ranges[0].Lo != g.p.Image.Entry {
			g.wanted[f] = true
		}
	}
	for _, f := range g.p.Funcs {
		if g.wanted[f] {
			g.whole(f)
		}
	}
	return g.sorted(MaxRegions)
}

// noteRegions tells the functions of the program's regions.
func (p *Program) noteRegions() {
	for i := range p.Regions {
		r := &p.Regions[i]
		p.noteGate(r.Func, gate{r.Enter, true, int32(i)})
		if r.Also != 0 {
			p.noteGate(r.Func, gate{r.Also, true, int32(i)})
		}
		for _, at := range r.Leaves {
			f := r.Func
			if !f.In(at) {
				f = p.Owner(at) // by a jump: see byJump
			}
			if f != nil {
				p.noteGate(f, gate{at, false, int32(i)})
			}
		}
	}
	for _, f := range p.Funcs {
		slices.SortFunc(f.gates, func(a, b gate) int { return cmp.Compare(a.at, b.at) })
	}
}

func (p *Program) noteGate(f *Func, g gate) {
	f.gates = append(f.gates, g)
	f.astray, f.plain = true, false
}

// regions finds the regions around the waits of a function that also works.
func (g *way) regions(s *study) {
	for _, b := range s.Blocks {
		for _, o := range s.ops[b.ID] {
			if o.kind == opWait || o.kind == opWeak {
				g.around(s, b, o)
			}
		}
	}
}

func (g *way) around(s *study, b *Block, o op) {
	jumps := o.callee != nil && b.Insns[o.at].Kind.IsJump()
	if jumps && !g.byJump(s, b, o) {
		g.wanted[g.through(o.callee)] = true // it comes out of that one
	}
	a, ok := s.grow(int32(b.ID), o.at)
	if !ok || jumps {
		return
	}
	in := s.within(a)
	if !s.frees(a, in) {
		return // it only waits: who lets it go on is elsewhere
	}
	g.wantInside(s, a, in)
	if len(in) == 1 && o.callee != nil {
		g.wanted[g.through(o.callee)] = true
		return
	}
	if o.kind == opWeak && !slices.ContainsFunc(in, func(i inner) bool { return i.op.kind == opSync }) {
		return
	}
	if r, ok := s.region(a, in, true); ok {
		g.found = append(g.found, r)
	}
}

// byJump makes a region of what ends in a jump to a function that waits, as where
// rounds were unrolled and nothing is behind the last: it is left where that
// function returns.
func (g *way) byJump(s *study, b *Block, o op) bool {
	a, ok := s.grow(int32(b.ID), o.at)
	if !ok {
		return false
	}
	in := s.within(a)
	outs, plain := g.returns(o.callee)
	r, ok := s.region(a, in, true)
	waits := func(i inner) bool { return i.op.kind == opWait || i.op.kind == opWeak }
	if slices.IndexFunc(in, waits) != len(in)-1 || len(in) < 2 || !s.frees(a, in) || !plain || !ok {
		return false
	}
	jump := b.Insns[o.at].Addr
	r.Leaves = append(slices.DeleteFunc(r.Leaves, func(at uint64) bool { return at == jump }), outs...)
	slices.Sort(r.Leaves)
	g.found = append(g.found, r)
	return true
}

// returns are where a function returns; plain unless it also does so by a jump.
func (g *way) returns(f *Func) (at []uint64, plain bool) {
	for _, b := range g.p.Blocks(f, nil).Blocks {
		switch {
		case b.Last().Kind == x86.Ret:
			at = append(at, b.Last().Addr)
		case len(TailTargets(b)) > 0 || leavesBySlot(b, len(b.Insns)-1):
			return nil, false
		}
	}
	return at, len(at) > 0
}

// frees reports whether something in an area may let others go on.
func (s *study) frees(a area, in []inner) bool {
	for _, i := range in {
		if i.op.kind == opSync || i.op.frees {
			return true
		}
	}
	for b := range a.to {
		if s.stores[b] {
			return true
		}
	}
	return false
}

// through is the function that a wrapper ends in.
func (g *way) through(f *Func) *Func {
	for n := 0; n < 8 && g.effects[f] != nil && g.effects[f].tail != nil; n++ {
		f = g.effects[f].tail
	}
	return f
}

// wantInside: a loop that tries again and again may also be one that goes round
// with a barrier in it.
func (g *way) wantInside(s *study, a area, in []inner) {
	for _, i := range in {
		if f := i.op.callee; f != nil && g.effects[f] != nil && g.effects[f].syncs && s.Blocks[i.b].Loop != nil && len(in) > 1 {
			if s.Blocks[i.b].Loop != s.Blocks[a.top].Loop {
				g.wanted[g.through(f)] = true
			}
		}
	}
}

// inner is an operation in an area.
type inner struct {
	b  int32
	op op
}

// within lists the operations of an area, by address.
func (s *study) within(a area) (list []inner) {
	for _, b := range s.Blocks {
		x := int32(b.ID)
		to, in := a.to[x]
		for _, o := range s.ops[x] {
			if in && o.at < to && (x != a.top || o.at >= a.from) {
				list = append(list, inner{x, o})
			}
		}
	}
	return list
}

// region says where the gates of an area stand, in which threads meet or only wait:
// before what all of its operations come behind, and where it ends.
func (s *study) region(a area, in []inner, meets bool) (r Region, ok bool) {
	top := in[0].b
	for _, i := range in {
		for top != flowgraph.None && !s.dom.Dominates(top, i.b) {
			top = s.dom.Idom[top]
		}
	}
	if top == flowgraph.None {
		return r, false
	}
	from := 0
	if top == a.top {
		from = a.from
	}
	at := s.wayIn(top, from, in)
	if at < 0 {
		return r, false
	}
	first := &s.Blocks[top].Insns[at]
	r.Func, r.Site, r.Enter, r.Works = s.Func, s.site(in), first.Addr, s.works()
	switch {
	case first.Kind.IsCall() || first.Kind == x86.Jmp:
		r.Object = FirstArgument
	case first.Lock && first.HasMem && first.Mem.Segment == 0 && !first.Mem.Addr32:
		r.Object = Operand
	}
	for _, w := range s.Graph.peeled {
		if a.has(int32(w.work.ID)) && a.has(int32(w.look.ID)) {
			r.Also = w.look.Start
		}
	}
	for _, p := range s.behind(a, in, meets) {
		r.Leaves = append(r.Leaves, s.Blocks[p.b].Insns[p.at].Addr)
	}
	slices.Sort(r.Leaves)
	return r, len(r.Leaves) > 0
}

// wayIn is the instruction of a block, from one on, before which a gate stands:
// the first operation, or else the latest where no flags are live; −1: none.
func (s *study) wayIn(top int32, from int, in []inner) int {
	for _, i := range in {
		if i.b == top {
			return i.op.at
		}
	}
	b := s.Blocks[top]
	for k := len(b.Insns) - 1; k >= from; k-- {
		if b.LiveAt(k, b.LiveOut) == 0 || k == from {
			return k
		}
	}
	return -1
}

// site is the operation that the user sees: a call that waits, else the first.
func (s *study) site(in []inner) uint64 {
	for _, i := range in {
		if i.op.shown != 0 {
			return i.op.shown
		}
		if x := &s.Blocks[i.b].Insns[i.op.at]; i.op.callee != nil || i.op.kind == opWait && x.Kind.IsCall() {
			return x.Addr
		}
	}
	return s.Blocks[in[0].b].Insns[in[0].op.at].Addr
}

// works are instructions that work, enough to tell the function's parts.
func (s *study) works() (at []uint64) {
	for _, b := range s.Blocks {
		for _, o := range s.ops[b.ID] {
			if o.kind == opWork {
				at = append(at, b.Insns[o.at].Addr)
			}
		}
		if s.work[b.ID] && b.Loop != nil && b.Loop.Head == b {
			at = append(at, b.Start)
		}
	}
	slices.Sort(at)
	return at[:min(len(at), 16)]
}

// whole makes a region of a function: from its entry to its returns.
func (g *way) whole(f *Func) {
	body := g.p.Blocks(f, nil)
	r := Region{Func: f, Enter: body.Entry.Start, Object: FirstArgument}
	for _, b := range body.Blocks {
		switch {
		case b.Last().Kind == x86.Ret || leavesBySlot(b, len(b.Insns)-1):
			r.Leaves = append(r.Leaves, b.Last().Addr)
		case len(TailTargets(b)) > 0 && b.Last().Kind == x86.Jmp:
			outs, plain := []uint64{b.Last().Addr}, true
			if t := g.p.FuncAt(b.Last().Target); t != nil && g.effects[t] != nil && g.effects[t].meets() {
				outs, plain = g.returns(t) // it is left where that one returns: std::barrier's, by gcc
			}
			if !plain {
				return
			}
			r.Leaves = append(r.Leaves, outs...)
		}
	}
	slices.Sort(r.Leaves)
	r.Leaves = slices.Compact(r.Leaves) // several jumps to one
	if len(r.Leaves) > 0 {
		g.found = append(g.found, r)
	}
}
