package cfg

import (
	"fmt"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// partIndex finds a decoded instruction by its address: one slot per byte.
// Positive: instruction + 1; negative: inside of one.
type partIndex struct {
	lo   uint64
	code []byte
	slot []int32
}

// part returns the part that holds an address and the offset in it.
func part(index []partIndex, a uint64) (*partIndex, int) {
	for i := range index {
		if x := &index[i]; a-x.lo < uint64(len(x.slot)) {
			return x, int(a - x.lo)
		}
	}
	return nil, 0
}

// decode follows the flow from the entry and the landing pads. It returns the
// neighbours that turned out to be parts of f, or the one that f is a part of.
func (f *Func) decode(p *Program, s *Space) (merged []*Func, parent *Func) {
	s.reset()
	d := decoder{p: p, f: f, s: s, work: s.work[:0]}
	main := f.Ranges[0]
	f.Ranges, f.tables, f.pads, f.tailFrom, f.callees, f.reads = f.Ranges[:0], nil, nil, nil, nil, false
	d.addPart(main)
	d.stack.height = 0
	d.push(main.Lo)
	d.flow()
	// Jump tables to a fixed point: a table's targets may hold further tables, and
	// labels to which jumps go that were seen before.
	for done := 0; f.Skip == "" && done < len(s.insns); {
		var jumps []uint64
		for i := range s.insns {
			if in := &s.insns[i]; in.Kind == x86.JmpInd && (i >= done || f.gotos[in.Addr] != nil || slices.Contains(d.short, in.Addr)) {
				jumps = append(jumps, in.Addr)
			}
		}
		done = len(s.insns)
		if len(jumps) == 0 {
			break
		}
		order := d.sorted()
		for _, j := range jumps {
			t := d.targets(order, j)
			if len(t) == 0 {
				delete(f.tables, j)
				continue
			}
			if f.tables == nil {
				f.tables = map[uint64][]uint64{}
			}
			f.tables[j] = t
			d.stack.height = d.stack.jumps[j]
			for _, a := range t {
				d.push(a)
			}
		}
		d.flow()
	}
	s.work = d.work[:0]
	f.reads, f.framed, f.switches = f.reads || d.stack.strange(), d.stack.framed, d.stack.switches()
	f.Insns, f.starts, f.NoReturn = 0, nil, false
	f.tailFrom = sortUnique(f.tailFrom)
	f.callees = slices.Clone(sortUnique(s.called))
	if f.Skip == "" {
		d.finish()
	}
	return d.merged, d.parent
}

// targets returns where the indirect jump at an address can go, or nil.
func (d *decoder) targets(order []int32, jump uint64) []uint64 {
	if t := d.tableTargets(order, jump); len(t) > 0 {
		return t
	}
	if t := d.gotoTargets(order, d.f.gotos[jump]); len(t) > 0 {
		return t
	}
	if slices.Contains(d.f.labelled, jump) {
		return d.f.labels
	}
	return d.labelTargets(order, jump)
}

// finish keeps what later steps need of the decoded instructions.
func (d *decoder) finish() {
	f, p := d.f, d.p
	f.pads = sortUnique(f.pads)
	for _, a := range f.pads {
		if x, o := part(d.s.index, a); x == nil || x.slot[o] <= 0 {
			d.fail("landing pad %#x is not at an instruction", a)
			return
		}
	}
	for i := range d.s.insns {
		if label, is := d.pushed(i); is {
			d.fail("label at %#x may be returned to", label)
			return
		}
	}
	f.Insns = len(d.s.insns)
	f.usesGS, f.blind, f.astray, f.plain, f.NoReturn, f.syncs, f.kernel = false, false, f.switches, true, true, false, false
	for i := range d.s.insns {
		p.note(f, &d.s.insns[i])
		if in := &d.s.insns[i]; f.Go && in.Kind == x86.Jmp && in.Target <= in.Addr && in.Addr-in.Target < tiniest {
			d.fail("it goes round for ever, at %#x, where its copy could not be preempted", in.Addr)
			return
		}
	}
	f.starts = make([]byte, (f.Size()+63)/64*8)
	n := 0
	for i := range d.s.index {
		for _, k := range d.s.index[i].slot {
			if k > 0 {
				f.starts[n>>3] |= 1 << (n & 7)
			}
			n++
		}
	}
}

// note adds what an instruction says about its function as a whole.
func (p *Program) note(f *Func, in *x86.Insn) {
	f.usesGS = f.usesGS || in.HasMem && in.Mem.Segment == 0x65
	f.kernel = f.kernel || isSyscall(in)
	f.syncs = f.syncs || synchronises(in) || in.Kind.IsJump() && in.Target <= in.Addr && in.Addr-in.Target < tightSpan && f.In(in.Target)
	switch k := in.Kind; {
	case k.IsCall():
		f.plain = false
		c := p.call(f, in)
		if c.Callee == nil && p.libraryLeaves(f, c.Import) {
			f.astray = true
		}
		_, known := importOps[c.Import]
		_, idles := idleOps[c.Import]
		f.syncs = f.syncs || known || idles || c.Import == "syscall"
	case k == x86.Ret:
		f.NoReturn = false
	case k == x86.Stop:
		f.plain = false
	case k == x86.JmpInd && f.tables[in.Addr] == nil:
		f.NoReturn, f.plain, f.blind = false, false, true
		f.astray = f.astray || p.throws || p.catching
	case k.IsJump() && !f.In(in.Target):
		f.NoReturn, f.plain = false, false
		if p.at(in.Target) == nil && p.libraryLeaves(f, p.Image.PLT[in.Target]) {
			f.astray = true
		}
	}
}

type decoder struct {
	p      *Program
	f      *Func
	s      *Space
	work   []place
	stack  stack
	short  []uint64 // jumps whose tables may turn out to be longer: see comesBetween
	merged []*Func
	parent *Func
}

// addPart makes a range, with the landing pads in it, part of the function.
func (d *decoder) addPart(r Range) {
	d.f.Ranges = append(d.f.Ranges, r)
	d.s.addPart(d.p, r)
	pads := d.p.Image.Pads
	for i := sort.Search(len(pads), func(i int) bool { return pads[i] >= r.Lo }); i < len(pads) && pads[i] < r.Hi; i++ {
		d.pad(pads[i])
	}
}

// pad notes an address to which control comes from who knows where.
func (d *decoder) pad(a uint64) {
	d.f.pads = append(d.f.pads, a)
	d.work = append(d.work, place{a, unknownHeight})
}

// place is where control comes to, and how high the stack is there.
type place struct {
	addr   uint64
	height int
}

func (d *decoder) push(a uint64) { d.work = append(d.work, place{a, d.stack.height}) }

// tiniest: in the original of a loop that is shorter than a jump there is no room for a
// way back to its copy, and who is preempted in it has to be led there.
const tiniest = 5

func (d *decoder) fail(format string, args ...any) {
	if d.f.Skip == "" {
		d.f.Skip = fmt.Sprintf(format, args...)
	}
}

func (d *decoder) flow() {
	for len(d.work) > 0 && d.f.Skip == "" {
		a := d.work[len(d.work)-1].addr
		d.stack.height = d.work[len(d.work)-1].height
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
	x, o := part(d.s.index, a)
	if x == nil {
		d.fail(fallsOut+" at %#x", a)
		return 0, false
	}
	if x.slot[o] != 0 {
		if x.slot[o] < 0 {
			d.fail("overlapping instructions at %#x", a)
		}
		return 0, false
	}
	in, err := d.s.decode(d.f, x, o)
	if err != nil {
		d.f.usesGS = d.f.usesGS || writesGS(x.code[min(o, len(x.code)):])
		d.fail("instruction at %#x not understood: %v", a, err)
		return 0, false
	}
	if o+in.Len() > len(x.slot) {
		// Behind the part's end lies another function, or a part where another
		// instruction may begin in the middle of this one.
		d.fail(fallsOut+" at %#x", in.End())
		return 0, false
	}
	x.slot[o] = int32(len(d.s.insns))
	for i := o + 1; i < o+in.Len(); i++ {
		if x.slot[i] != 0 {
			d.fail("overlapping instructions at %#x", x.lo+uint64(i))
			return 0, false
		}
		x.slot[i] = -1
	}
	next = in.End()
	if n := len(d.s.insns); n > 1 && !d.f.Go && splitsStack(&d.s.insns[n-2], in) {
		d.fail("gets a new piece of stack at %#x", a)
	}
	d.f.reads = d.stack.step(in) || d.f.reads
	switch {
	case in.Kind.IsJump():
		d.jump(in)
		return next, in.Kind != x86.Jmp
	case in.Kind.IsCall():
		return next, !d.callEnds(in, next)
	case in.Kind != x86.Normal:
		return 0, false
	}
	return next, true
}

// writesGS recognises wrgsbase, of 32 or 64 bits.
func writesGS(code []byte) bool {
	if len(code) > 4 && code[0] == 0xf3 && code[1]&0xf0 == 0x40 {
		code = code[1:]
	}
	return len(code) > 3 && (code[0] == 0xf3 || code[0]&0xf0 == 0x40) && code[1] == 0x0f && code[2] == 0xae && code[3]&0xf8 == 0xd8
}

// callEnds reports whether nothing comes after a call.
func (d *decoder) callEnds(in *x86.Insn, next uint64) bool {
	c := d.p.call(d.f, in)
	switch {
	case c.Callee != nil:
		d.s.called = append(d.s.called, c.Callee.Ranges[0].Lo)
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
	c := Call{Insn: in, NoReturn: !f.In(in.End())}
	if in.Kind == x86.Call {
		if c.Import = p.ImportAt(in.Target); c.Import == "" {
			c.Callee = p.FuncAt(in.Target)
		}
	} else if in.RIPOff > 0 {
		c.Callee, c.Import = p.inSlot(in)
	}
	switch {
	case c.Callee != nil:
		c.NoReturn = c.NoReturn || c.Callee.NoReturn || c.Callee.ends
		c.SetJmp = c.Callee.setJmp
	case c.Import != "":
		c.NoReturn = c.NoReturn || noReturnName(c.Import)
		c.SetJmp = setJmpName(c.Import)
	}
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
		g = d.p.at(s.Addr)
	}
	switch {
	case g == nil || t == g.Ranges[0].Lo && !g.part:
		if in.Kind == x86.Jrcxz {
			d.fail("leaves by jrcxz at %#x", in.Addr)
		}
		f.tailFrom = append(f.tailFrom, t)
		if g != nil {
			d.s.called = append(d.s.called, t)
		}
	case g.part || d.p.holds(f, g):
		d.merge(g)
		d.work = append(d.work, place{t, unknownHeight}) // others may come there, too
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
	for _, x := range d.f.Ranges {
		if r.Lo < x.Hi && x.Lo < r.Hi { // symbols that overlap: bytes would be there twice
			d.fail("overlaps with its part %s", g.Name)
			return
		}
	}
	if !g.part {
		d.merged = append(d.merged, g)
	}
	d.addPart(r)
	if !g.named {
		d.pad(r.Lo)
	}
}

// sorted returns the decoded instructions' indices by address.
func (d *decoder) sorted() []int32 {
	order := make([]int32, 0, len(d.s.insns))
	parts := slices.Clone(d.s.index)
	sort.Slice(parts, func(i, j int) bool { return parts[i].lo < parts[j].lo })
	for _, x := range parts {
		for _, k := range x.slot {
			if k > 0 {
				order = append(order, k-1)
			}
		}
	}
	return order
}
