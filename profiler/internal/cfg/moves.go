package cfg

import "github.com/skewlens/skewlens/profiler/internal/x86"

// moves reports whether a loop goes from one place in memory to the next, as
// along a list: an address that it loads from is made of what the round before
// has left in a register. Who waits for another thread looks at one place, or
// finds it anew each time.
func (s *study) moves(l *Loop) bool {
	var made x86.Regs
	for _, b := range l.Blocks {
		for i := range b.Insns {
			if in := &b.Insns[i]; in.Kind == x86.Normal {
				made |= in.Def
			}
		}
	}
	live := map[*Block]x86.Regs{} // at a block's begin: what addresses are made of
	for again := true; again; {
		again = false
		for i := len(l.Blocks) - 1; i >= 0; i-- {
			b := l.Blocks[i]
			if in := s.addressed(l, b, live); in != live[b] {
				live[b], again = in, true
			}
		}
	}
	return live[l.Head]&made&^x86.RSP.Set() != 0
}

// addressed is what addresses are made of from a block's begin on, given what
// they are at the begin of others.
func (s *study) addressed(l *Loop, b *Block, at map[*Block]x86.Regs) (live x86.Regs) {
	for _, e := range b.Succ {
		if e.To != nil && e.To != l.Head && l.Has(e.To) {
			live |= at[e.To]
		}
	}
	for i := len(b.Insns) - 1; i >= 0; i-- {
		in := &b.Insns[i]
		if in.Def&live != 0 {
			live = live&^in.Def | in.Use
		}
		if in.HasMem && in.Loads && !s.own(in) {
			live |= in.Mem.Base.Set() | in.Mem.Index.Set()
		}
	}
	return live
}
