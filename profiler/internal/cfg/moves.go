package cfg

import (
	"maps"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

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

// carries reports whether a loop leaves something for its next round in a slot of its
// frame, as unoptimised code does with all that it computes: a counter, a sum, where
// it is in an array. Who waits has nothing from the look before.
func (s *study) carries(l *Loop) bool {
	written := map[slot]bool{}
	for _, b := range l.Blocks {
		for i := range b.Insns {
			if at, ok := s.ownSlot(&b.Insns[i]); ok && b.Insns[i].Stores {
				written[at] = true
			}
		}
	}
	if len(written) == 0 {
		return false
	}
	live := map[*Block]map[slot]bool{} // at a block's begin: what is loaded before it is written
	for again := true; again; {
		again = false
		for i := len(l.Blocks) - 1; i >= 0; i-- {
			b := l.Blocks[i]
			if in := s.loadedFirst(l, b, live); !maps.Equal(in, live[b]) {
				live[b], again = in, true
			}
		}
	}
	for at := range live[l.Head] {
		if written[at] {
			return true
		}
	}
	return false
}

// loadedFirst are the slots that a round loads before it writes to them, from a block's
// begin on, given what they are at the begin of others.
func (s *study) loadedFirst(l *Loop, b *Block, at map[*Block]map[slot]bool) map[slot]bool {
	live := map[slot]bool{}
	for _, e := range b.Succ {
		if e.To != nil && e.To != l.Head && l.Has(e.To) {
			maps.Copy(live, at[e.To])
		}
	}
	for i := len(b.Insns) - 1; i >= 0; i-- {
		in := &b.Insns[i]
		at, ok := s.ownSlot(in)
		switch {
		case !ok:
		case in.Loads:
			live[at] = true
		case in.Stores:
			delete(live, at)
		}
	}
	return live
}

// ownSlot is the slot of the function's own frame that an instruction's operand in memory is.
func (s *study) ownSlot(in *x86.Insn) (slot, bool) {
	at, ok := slotOf(in)
	return at, ok && s.own(in)
}
