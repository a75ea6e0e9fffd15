package cfg

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Jump tables. Compilers write a switch as
//
//	cmp $n, idx; ja default; [lea tbl(%rip), b;] movslq (b,idx,4), r; add b, r; jmp *r     offsets from the table
//	jmp *tbl(,idx,8)      mov tbl(,idx,8), r; jmp *r      jmp *(b,idx,8)                      addresses
//
// and gcc -O0 spreads the same over memory and cltq. What is needed is the
// set of targets. One too many is harmless, one too few is fatal: so the
// bound of the comparison is used only when it surely belongs to the index,
// else every entry counts up to the next table that points into the function;
// and where several tables may be meant, all of them are.

const (
	backward = 48      // instructions looked at before a jump
	maxTable = 1 << 16 // entries
	// In a table without a bound: offsets one behind the other that do not
	// lead into the function.
	maxOutside = 64
)

// calleeSaved are the registers that a call leaves alone.
var calleeSaved = x86.RBX.Set() | x86.RBP.Set() | x86.R12.Set() | x86.R13.Set() | x86.R14.Set() | x86.R15.Set()

type table struct {
	addr uint64
	wide bool // 8-byte addresses, else 4-byte offsets from addr
}

// tableTargets returns where the indirect jump at an address can go, or nil.
// order holds the decoded instructions by address.
func (d *decoder) tableTargets(order []int32, jump uint64) []uint64 {
	at := func(i int) *x86.Insn { return &d.s.insns[order[i]] }
	pos := sort.Search(len(order), func(i int) bool { return at(i).Addr >= jump })
	j := at(pos)
	if j.HasMem {
		if j.Mem.Index == x86.None || j.Mem.Scale != 8 {
			return nil
		}
		return d.readAll(d.bases(order, pos, j, true), d.bound(order, pos, j.Mem.Index))
	}
	load := pos
	for i := pos - 1; i >= 0 && i > pos-backward; i-- {
		in := at(i)
		if in.Kind != x86.Normal && !in.Kind.IsConditional() {
			break
		}
		wide, ok := loadsEntry(in)
		if !ok {
			continue
		}
		load = i
		t := d.bases(order, load, in, wide)
		if len(t) == 0 {
			continue
		}
		idx := in.Mem.Index
		var bound extent
		if in.Mem.Scale > 1 { // scale 1: -O0 has multiplied before; the bound stands on a stack slot
			bound = d.bound(order, load, idx)
		}
		if r := d.readAll(t, bound); len(r) > 0 {
			if bound.atMost {
				d.short = append(d.short, jump)
			}
			return r
		}
	}
	return nil
}

// loadsEntry reports whether an instruction may load an entry of a table: an
// address, or, not wide, an offset.
func loadsEntry(in *x86.Insn) (wide, ok bool) {
	if !in.HasMem || in.Mem.Index == x86.None || in.Vex != 0 || in.Map != 0 {
		return false, false
	}
	wide = in.Opcode == 0x8b && in.Mem.Scale == 8 && in.Rex&8 != 0
	narrow := in.Opcode == 0x63 && in.Mem.Scale == 4 || in.Opcode == 0x8b && in.Rex&8 == 0 && (in.Mem.Scale == 4 || in.Mem.Scale == 1)
	return wide, wide || narrow
}

// bases finds the tables that a load may read: its absolute address, or what
// a lea or mov put into its base register. The nearest wins from which control may
// fall through to the load; else every lea of the function into that register
// is a candidate.
func (d *decoder) bases(order []int32, pos int, load *x86.Insn, wide bool) []table {
	if load.Mem.Base == x86.None {
		return []table{{uint64(int64(load.Mem.Disp)), wide}}
	}
	regs := load.Mem.Base.Set()
	if load.Mem.Scale == 1 { // -O0: base and index cannot be told apart
		regs |= load.Mem.Index.Set()
	}
	named := func(in *x86.Insn) (table uint64, ok bool) {
		switch {
		case in.Map != 0 || in.Vex != 0 || in.Def&regs == 0:
			return 0, false
		case in.Opcode == 0x8d && in.RIPOff > 0: // lea
			table = in.RIPTarget
		case in.Opcode >= 0xb8 && in.Opcode < 0xc0 && !d.p.Image.Relocatable: // mov of an immediate operand
			table = uint64(in.Imm)
		}
		return table, d.isData(table)
	}
	for i := pos - 1; i >= 0 && i > pos-backward; i-- {
		in := &d.s.insns[order[i]]
		if t, ok := named(in); ok {
			return []table{{t + uint64(int64(load.Mem.Disp)), wide}}
		}
		if in.Kind.IsConditional() || in.Kind.IsCall() && regs&^calleeSaved == 0 && !d.p.call(d.f, in).NoReturn {
			continue // compilers do not let two switches share a jump
		}
		if in.Kind != x86.Normal || in.Def&regs != 0 {
			break
		}
	}
	var all []table
	seen := map[uint64]bool{}
	for _, k := range order {
		if t, ok := named(&d.s.insns[k]); ok && !seen[t] {
			seen[t] = true
			all = append(all, table{t + uint64(int64(load.Mem.Disp)), wide})
		}
	}
	return all
}

