package cfg

import (
	"cmp"
	"slices"
	"strings"

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
	Enter  uint64   // the instruction before which it begins
	Leaves []uint64 // the instructions before which it ends
	Object Object
	Works  []uint64 // instructions of Func that are surely not of it
	Idle   bool     // it only waits: see findIdle
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

// finder finds the regions of a program.
type finder struct {
	p       *Program
	effects map[*Func]*effect // nil while it is looked at
	wanted  map[*Func]bool    // functions that are regions as a whole
	found   []Region
	idle    bool     // idle regions are looked for
	waiters []*study // functions that do nothing but wait
}

// MaxRegions is how many regions of a program are watched.
const MaxRegions = 400

// findRegions finds where threads may meet, and notes it in the functions.
func (p *Program) findRegions() {
	if !p.threads() {
		return
	}
	x := &finder{p: p, effects: map[*Func]*effect{}, wanted: map[*Func]bool{}}
	called := map[*Func]bool{}
	for _, f := range p.Funcs {
		for _, g := range p.Callees(f) {
			called[g] = called[g] || g != f
		}
		x.visit(f)
	}
	for _, f := range p.Funcs {
		if e := x.effects[f]; e != nil && e.meets() && e.frees && !called[f] && f.Skip == "" && f.Ranges[0].Lo != p.Image.Entry {
			x.wanted[f] = true
		}
	}
	for _, f := range p.Funcs {
		if x.wanted[f] {
			x.whole(f)
		}
	}
	slices.SortFunc(x.found, func(a, b Region) int {
		return cmp.Or(cmp.Compare(a.Enter, b.Enter), slices.Compare(a.Leaves, b.Leaves))
	})
	x.found = slices.CompactFunc(x.found, func(a, b Region) bool { return a.Enter == b.Enter && slices.Equal(a.Leaves, b.Leaves) })
	if len(x.found) > MaxRegions {
		x.found = x.found[:MaxRegions]
	}
	p.Regions = append(x.found, p.findIdle()...)
	p.noteRegions()
}

// noteRegions tells the functions of the program's regions.
func (p *Program) noteRegions() {
	for i := range p.Regions {
		r := &p.Regions[i]
		r.Func.gates = append(r.Func.gates, gate{r.Enter, true, int32(i)})
		for _, at := range r.Leaves {
			r.Func.gates = append(r.Func.gates, gate{at, false, int32(i)})
		}
		r.Func.astray, r.Func.plain = true, false
	}
	for _, f := range p.Funcs {
		slices.SortFunc(f.gates, func(a, b gate) int { return cmp.Compare(a.at, b.at) })
	}
}

// threads reports whether the program can have more than one thread.
func (p *Program) threads() bool {
	return p.names("pthread_create", "thrd_create", "_ZNSt6thread15_M_start_thread", "clone")
}

func (e *effect) meets() bool { return e.waits && !e.work }

// visit looks at a function behind those that it calls.
func (x *finder) visit(f *Func) *effect {
	if e, known := x.effects[f]; known {
		if e == nil {
			return &effect{work: true} // of a recursion
		}
		return e
	}
	if e := standard(f.Name); e != nil {
		x.effects[f] = e
		return e
	}
	x.effects[f] = nil
	e := &effect{work: true}
	if f.Skip == "" && f.Ranges[0].Lo != x.p.Image.Entry && !x.p.catches(f.Name) && !ofTheLibrary(x.p, f) {
		look := f.syncs
		for _, g := range x.p.Callees(f) {
			look = x.visit(g).meets() || look
		}
		if look || f.Insns <= lightCall {
			e = x.study(f)
		}
	}
	x.effects[f] = e
	return e
}

// ofTheLibrary: the C library's own, in a static program.
func ofTheLibrary(p *Program, f *Func) bool {
	if !p.Image.Static || len(f.Name) < 2 {
		return false
	}
	_, known := importOps[f.Name]
	return known || f.Name[0] == '_' && f.Name[1] != 'Z'
}

// study finds the regions of one function and says what it does.
func (x *finder) study(f *Func) *effect {
	s := newStudy(x.p.Graph(f, nil), x.callOp)
	e := s.effect()
	for _, b := range s.Blocks {
		for _, c := range b.Calls {
			if c.Callee != nil && !s.doomed[b.ID] {
				if d := x.effects[c.Callee]; d != nil {
					e.insns += d.insns
					e.adds = e.adds || d.adds
				}
			}
		}
		for _, o := range s.ops[b.ID] {
			if o.kind == opWait && o.callee != nil && b.Insns[o.at].Kind.IsJump() {
				e.tail = o.callee
			}
		}
	}
	switch {
	case x.idle && e.meets():
		x.waiters = append(x.waiters, s)
	case x.idle:
		x.idles(s)
	case !e.meets():
		x.regions(s)
	}
	return e
}

// callOp says what a call, or a jump out of a function, does.
func (x *finder) callOp(c *Call, target uint64) op {
	name := ""
	var callee *Func
	if c != nil {
		if c.NoReturn {
			return op{kind: noOp}
		}
		name, callee = c.Import, c.Callee
	} else if callee = x.p.FuncAt(target); callee == nil {
		name = x.p.Image.PLT[target]
	}
	if callee != nil {
		if o, ok := idleOps[callee.Name]; ok && x.idle && x.p.Image.Static {
			return o
		}
		if k, ok := importOps[callee.Name]; ok && x.p.Image.Static {
			return op{kind: k, wakes: wakers[callee.Name], moves: true}
		}
		e := x.visit(callee)
		switch {
		case e.meets():
			return op{kind: opWait, callee: callee, adds: e.adds, wakes: e.wakes, frees: e.frees, moves: e.moves}
		case e.work || e.insns > syncCall || e.insns > lightCall && !e.syncs:
			return op{kind: opWork}
		case e.syncs:
			return op{kind: opSync, adds: e.adds, wakes: e.wakes, moves: e.moves}
		}
		return op{kind: noOp, moves: e.moves}
	}
	if o, ok := idleOps[name]; ok && x.idle {
		return o
	}
	k, known := importOps[name]
	switch {
	case known:
		return op{kind: k, wakes: wakers[name], moves: true}
	case name == "syscall" || name != "" && (lightImports[name] || leafImports[name]):
		return op{kind: noOp, moves: strings.HasPrefix(name, "mem") && name != "memcmp"}
	}
	return op{kind: opWork}
}

// effect is what the function does as a whole.
func (s *study) effect() *effect {
	e := &effect{}
	stores, counts, called, returns := false, false, false, false
	for _, b := range s.Blocks {
		if s.doomed[b.ID] {
			continue
		}
		e.insns += len(b.Insns)
		e.work = e.work || s.work[b.ID]
		stores, counts, called = stores || s.stores[b.ID], counts || s.counts(b), called || s.called[b.ID]
		returns = returns || slices.ContainsFunc(b.Succ, func(x *Edge) bool { return x.To == nil && x.Kind == Exit })
		for _, o := range s.ops[b.ID] {
			e.add(o)
		}
	}
	e.frees = e.frees || stores
	e.moves = stores && counts || called
	e.work = e.work || !returns
	for _, k := range s.loops {
		e.work = e.work || k == rounds || k == works
	}
	// Reading and polling alone is waiting for files.
	e.waits = e.waits || e.weak && e.locks
	return e
}

func (e *effect) add(o op) {
	switch o.kind {
	case opWork:
		e.work = true
	case opWait:
		e.waits = true
	default:
		e.syncs = true
	}
	e.weak, e.locks = e.weak || o.kind == opWeak, e.locks || o.kind == opSync
	e.frees = e.frees || o.kind == opSync || o.frees
	e.adds, e.wakes = e.adds || o.adds, e.wakes || o.wakes
}

// regions finds the regions around the waits of a function that also works.
func (x *finder) regions(s *study) {
	for _, b := range s.Blocks {
		for _, o := range s.ops[b.ID] {
			if o.kind == opWait || o.kind == opWeak {
				x.around(s, b, o)
			}
		}
	}
}

func (x *finder) around(s *study, b *Block, o op) {
	if o.callee != nil && b.Insns[o.at].Kind.IsJump() {
		x.wanted[x.through(o.callee)] = true // it comes out of that one
		return
	}
	a, ok := s.grow(int32(b.ID), o.at)
	if !ok {
		return
	}
	in := s.within(a)
	if !s.frees(a, in) {
		return // it only waits: who lets it go on is elsewhere
	}
	x.wantInside(s, a, in)
	if len(in) == 1 && o.callee != nil {
		x.wanted[x.through(o.callee)] = true
		return
	}
	if o.kind == opWeak && !slices.ContainsFunc(in, func(i inner) bool { return i.op.kind == opSync }) {
		return
	}
	if r, ok := s.region(a, in); ok {
		x.found = append(x.found, r)
	}
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
func (x *finder) through(f *Func) *Func {
	for n := 0; n < 8 && x.effects[f] != nil && x.effects[f].tail != nil; n++ {
		f = x.effects[f].tail
	}
	return f
}

// wantInside: a loop that tries again and again may also be one that goes round
// with a barrier in it.
func (x *finder) wantInside(s *study, a area, in []inner) {
	for _, i := range in {
		if f := i.op.callee; f != nil && x.effects[f] != nil && x.effects[f].syncs && s.Blocks[i.b].Loop != nil && len(in) > 1 {
			if s.Blocks[i.b].Loop != s.Blocks[a.top].Loop {
				x.wanted[x.through(f)] = true
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

// region says where the gates of an area stand: before what all of its
// operations come behind, and where it ends.
func (s *study) region(a area, in []inner) (r Region, ok bool) {
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
	for _, p := range a.ends {
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
func (x *finder) whole(f *Func) {
	g := x.p.Blocks(f, nil)
	r := Region{Func: f, Enter: g.Entry.Start, Object: FirstArgument}
	for _, b := range g.Blocks {
		switch {
		case b.Last().Kind == x86.Ret:
			r.Leaves = append(r.Leaves, b.Last().Addr)
		case len(TailTargets(b)) > 0 && b.Last().Kind == x86.Jmp:
			if t := x.p.FuncAt(b.Last().Target); t != nil && x.effects[t] != nil && x.effects[t].meets() {
				return // it is left inside of that one
			}
			r.Leaves = append(r.Leaves, b.Last().Addr)
		}
	}
	if len(r.Leaves) > 0 {
		x.found = append(x.found, r)
	}
}
