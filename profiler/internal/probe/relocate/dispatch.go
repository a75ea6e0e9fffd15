package relocate

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Switches in the copy. A table is left as it is, and so leads to original code, from
// where a springboard leads back. That is a jump more each time that an interpreter goes
// on to what it does next, and, what costs more, one more in what the processor
// remembers to foretell jumps by. So where it is sure which table is read, the copy reads
// one of its own, with another displacement, that leads to the copy:
//
//	movslq (b,idx,4), r; add b, r     becomes   movslq own−tbl(b,idx,4), r; add b, r
//	mov (b,idx,8), r; jmp *r                    movslq own−tbl(b,idx,4), r; lea (b,r), r; jmp *r
//	mov tbl(,idx,8), r                          mov own(,idx,8), r
//
// Entries that lead to where there is no springboard are those of the program.

// ownTable is one of the copy's own.
type ownTable struct {
	addr, named uint64 // of the program's, and what its base holds
	absolute    bool   // there is no base: entries are addresses, else how far they are from what the base holds
	entries     []uint64
	at          int // where it lies in what is emitted
}

func (t *ownTable) width() int {
	if t.absolute {
		return 8
	}
	return 4
}

// size is how many bytes it has, with what is left free behind it.
func (t *ownTable) size() int { return (t.width()*len(t.entries) + 15) &^ 15 }

// tableRead is how a block reads one.
type tableRead struct {
	table int
	cfg.Dispatch
}

// mostOwn is how many bytes of tables a function has at most.
const mostOwn = 1 << 16

// mostWays is how many edges are looked at to find them: a thousand computed gotos, each
// to a thousand labels, which lead to every goto, are not worth the minutes.
const mostWays = 1 << 25

// ownTables finds those of a function, which of its blocks read them, and how many
// bytes they have.
func ownTables(p *cfg.Program, g *cfg.Graph) (list []ownTable, reads map[int]tableRead, size int) {
	ways := 0
	for _, b := range g.Blocks {
		if b.Last().Kind != x86.JmpInd {
			continue
		}
		if ways += len(g.Edges); ways > mostWays {
			return nil, nil, 0
		}
		d, ok := p.Dispatch(g, b)
		if !ok {
			continue
		}
		t := ownTable{addr: d.Addr, named: d.Named, absolute: d.Base == x86.None, entries: d.Entries}
		i := slices.IndexFunc(list, func(x ownTable) bool { return x.addr == t.addr && x.named == t.named && x.absolute == t.absolute })
		if i < 0 {
			if size += t.size(); size > mostOwn {
				return nil, nil, 0
			}
			i = len(list)
			list = append(list, t)
		}
		if reads == nil {
			reads = map[int]tableRead{}
		}
		reads[b.ID] = tableRead{i, d}
	}
	return list, reads, size
}

// openTables makes room for them where a function begins.
func (m *emitter) openTables() {
	m.tables, m.reads = nil, nil
	if m.s.opt.Library {
		return
	}
	m.tables, m.reads, _ = ownTables(m.s.Program, m.g)
	for i := range m.tables {
		t := &m.tables[i]
		t.at = m.Len()
		m.Raw(make([]byte, t.size())...)
	}
}

// fillTables says where they lead, once all code of the function is there.
func (m *emitter) fillTables() {
	if len(m.tables) == 0 {
		return
	}
	leads := map[uint64]bool{}
	for _, list := range [][]arrival{m.q.springboards, m.q.shorts} {
		for _, a := range list {
			leads[a.at] = a.to.kind == atTable
		}
	}
	for i := range m.tables {
		t := &m.tables[i]
		for k, to := range t.entries {
			if leads[to] {
				to = m.Addr(m.label(place{atTable, int32(m.g.BlockAt(to).ID)}))
			}
			if t.absolute {
				m.SetQuad(t.at+8*k, to)
			} else {
				m.SetLong(t.at+4*k, uint32(to-t.named)) // as near as any code is to data
			}
		}
	}
}

// readTable emits an instruction of a block if it is the one that reads a table of which
// the copy has its own.
func (m *emitter) readTable(b *cfg.Block, k int) bool {
	r, ok := m.reads[b.ID]
	if !ok || r.Load != k {
		return false
	}
	in, t, at := &b.Insns[k], &m.tables[r.table], m.Len()
	own := m.PC() - uint64(at-t.at)
	if t.absolute {
		m.CopyAt(in, own)
	} else {
		m.LoadOffset(in.Reg, &x86.Mem{Base: r.Base, Index: in.Mem.Index, Scale: 4}, own-t.named)
	}
	m.note(in, at)
	return true
}

// addBase adds what a table of the copy's own is named by, where it has distances and
// that of the program addresses.
func (m *emitter) addBase(b *cfg.Block) {
	if r, ok := m.reads[b.ID]; ok && r.Wide && r.Base != x86.None {
		jump := b.Last()
		m.LeaMem(jump.RM, &x86.Mem{Base: r.Base, Index: jump.RM, Scale: 1}, 0, 0)
	}
}