func (d *decoder) isData(a uint64) bool {
	s := d.p.Image.SectionAt(a)
	return s != nil && !s.Exec
}

func (d *decoder) readAll(tables []table, bound extent) []uint64 {
	if len(tables) > 1 && bound.sure() { // it is the index's, whichever table it selects from
		fit := slices.DeleteFunc(slices.Clone(tables), func(t table) bool { return !d.fits(t, bound.n) })
		if len(fit) > 0 {
			tables = fit
		} else {
			bound = extent{}
		}
	}
	var out []uint64
	for _, t := range tables {
		out = append(out, d.read(t, bound)...)
	}
	return sortUnique(out)
}

// read returns a table's targets. With a bound every entry must be understood,
// else the table is not one. Without one, offsets are read up to the next table,
// since one that leads elsewhere need not be the end: it may be for what never
// happens, or lead to a part that is not known to be one.
func (d *decoder) read(t table, bound extent) []uint64 {
	if !d.isData(t.addr) {
		return nil
	}
	data := d.p.Image.Bytes(t.addr)
	var out []uint64
	outside := 0
	for i := 0; i < maxTable && (bound.n == 0 || i < bound.n); i++ {
		if !bound.sure() && (d.begins(t, i) || outside > maxOutside) {
			break
		}
		a, ok := t.entry(data, i)
		if !ok {
			break
		}
		switch {
		case d.f.In(a) || d.adopt(a, bound.sure()):
			out = append(out, a)
			outside = 0
		case d.f.endsAt(a): // clang's way to say that it never happens
		case bound.sure():
			d.fail("a jump table at %#x leaves the function", t.addr)
			return nil
		case t.wide: // what comes now may be labels of others, or anything
			return out
		default:
			if d.partAt(a, true) != nil { // perhaps a part of ours, entered here
				d.f.tailFrom = append(d.f.tailFrom, a)
			}
			outside++
		}
	}
	return out
}

// endsAt reports whether one of a function's parts ends at an address.
func (f *Func) endsAt(a uint64) bool {
	return slices.ContainsFunc(f.Ranges, func(r Range) bool { return r.Hi == a })
}

// begins reports whether another table begins at the i-th entry of one.
func (d *decoder) begins(t table, i int) bool {
	return i > 0 && !t.wide && d.p.mentioned().lea(t.addr+uint64(4*i))
}

// entry returns the i-th target of a table whose bytes are data.
func (t table) entry(data []byte, i int) (a uint64, ok bool) {
	switch {
	case t.wide && len(data) >= 8*i+8:
		return binary.LittleEndian.Uint64(data[8*i:]), true
	case !t.wide && len(data) >= 4*i+4:
		return t.addr + uint64(int64(int32(binary.LittleEndian.Uint32(data[4*i:])))), true
	}
	return 0, false
}

// fits reports whether as many entries of a table may be the function's: they
// lead into what is known of it, and into one part more at most, and no other
// table begins among them.
func (d *decoder) fits(t table, n int) bool {
	if !d.isData(t.addr) {
		return false
	}
	data := d.p.Image.Bytes(t.addr)
	var more *Func
	inside := false
	for i := range n {
		a, ok := t.entry(data, i)
		if !ok || d.begins(t, i) {
			return false
		}
		if d.f.In(a) || d.f.endsAt(a) {
			inside = true
			continue
		}
		g := d.partAt(a, true)
		if g == nil || more != nil && g != more {
			return false
		}
		more = g
	}
	return inside
}

// adopt takes the part that a table entry points into, when it is one of
// ours; sure says that the entry certainly belongs to the table, so that what
// it points into cannot be a function of its own.
func (d *decoder) adopt(a uint64, sure bool) bool {
	g := d.partAt(a, sure)
	if g != nil {
		d.merge(g)
	}
	return g != nil
}

// partAt returns the function that adopt takes for a part.
func (d *decoder) partAt(a uint64, sure bool) *Func {
	s := d.p.Image.FuncAt(a)
	if s == nil {
		return nil
	}
	g := d.p.at(s.Addr)
	if g == nil || !g.part && (!sure || !d.p.holds(d.f, g)) {
		return nil
	}
	return g
}
