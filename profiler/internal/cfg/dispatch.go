package cfg

import "github.com/skewlens/skewlens/profiler/internal/x86"

// Dispatch is how a block ends that goes where a table says which is surely the one: its
// address is in the instruction that reads it, or in a register that holds nothing else
// there, whichever way control came. So another table may be read in its stead, by an
// instruction with another displacement.
type Dispatch struct {
	Load    int      // which instruction of the block reads the table
	Addr    uint64   // of the table's first entry
	Entries []uint64 // where its entries lead, as far as it may reach: rather too far
	Wide    bool     // they are addresses
	// Base is the register that the table is named by, and Named what it holds; None: the
	// displacement is the table's address.
	Base  x86.Reg
	Named uint64
}

const (
	maxEntries = 4096 // of a table that is read anew
	maxBeyond  = 64   // of these one behind the other that lead elsewhere
)

// Dispatch returns how a block of a function ends, if that is a jump by a table which
// nobody writes, and nobody reads again what was loaded from there.
func (p *Program) Dispatch(g *Graph, b *Block) (d Dispatch, ok bool) {
	jump := b.Last()
	if targets, known := g.Targets(jump.Addr); jump.Kind != x86.JmpInd || !known || len(targets) == 0 || p.Image.Go != nil {
		return d, false
	}
	d.Base = x86.None
	at, adds := d.loads(b)
	if at == nil || at.Mem.Index == x86.None || at.Mem.Segment != 0 || at.Mem.Addr32 || at.Mem.RIP || at.Mem.Index == x86.RSP {
		return d, false
	}
	addr := uint64(int64(at.Mem.Disp))
	switch base := at.Mem.Base; {
	case base != x86.None:
		if d.Wide == adds || jump.HasMem || base == jump.RM || d.changes(b, base) {
			return d, false
		}
		if d.Named, ok = p.holdsData(g, held{b, d.Load - 1, base}); !ok {
			return d, false
		}
		d.Base = base
		addr += d.Named
	case p.Image.Relocatable || !d.Wide || adds:
		return d, false
	}
	if !jump.HasMem && !g.dies(b, jump.RM) {
		return d, false
	}
	d.Addr, d.Entries = addr, p.entries(g.Func, table{addr, d.Wide})
	return d, len(d.Entries) > 0
}

// loads finds the instruction that loads where a block's last one goes; adds: what the
// table is named by is added to that, and nothing else done.
func (d *Dispatch) loads(b *Block) (load *x86.Insn, adds bool) {
	jump := b.Last()
	if jump.HasMem {
		d.Load, d.Wide = len(b.Insns)-1, true
		if jump.Mem.Scale != 8 {
			return nil, false
		}
		return jump, false
	}
	added := x86.None
	for d.Load = len(b.Insns) - 2; d.Load >= 0; d.Load-- {
		in := &b.Insns[d.Load]
		plain := in.Kind == x86.Normal && in.Vex == 0 && in.Map == 0 && !in.Opsize
		wide, entry := loadsEntry(in)
		switch {
		case in.Kind != x86.Normal:
			return nil, false
		case (in.Def|in.Use)&jump.RM.Set() == 0:
		case plain && !in.HasMem && in.Rex&8 != 0 && added == x86.None && in.Opcode == 0x01 && in.RM == jump.RM:
			added = in.Reg
		case plain && !in.HasMem && in.Rex&8 != 0 && added == x86.None && in.Opcode == 0x03 && in.Reg == jump.RM:
			added = in.RM
		case plain && entry && in.Reg == jump.RM && (wide || in.Opcode == 0x63 && in.Rex&8 != 0):
			d.Wide = wide
			if added != x86.None && added != in.Mem.Base {
				return nil, false
			}
			return in, added != x86.None
		default:
			return nil, false
		}
	}
	return nil, false
}

// changes reports whether a register is changed between the table's being read and the jump.
func (d *Dispatch) changes(b *Block, r x86.Reg) bool {
	for i := d.Load; i < len(b.Insns)-1; i++ {
		if b.Insns[i].Def&r.Set() != 0 {
			return true
		}
	}
	return false
}

// holdsData is the address of data that a register surely holds somewhere.
func (p *Program) holdsData(g *Graph, at held) (addr uint64, ok bool) {
	leas := origins(at, calleeSaved, func(in *x86.Insn) bool {
		return in.Opcode == 0x8d && in.Map == 0 && in.Vex == 0 && in.RIPOff > 0 && in.Rex&8 != 0
	})
	for _, a := range leas {
		in := g.InsnAt(a)
		if in == nil || addr != 0 && in.RIPTarget != addr {
			return 0, false
		}
		addr = in.RIPTarget
	}
	return addr, addr != 0
}

// entries are where a table's lead which nobody writes; nil: somebody may.
func (p *Program) entries(f *Func, t table) (all []uint64) {
	s := p.Image.SectionAt(t.addr)
	if s == nil || s.Exec || s.Write && s.Name != ".data.rel.ro" {
		return nil
	}
	data := s.Data[min(t.addr-s.Addr, uint64(len(s.Data))):]
	for beyond := 0; len(all) < maxEntries && beyond <= maxBeyond; {
		a, ok := t.entry(data, len(all))
		inside := f.In(a) || f.endsAt(a)
		if !ok || t.wide && !inside { // as they were read for the jump's targets: see decoder.read
			return all
		}
		all = append(all, a)
		if beyond++; inside {
			beyond = 0
		}
	}
	if len(all) == maxEntries {
		return nil // it may have more
	}
	return all
}

// dies reports whether nobody reads what a register holds where a block goes.
func (g *Graph) dies(b *Block, r x86.Reg) bool {
	seen := map[*Block]bool{}
	work := []*Block{b}
	for len(work) > 0 {
		from := work[len(work)-1]
		work = work[:len(work)-1]
		for _, e := range from.Succ {
			if e.To == nil {
				return false
			}
			if seen[e.To] {
				continue
			}
			seen[e.To] = true
			switch read, written := e.To.first(r); {
			case read:
				return false
			case !written:
				work = append(work, e.To)
			}
		}
	}
	return true
}

// first reports whether a block reads a register before it writes it, or writes it. What
// a call gets may be read, and what it need not keep is written.
func (b *Block) first(r x86.Reg) (read, written bool) {
	for i := range b.Insns {
		in := &b.Insns[i]
		switch {
		case in.Kind.IsCall():
			if r != x86.RAX && r != x86.R10 && r != x86.R11 {
				return true, false
			}
			return in.Kind == x86.CallInd && in.Use&r.Set() != 0 && (in.RM == r || in.HasMem && (in.Mem.Base == r || in.Mem.Index == r)), true
		case clears(in) && in.Opcode&1 == 1 && !in.Opsize && in.RM == r:
			return false, true
		case in.Use&r.Set() != 0:
			return true, false
		case in.Def&r.Set() != 0:
			return false, true
		}
	}
	return false, false
}
