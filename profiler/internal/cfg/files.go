package cfg

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Of a pipe or socket whoever is free reads what comes next, if several threads do. They do
// where its number lies at one place for all of them:
//
//	mov  jobs(%rip), %edi        or  lea jobs(%rip), %rbx  before the loop
//	call read                        mov (%rbx), %edi
//
// What is read then was taken (deals.go). Of numbers that lie elsewhere it is not known.

// reads are functions that read from a file by its number.
var reads = map[string]bool{"read": true, "__read_chk": true, "recv": true, "__recv_chk": true}

// message is what a function does that takes one, which stands where its second argument says.
var message = habit{fetches: true, fills: x86.RSI.Set()}

// readsShared notes a function's calls that read so.
func (d *Dealer) readsShared(g *Graph) {
	for _, b := range g.Blocks {
		for i := range b.Calls {
			c := &b.Calls[i]
			if reads[c.Import] && g.fromGlobal(b, slices.IndexFunc(b.Insns, func(in x86.Insn) bool { return in.Addr == c.Insn.Addr }), x86.RDI) {
				d.files[c.Insn.Addr] = true
			}
		}
	}
}

// fromGlobal reports whether a register gets its value in a block, before the k-th
// instruction, or in those that surely come before it, from one place of the program's data.
func (g *Graph) fromGlobal(b *Block, k int, r x86.Reg) bool {
	for range g.Blocks {
		if k = set(b, k, r); k < 0 {
			if b = before(b); b == nil {
				return false
			}
			k = len(b.Insns)
			continue
		}
		switch in := &b.Insns[k]; {
		case in.Kind != x86.Normal || in.Map != 0 || in.Vex != 0:
			return false
		case in.Opcode == 0x8b && in.HasMem:
			return in.Mem.Segment == 0 && in.Mem.Index == x86.None && (in.Mem.Base == x86.None || g.pointsAtData(in.Mem.Base))
		case in.Opcode == 0x89 && !in.HasMem:
			r = in.Reg
		case in.Opcode == 0x8b:
			r = in.RM
		default:
			return false
		}
	}
	return false
}

// before is the block from which alone control comes to a block, but for parts that begin
// behind a region; nil: there is none.
func before(b *Block) (from *Block) {
	for _, e := range b.Pred {
		switch {
		case e.Kind == Resumed:
		case from != nil || e.From == nil:
			return nil
		default:
			from = e.From
		}
	}
	return from
}

// pointsAtData reports whether a function leaves in a register that callees save nothing
// but the address of one place of the program's data, until it puts back what was there.
func (g *Graph) pointsAtData(r x86.Reg) bool {
	at := uint64(0)
	for _, b := range g.Blocks {
		for i := range b.Insns {
			in := &b.Insns[i]
			lea := in.Opcode == 0x8d && in.Map == 0 && in.Vex == 0 && in.RIPOff > 0
			switch {
			case in.Def&r.Set() == 0 || in.Kind.IsCall():
			case in.Map == 0 && in.Vex == 0 && in.Opcode&^7 == 0x58: // pop
			case !lea || at != 0 && at != in.RIPTarget:
				return false
			default:
				at = in.RIPTarget
			}
		}
	}
	return at != 0 && r.Set()&calleeSaved != 0
}
