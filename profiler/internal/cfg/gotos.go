package cfg

import (
	"maps"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Computed gotos. An interpreter keeps the addresses of its labels in a table,
// and jumps to what it has loaded from there: perhaps long before, and on one of
// several ways. Where all of them load from tables, the targets are theirs, as
// for a switch. Whatever else jumps to a label, through a variable or as
// direct-threaded code does, may go to all of the function's (see labelled.go).

// findGotos decodes functions with computed gotos again, until no more come to
// light behind their labels.
func (p *Program) findGotos(sp *Space) {
	for look := p.Funcs; ; {
		var found []*Func
		ends := map[*Func]bool{}
		for _, f := range look {
			if (f.blind || len(f.fromLabels)+len(f.gotos)+len(f.labelled) > 0) && !f.part && f.Skip == "" && p.gotosOf(f, sp) {
				found = append(found, f)
				ends[f] = f.NoReturn
			}
		}
		if len(found) == 0 {
			return
		}
		p.decodeAll(sp, found)
		look = found
		if slices.ContainsFunc(found, func(f *Func) bool { return f.NoReturn != ends[f] }) {
			p.decodeAll(sp, p.Funcs) // callers go on behind them
			look = p.Funcs
		}
	}
}

// gotosOf finds the computed gotos of a function. It reports whether they are others
// than were known: behind a label may be code that makes one go elsewhere too.
func (p *Program) gotosOf(f *Func, sp *Space) (more bool) {
	if f.looked > mostLooks {
		return false
	}
	g := p.Blocks(f, sp)
	if p.findFromLabels(g) {
		return true
	}
	labels := p.labelsOf(g)
	if len(labels) == 0 {
		return false
	}
	gotos := map[uint64][]uint64{}
	var others []*Block // that end in a jump to nobody knows where
	for _, b := range g.Blocks {
		j := b.Last()
		known, labelled := f.gotos[j.Addr], slices.Contains(f.labelled, j.Addr)
		if j.Kind != x86.JmpInd || f.tables[j.Addr] != nil && known == nil && !labelled {
			continue
		}
		var loads []uint64
		if !labelled && !j.HasMem {
			loads = p.loadsOf(g, b, j)
		}
		if loads != nil {
			gotos[j.Addr] = loads
		}
		if loads == nil || f.tables[j.Addr] == nil && slices.Equal(loads, known) { // from no table of labels
			others = append(others, b)
		}
	}
	more = !maps.EqualFunc(gotos, f.gotos, slices.Equal)
	f.gotos = gotos
	if more = g.findLabelled(labels, others) || more; !more {
		return false
	}
	if f.looked++; f.looked > mostLooks { // it is not understood
		f.gotos, f.labelled = nil, nil
	}
	return true
}

// gotoTargets are those of a computed goto; nil: one of its loads is from no
// table of labels.
func (d *decoder) gotoTargets(order []int32, loads []uint64) (targets []uint64) {
	for _, a := range loads {
		pos := sort.Search(len(order), func(i int) bool { return d.s.insns[order[i]].Addr >= a })
		if pos == len(order) || d.s.insns[order[pos]].Addr != a {
			continue // nothing is known that leads there yet
		}
		in := &d.s.insns[order[pos]]
		if l, ok := d.p.labelOf(in, d.f); ok {
			targets = append(targets, l)
			continue
		}
		t := d.readAll(d.bases(order, pos, in, true), extent{})
		if len(t) == 0 {
			return nil
		}
		targets = append(targets, t...)
	}
	return sortUnique(targets)
}

// loadsOf are the instructions that load where the jump at the end of a block
// goes, from tables of addresses or as that of a label; nil where there may be
// others.
func (p *Program) loadsOf(g *Graph, b *Block, jump *x86.Insn) []uint64 {
	return origins(held{b, len(b.Insns) - 2, jump.RM}, calleeSaved, func(in *x86.Insn) bool {
		wide, _ := loadsEntry(in)
		_, label := p.labelOf(in, g.Func)
		return wide || label
	})
}

// origins are the instructions of a kind that what a register holds comes from; nil
// where it may come from others. Calls leave the registers kept alone.
func origins(from held, kept x86.Regs, of func(in *x86.Insn) bool) (loads []uint64) {
	return originsPast(from, kept, of, nil)
}

// originsPast goes on where an exception may land, too, behind the calls that it came
// out of: the unwinder puts back what these keep.
func originsPast(from held, kept x86.Regs, of func(in *x86.Insn) bool, thrown func(pad *Block) []held) (loads []uint64) {
	var seen states
	work := []held{from}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		at, load, ok := at.load(kept, of)
		switch {
		case !ok || load == nil && (len(at.b.Pred) == 0 || at.b.Pad && (thrown == nil || at.reg.Set()&kept == 0)):
			return nil
		case load != nil:
			loads = append(loads, load.Addr)
			continue
		case at.b.Pad:
			calls := thrown(at.b)
			if len(calls) == 0 {
				return nil
			}
			for _, h := range calls {
				if h.reg = at.reg; seen.add(h) {
					work = append(work, h)
				}
			}
		}
		if work, ok = seen.before(at, work); !ok {
			return nil
		}
	}
	return sortUnique(loads)
}

// states are what was looked at. Every block may be before every other one, a thousand
// times a thousand (computed gotos): for ends of blocks there are only bits.
type states struct {
	ends   []x86.Regs
	within map[held]bool
}

// add reports whether a state is new.
func (s *states) add(h held) bool {
	if s.within[h] {
		return false
	}
	if s.within == nil {
		s.within = map[held]bool{}
	}
	s.within[h] = true
	return true
}

// before adds the ends of the blocks from which one is come to, where they are new; ok is
// false where it is come to from elsewhere.
func (s *states) before(at held, work []held) (more []held, ok bool) {
	for _, e := range at.b.Pred {
		switch {
		case e.Kind == Pad && at.b.Pad:
		case e.From == nil:
			return nil, false
		case s.atEnd(e.From, at.reg):
			work = append(work, held{e.From, len(e.From.Insns) - 1, at.reg})
		}
	}
	return work, true
}

// atEnd is add for the end of a block.
func (s *states) atEnd(b *Block, r x86.Reg) bool {
	if n := b.ID + 1; n > len(s.ends) {
		s.ends = append(s.ends, make([]x86.Regs, n-len(s.ends))...)
	}
	if s.ends[b.ID]&r.Set() != 0 {
		return false
	}
	s.ends[b.ID] |= r.Set()
	return true
}

// held is what a register holds behind a block's n-th instruction.
type held struct {
	b   *Block
	n   int
	reg x86.Reg
}

// load goes back to the block's beginning, or to the instruction of a kind that
// loads it there. ok is false where it may have been computed.
func (at held) load(kept x86.Regs, of func(in *x86.Insn) bool) (begin held, load *x86.Insn, ok bool) {
	for ; at.n >= 0; at.n-- {
		in := &at.b.Insns[at.n]
		move := in.Vex == 0 && in.Map == 0 && in.Rex&8 != 0 && !in.HasMem
		switch {
		case in.Kind.IsCall() && at.reg.Set()&kept == 0:
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
