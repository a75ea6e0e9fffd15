package cfg

import (
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Where a computed goto goes was made a pointer long before it jumps: by gcc -O0 it
// lies in a variable, and in direct-threaded code where the instructions are kept that
// it interprets. It leads to a label whose address is taken, by the data or by the
// function itself. One too many is harmless, so each such jump may go to all of them.
//
// What is added to a label is no pointer to one: where there are tables of how far
// labels lie from another, these jumps are theirs (findFromLabels).

// findLabelled notes which of a function's jumps may go to all of its labels, of those
// at the ends of some blocks. It reports whether they or the labels are others than
// were known: behind a label may be more code.
func (g *Graph) findLabelled(labels []uint64, at []*Block) (more bool) {
	f := g.Func
	var jumps []uint64
	if len(f.fromLabels) > 0 || len(labels) == 1 && slices.Equal(labels, f.labels) {
		at = nil // one label alone is what others are counted from: nothing more came to light behind it
	}
	height := g.heights()
	for _, b := range at {
		j := b.Last()
		if restores(b) || j.HasMem && j.Mem.Base == x86.None || !j.HasMem && computed(b, j.RM) {
			continue
		}
		// At the height of the entry it may be a tail call, and the labels those of a switch.
		if height[b] != 0 || f.hasOther(labels) {
			jumps = append(jumps, j.Addr)
		}
	}
	more = !slices.Equal(jumps, f.labelled) || len(jumps) > 0 && !slices.Equal(labels, f.labels)
	f.labelled, f.labels = jumps, labels
	return more
}

// computed reports whether what a register holds at the end of a block was computed
// there: neither loaded, nor moved, nor made as the address of something.
func computed(b *Block, r x86.Reg) bool {
	for i := len(b.Insns) - 2; i >= 0; i-- {
		in := &b.Insns[i]
		if in.Def&r.Set() == 0 {
			continue
		}
		moves := in.Map == 0 && (in.Opcode == 0x89 || in.Opcode == 0x8b || in.Opcode == 0xc7 || in.Opcode == 0x8d && in.RIPOff > 0 || in.Opcode >= 0xb8 && in.Opcode < 0xc0)
		conditionally := in.Map == 1 && in.Opcode >= 0x40 && in.Opcode < 0x50
		pops := in.Map == 0 && in.Opcode >= 0x58 && in.Opcode < 0x60
		return in.Vex != 0 || !moves && !conditionally && !pops
	}
	return false
}

// hasOther reports whether some of these labels are none of a switch.
func (f *Func) hasOther(labels []uint64) bool {
	return slices.ContainsFunc(labels, func(a uint64) bool {
		for j, t := range f.tables {
			if !slices.Contains(f.labelled, j) && slices.Contains(t, a) {
				return false
			}
		}
		return true
	})
}

// labelsOf are the labels of a function whose address the data has or its code makes.
func (p *Program) labelsOf(g *Graph) (labels []uint64) {
	f := g.Func
	for _, r := range f.Ranges {
		i := sort.Search(len(p.labels), func(i int) bool { return p.labels[i] >= r.Lo })
		for ; i < len(p.labels) && p.labels[i] < r.Hi; i++ {
			labels = append(labels, p.labels[i])
		}
	}
	for i := range g.Code {
		if a, ok := p.labelOf(&g.Code[i], f); ok {
			labels = append(labels, a)
		}
	}
	return sortUnique(labels)
}

// labelOf returns the label of a function whose address an instruction makes: by lea,
// or by mov where programs lie where they were linked.
func (p *Program) labelOf(in *x86.Insn, f *Func) (addr uint64, ok bool) {
	switch {
	case in.Map != 0 || in.Vex != 0:
	case in.Opcode == 0x8d && in.RIPOff > 0:
		addr = in.RIPTarget
	case !p.Image.Relocatable && (in.Opcode >= 0xb8 && in.Opcode < 0xc0 || in.Opcode == 0xc7):
		addr = uint64(in.Imm)
	}
	return addr, addr != f.Ranges[0].Lo && f.In(addr)
}
