package cfg

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Some computed gotos have no addresses in their tables, but how far labels lie from
// one that the code names, as printf's have. Read beyond their ends such tables have
// more of them, which does no harm.

// labelTargets returns where an indirect jump can go that adds what it has loaded to
// the only label whose address the function makes; nil: that cannot be told.
//
//	lea label(%rip), b; lea tbl(%rip), t; movslq (t,idx,4), r; add b, r; jmp *r
//
// Where the jump stands alone, that may have been done on any way to it: then it may go
// to the label, and where all such tables of the function lead.
func (d *decoder) labelTargets(order []int32, jump uint64) []uint64 {
	at := func(i int) *x86.Insn { return &d.s.insns[order[i]] }
	pos := sort.Search(len(order), func(i int) bool { return at(i).Addr >= jump })
	j := at(pos)
	label := d.p.onlyLabel(d.s.insns, d.f)
	if label == 0 || j.HasMem {
		return nil
	}
	made := false
	for i := pos - 1; i >= 0 && i > pos-backward && (at(i).Kind == x86.Normal || at(i).Kind.IsConditional()); i-- {
		in := at(i)
		if in.Def&j.RM.Set() == 0 {
			continue
		}
		if _, ok := d.p.labelOf(in, d.f); ok {
			break
		}
		if !d.p.silent && in.Opcode == 0x8b && in.HasMem && in.Mem.Index == x86.None {
			break // it lay in a variable
		}
		made = true
		if wide, ok := loadsEntry(in); ok && !wide && in.Mem.Scale == 4 {
			return d.fromLabel(label, d.bases(order, i, in, false))
		}
	}
	if made || len(d.f.fromLabels) == 0 || !slices.Contains(d.f.alone, jump) {
		return nil
	}
	var all []table
	for _, t := range d.f.fromLabels {
		all = append(all, table{addr: t})
	}
	return sortUnique(append(d.fromLabel(label, all), label))
}

// onlyLabel is the label of the function whose address its code makes; 0: there is none,
// or there are several.
func (p *Program) onlyLabel(code []x86.Insn, f *Func) (label uint64) {
	for i := range code {
		a, ok := p.labelOf(&code[i], f)
		if !ok || a == label {
			continue
		}
		if label != 0 {
			return 0
		}
		label = a
	}
	return label
}

// mostLooks is how often tables are looked for in a function; three times are usual.
const mostLooks = 16

// findFromLabels notes which tables a function names that may be such, and which jumps
// stand alone: what they go to was made, on all ways there, by an addition or is the
// label. It reports whether there are others than were known.
func (p *Program) findFromLabels(g *Graph) (more bool) {
	f := g.Func
	label := p.onlyLabel(g.Code, f)
	if label == 0 {
		return false
	}
	d := decoder{p: p, f: f}
	var all []uint64
	for i := range g.Code {
		in := &g.Code[i]
		if in.Map != 0 || in.Vex != 0 || in.Opcode != 0x8d || in.RIPOff == 0 || !d.isData(in.RIPTarget) {
			continue
		}
		if len(d.fromLabel(label, []table{{addr: in.RIPTarget}})) > 0 {
			all = append(all, in.RIPTarget)
		}
	}
	var alone []uint64
	if len(all) > 0 {
		alone = p.alone(g)
	}
	all = sortUnique(all)
	if slices.Equal(all, f.fromLabels) && slices.Equal(alone, f.alone) {
		return false
	}
	f.fromLabels, f.alone = all, alone
	if f.looked++; f.looked > mostLooks { // each may take back what made the other look so: it is not understood
		f.fromLabels, f.alone = nil, nil
	}
	return true
}

// alone are the jumps of a function to what was made on all ways there, by an addition
// or as the label, or lies in a variable meanwhile.
func (p *Program) alone(g *Graph) (jumps []uint64) {
	made := func(in *x86.Insn) bool {
		_, ok := p.labelOf(in, g.Func)
		return ok || adds(in)
	}
	height := g.heights()
	for _, b := range g.Blocks {
		j := b.Last()
		if j.Kind != x86.JmpInd || j.HasMem {
			continue
		}
		kept := !p.silent && height[b] != 0 && !restores(b)
		if kept || origins(held{b, len(b.Insns) - 2, j.RM}, calleeSaved, made) != nil {
			jumps = append(jumps, j.Addr)
		}
	}
	return jumps
}

// adds reports whether an instruction adds one register to another one, of 64 bits.
func adds(in *x86.Insn) bool {
	return in.Vex == 0 && in.Map == 0 && in.Rex&8 != 0 && !in.HasMem && (in.Opcode == 0x01 || in.Opcode == 0x03)
}

// fromLabel returns where tables of how far labels lie from one lead; nil where one of
// them is none.
func (d *decoder) fromLabel(label uint64, tables []table) (all []uint64) {
	for _, t := range tables {
		targets, ok := d.readFromLabel(label, t.addr)
		if !ok {
			return nil
		}
		all = append(all, targets...)
	}
	return sortUnique(all)
}

// readFromLabel reads such a table up to the next table
// or to what cannot be one. It is not ok where that is other code: a part of the
// function that is not known as one.
func (d *decoder) readFromLabel(label, table uint64) (targets []uint64, ok bool) {
	data := d.p.Image.Bytes(table)
	for i := 0; len(data) >= 4 && i < maxTable; i, data = i+1, data[4:] {
		a := label + uint64(int64(int32(binary.LittleEndian.Uint32(data))))
		switch {
		case i > 0 && d.p.mentioned().lea(table+uint64(4*i)):
			return targets, true
		case d.f.In(a):
			targets = append(targets, a)
		case d.p.Image.FuncAt(a) != nil:
			return nil, false
		default:
			return targets, len(targets) > 1
		}
	}
	return targets, len(targets) > 1
}
