package cfg

import (
	"fmt"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// partIndex finds a decoded instruction by its address: one slot per byte.
type partIndex struct {
	lo   uint64
	slot []int32 // instruction + 1
}

func (f *Func) lookup(a uint64) *int32 {
	for i := range f.index {
		x := &f.index[i]
		if a >= x.lo && a-x.lo < uint64(len(x.slot)) {
			return &x.slot[a-x.lo]
		}
	}
	return nil
}

func (f *Func) addRange(p *Program, r Range) {
	f.Ranges = append(f.Ranges, r)
	f.index = append(f.index, partIndex{r.Lo, make([]int32, r.Hi-r.Lo)})
}

// decode follows the flow from the entry and the landing pads. It returns the
// neighbours that turned out to be parts of f, or the one that f is a part of.
func (f *Func) decode(p *Program) (merged []*Func, parent *Func) {
	d := decoder{p: p, f: f, work: nil}
	main := f.Ranges[0]
	f.Ranges, f.index = nil, nil
	f.Insns = p.scratch[:0] // until it is known how many there are
	f.tables, f.pads, f.tailFrom, f.callees = map[uint64][]uint64{}, nil, nil, nil
	d.addPart(main)
	d.push(main.Lo)
	d.flow()
	// Jump tables to a fixed point: a table's targets may hold further tables.
	done := map[uint64]bool{}
	for f.Skip == "" {
		var jumps []uint64
		for i := range f.Insns {
			if in := &f.Insns[i]; in.Kind == x86.JmpInd && !done[in.Addr] {
				jumps = append(jumps, in.Addr)
			}
		}
		if len(jumps) == 0 {
			break
		}
		order := d.sorted()
		for _, j := range jumps {
			done[j] = true
			if t := d.tableTargets(order, j); len(t) > 0 {
				f.tables[j] = t
				for _, a := range t {
					d.push(a)
				}
			}
		}
		d.flow()
	}
	p.scratch = f.Insns[:0]
	f.Insns = d.inOrder()
	if f.Skip == "" {
		f.pads = sortUnique(f.pads)
		f.tailFrom = sortUnique(f.tailFrom)
		f.callees = sortUnique(f.callees)
		f.checkOverlap()
	}
	f.NoReturn = f.Skip == "" && !f.comesBack()
	f.index = nil
	return d.merged, d.parent
}

type decoder struct {
	p      *Program
	f      *Func
	work   []uint64
	merged []*Func
	parent *Func
}

// addPart makes a range, with the landing pads in it, part of the function.
func (d *decoder) addPart(r Range) {
	d.f.addRange(d.p, r)
	pads := d.p.Image.Pads
	for i := sort.Search(len(pads), func(i int) bool { return pads[i] >= r.Lo }); i < len(pads) && pads[i] < r.Hi; i++ {
		d.f.pads = append(d.f.pads, pads[i])
		d.push(pads[i])
	}
}

func (d *decoder) push(a uint64) { d.work = append(d.work, a) }

func (d *decoder) fail(format string, args ...any) {
	if d.f.Skip == "" {
		d.f.Skip = fmt.Sprintf(format, args...)
	}
}

func (d *decoder) flow() {
	for len(d.work) > 0 && d.f.Skip == "" {
		a := d.work[len(d.work)-1]
		d.work = d.work[:len(d.work)-1]
		for d.f.Skip == "" {
			next, goesOn := d.step(a)
			if !goesOn {
				break
			}
			a = next
		}
	}
}

// step decodes one instruction and reports whether control falls through it
// into code not seen yet.
func (d *decoder) step(a uint64) (next uint64, goesOn bool) {
	f := d.f
	slot := f.lookup(a)
	if slot == nil {
		d.fail("falls out of its range at %#x", a)
		return 0, false
	}
	if *slot != 0 {
		return 0, false
	}
	code := d.p.Image.Bytes(a)
	if len(code) > 15 {
		code = code[:15]
	}
	in, err := x86.Decode(code, a)
	if err != nil {
		d.fail("instruction at %#x not understood: %v", a, err)
		return 0, false
	}
	if in.Kind == x86.Stop && in.Map == 0 && in.Opcode == 0xcc && len(code) > 1 && code[1] != 0xcc && f.In(in.End()) {
		in.Kind = x86.Normal // a breakpoint of the program's own, not padding: a handler goes on behind it
	}
	f.Insns = append(f.Insns, in)
	*slot = int32(len(f.Insns))
	next = in.End()
	switch {
	case in.Kind.IsJump():
		d.jump(&in)
		return next, in.Kind != x86.Jmp
	case in.Kind.IsCall():
		return next, !d.callEnds(&in, next)
	case in.Kind != x86.Normal:
		return 0, false
	}
	return next, true
}

// callEnds reports whether nothing comes after a call.
func (d *decoder) callEnds(in *x86.Insn, next uint64) bool {
	c := d.p.call(d.f, in)
	switch {
	case c.Callee != nil:
		d.f.callees = append(d.f.callees, c.Callee.Ranges[0].Lo)
	case in.Kind == x86.Call && c.Import == "" && d.p.Image.FuncAt(in.Target) != nil:
		// A call to a place inside a function (retpolines, position tricks)
		// would run that function's dead original bytes.
		d.f.tailFrom = append(d.f.tailFrom, in.Target)
		if d.f.In(in.Target) {
			d.fail("calls into its own middle at %#x", in.Addr)
		}
	}
	return c.NoReturn || !d.f.In(next)
}

// call says what is known of a call instruction before blocks exist.
func (p *Program) call(f *Func, in *x86.Insn) Call {
	c := Call{Insn: in}
	if in.Kind == x86.Call {
		c.Callee = p.FuncAt(in.Target)
		c.Import = p.Image.PLT[in.Target]
	} else if in.RIPOff > 0 {
		c.Import = p.Image.GOT[in.RIPTarget]
	}
	name := c.Import
	if c.Callee != nil {
		name = c.Callee.Name
	}
	c.NoReturn = noReturnName(name) || c.Callee != nil && c.Callee.NoReturn || !f.In(in.End())
	c.SetJmp = setJmpName(name)
	return c
}

// jump follows a direct jump: inside the function, to another one (a tail
// call), or into a part that belongs to this one.
func (d *decoder) jump(in *x86.Insn) {
	f, t := d.f, in.Target
	if f.In(t) {
		d.push(t)
		return
	}
	s := d.p.Image.FuncAt(t)
	var g *Func
	if s != nil {
		g = d.p.byEntry[s.Addr]
	}
	switch {
	case g == nil || t == g.Ranges[0].Lo && !g.part:
		if in.Kind == x86.Jrcxz {
			d.fail("leaves by jrcxz at %#x", in.Addr)
		}
		f.tailFrom = append(f.tailFrom, t)
		if g != nil {
			f.callees = append(f.callees, t)
		}
	case g.part || g.Size() <= f.Size():
		d.merge(g)
		d.push(t)
	default:
		// A small piece that jumps into the middle of a large function is that
		// function's cold part; parts go where their parent goes.
		d.parent = g
		d.fail("jumps into the middle of %s", g.Name)
	}
}

// merge takes a neighbour's bytes as a part of f. Unless its symbol says that
// it is nothing but a part, its start may also be reached by itself.
func (d *decoder) merge(g *Func) {
	r := g.Ranges[0]
	if !g.part {
		d.merged = append(d.merged, g)
	}
	d.addPart(r)
	if !g.named {
		d.f.pads = append(d.f.pads, r.Lo)
		d.push(r.Lo)
	}
}

// sorted returns the decoded instructions' indices by address.
func (d *decoder) sorted() []int32 {
	order := make([]int32, 0, len(d.f.Insns))
	parts := slices.Clone(d.f.index)
	sort.Slice(parts, func(i, j int) bool { return parts[i].lo < parts[j].lo })
	for _, x := range parts {
		for _, s := range x.slot {
			if s != 0 {
				order = append(order, s-1)
			}
		}
	}
	return order
}

// inOrder copies the instructions out of the scratch memory, by address.
func (d *decoder) inOrder() []x86.Insn {
	if d.f.Skip != "" {
		return nil
	}
	order := d.sorted()
	out := make([]x86.Insn, len(order))
	for i, k := range order {
		out[i] = d.f.Insns[k]
	}
	return out
}

func (f *Func) checkOverlap() {
	for i := 1; i < len(f.Insns); i++ {
		if f.Insns[i-1].End() > f.Insns[i].Addr {
			f.Skip = fmt.Sprintf("overlapping instructions at %#x", f.Insns[i].Addr)
			return
		}
	}
}

// comesBack reports whether the function can return or leave by a tail call.
func (f *Func) comesBack() bool {
	for i := range f.Insns {
		in := &f.Insns[i]
		switch {
		case in.Kind == x86.Ret:
			return true
		case in.Kind == x86.JmpInd && f.tables[in.Addr] == nil:
			return true
		case in.Kind.IsJump() && !f.In(in.Target):
			return true
		}
	}
	return false
}
