package cfg

import (
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Computed gotos. An interpreter keeps the addresses of its labels in a table,
// and jumps to what it has loaded from there: perhaps long before, and on one of
// several ways. Where all of them load from tables, the targets are theirs, as
// for a switch. Anything else that jumps to a label stays unknown.

// findGotos decodes functions with computed gotos again, until no more come to
// light behind their labels.
func (p *Program) findGotos(sp *Space) {
	for {
		var found []*Func
		ends := map[*Func]bool{}
		for _, f := range p.Funcs {
			if (f.blind || len(f.fromLabels) > 0) && !f.part && f.Skip == "" && p.gotosOf(f, sp) {
				found = append(found, f)
				ends[f] = f.NoReturn
			}
		}
		if len(found) == 0 {
			return
		}
		p.decodeAll(sp, found)
		if slices.ContainsFunc(found, func(f *Func) bool { return f.NoReturn != ends[f] }) {
			p.decodeAll(sp, p.Funcs) // callers go on behind them
		}
	}
}

// gotosOf finds the computed gotos of a function that were not known as such.
func (p *Program) gotosOf(f *Func, sp *Space) (more bool) {
	if p.silent && p.findFromLabels(p.Blocks(f, sp)) {
		return true
	}
	if !p.namesLabels(f) {
		return false
	}
	g := p.Blocks(f, sp)
	for _, b := range g.Blocks {
		j := b.Last()
		if j.Kind != x86.JmpInd || j.HasMem || f.tables[j.Addr] != nil || f.gotos[j.Addr] != nil {
			continue
		}
		if loads := g.loadsOf(b, j); loads != nil {
			if f.gotos == nil {
				f.gotos = map[uint64][]uint64{}
			}
			f.gotos[j.Addr] = loads
			more = true
		}
	}
	return more
}

// namesLabels reports whether the data names labels of a function.
func (p *Program) namesLabels(f *Func) bool {
	return slices.ContainsFunc(f.Ranges, func(r Range) bool {
		i := sort.Search(len(p.labels), func(i int) bool { return p.labels[i] >= r.Lo })
		return i < len(p.labels) && p.labels[i] < r.Hi
	})
}

// gotoTargets are those of a computed goto; nil: one of its loads is from no
// table of labels.
func (d *decoder) gotoTargets(order []int32, loads []uint64) (targets []uint64) {
	for _, a := range loads {
		pos := sort.Search(len(order), func(i int) bool { return d.s.insns[order[i]].Addr >= a })
		in := &d.s.insns[order[pos]]
		if isLabel(in, d.f) {
			targets = append(targets, in.RIPTarget)
			continue
		}
		t := d.readAll(d.bases(order, pos, in, true), 0)
		if len(t) == 0 {
			return nil
		}
		targets = append(targets, t...)
	}
	return sortUnique(targets)
}

// isLabel reports whether an instruction makes the address of one of f's labels.
func isLabel(in *x86.Insn, f *Func) bool {
	return in.Map == 0 && in.Vex == 0 && in.Opcode == 0x8d && in.RIPOff > 0 && in.RIPTarget != f.Ranges[0].Lo && f.In(in.RIPTarget)
}

// loadsOf are the instructions that load where the jump at the end of a block
// goes, from tables of addresses or as that of a label; nil where there may be
// others.
func (g *Graph) loadsOf(b *Block, jump *x86.Insn) []uint64 {
	return origins(held{b, len(b.Insns) - 2, jump.RM}, func(in *x86.Insn) bool {
		wide, _ := loadsEntry(in)
		return wide || isLabel(in, g.Func)
	})
}

// origins are the instructions of a kind that what a register holds comes from; nil
// where it may come from others.
func origins(from held, of func(in *x86.Insn) bool) (loads []uint64) {
	seen := map[held]bool{}
	work := []held{from}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		at, load, ok := at.load(of)
		switch {
		case !ok || load == nil && (len(at.b.Pred) == 0 || at.b.Pad):
			return nil
		case load != nil:
			loads = append(loads, load.Addr)
			continue
		}
		for _, e := range at.b.Pred {
			if e.From == nil {
				return nil
			}
			work = append(work, held{e.From, len(e.From.Insns) - 1, at.reg})
		}
	}
	return sortUnique(loads)
}

// held is what a register holds behind a block's n-th instruction.
type held struct {
	b   *Block
	n   int
	reg x86.Reg
}

// load goes back to the block's beginning, or to the instruction of a kind that
// loads it there. ok is false where it may have been computed.
func (at held) load(of func(in *x86.Insn) bool) (begin held, load *x86.Insn, ok bool) {
	for ; at.n >= 0; at.n-- {
		in := &at.b.Insns[at.n]
		move := in.Vex == 0 && in.Map == 0 && in.Rex&8 != 0 && !in.HasMem
		switch {
		case in.Kind.IsCall() && at.reg.Set()&calleeSaved == 0:
			return at, nil, false
		case in.Kind.IsCall() || in.Def&at.reg.Set() == 0:
		case (in.Reg == at.reg || in.Def == at.reg.Set()) && of(in):
			return at, in, true
		case move && in.Opcode == 0x8b:
			at.reg = in.RM
		case move && in.Opcode == 0x89:
			at.reg = in.Reg
		default:
			return at, nil, false
		}
	}
	return at, nil, true
}
