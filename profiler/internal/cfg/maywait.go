package cfg

import (
	"math/bits"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// MayWait reports whether an innermost loop without calls may wait for another thread,
// also where it does something else meanwhile (while (!flag) n++), so that it is no spin:
// whether it goes on is decided by what its own rounds do not move.
//
// It is a matter of what depends on what. A place is a register, or a slot of the frame
// that the loop writes. At each point of a round a place holds what depends on some of
// what the places carried at the head; at the end of the round that is what the next one
// begins with. A place that depends on itself moves (r += 1, p = p->next), and what depends
// on it. An exit by what moves comes by itself some time.
func (l *Loop) MayWait() bool {
	if l.waits == unknown {
		l.waits = never
		if mayWait(l) {
			l.waits = maybe
		}
	}
	return l.waits == maybe
}

// waiting is what is known of a loop's waiting.
type waiting uint8

const (
	unknown waiting = iota
	never
	maybe
)

const (
	generals  = 16 // places that are general registers; slots follow
	places    = 64
	manyBlock = 64 // blocks, above which a loop is taken to move
)

// carried is by place the places at the head on which it depends, one bit each; flags are
// one more.
type carried struct {
	of    [places]uint64
	flags uint64
}

func mayWait(l *Loop) bool {
	if !l.Inner || len(l.Blocks) > manyBlock {
		return false
	}
	index, ok := slotsOf(l)
	if !ok {
		return false
	}
	in := make(map[*Block]*carried, len(l.Blocks))
	for _, b := range l.Blocks {
		in[b] = &carried{}
	}
	for i := range in[l.Head].of {
		in[l.Head].of[i] = 1 << i
	}
	var next carried
	var exits uint64
	for again := true; again; {
		again, next, exits = false, carried{}, 0
		for _, b := range l.Blocks {
			s := *in[b]
			for i := range b.Insns {
				if !s.pass(&b.Insns[i], index) {
					return false
				}
			}
			for _, e := range b.Succ {
				switch {
				case e.To == nil || !l.Has(e.To):
					exits |= s.decides(b.Last())
				case e.To == l.Head:
					next.join(&s)
				default:
					again = in[e.To].join(&s) || again
				}
			}
		}
	}
	return exits&next.moving(newWrites(l.Blocks).def, len(index)) == 0
}

// slotsOf numbers the slots of the frame that a loop writes. There is no telling where
// it writes other memory, calls, or leaves by a table.
func slotsOf(l *Loop) (index map[slot]int, ok bool) {
	index = map[slot]int{}
	for _, b := range l.Blocks {
		if len(b.Calls) > 0 || b.Last().Kind == x86.JmpInd {
			return nil, false
		}
		for i := range b.Insns {
			x := &b.Insns[i]
			if !x.Stores {
				continue
			}
			s, own := slotOf(x)
			if _, seen := index[s]; !seen && own {
				index[s] = generals + len(index)
			}
			if !own || x.IsString() || len(index) > places-generals {
				return nil, false
			}
		}
	}
	return index, true
}

// pass follows an instruction. ok is false where what it computes is not followed:
// comparisons of vectors and floating point.
func (s *carried) pass(x *x86.Insn, index map[slot]int) (ok bool) {
	from := uint64(0)
	for r := x.Use; r != 0 && !clears(x); r &= r - 1 {
		from |= s.of[bits.TrailingZeros16(uint16(r))]
	}
	at, own := slotOf(x)
	n, written := index[at]
	if own && written && x.Loads {
		from |= s.of[n]
	}
	for r := x.Def; r != 0; r &= r - 1 {
		s.of[bits.TrailingZeros16(uint16(r))] = from
	}
	if x.Stores {
		s.of[n] = from
	}
	if x.FlagsKilled == 0 {
		return true
	}
	if x.FlagsKilled != x86.AllFlags {
		from |= s.flags
	}
	s.flags = from
	return x.Vex == 0 && x.Map < 2 && !(x.Map == 1 && (x.Opcode == 0x2e || x.Opcode == 0x2f)) && !(x.Map == 0 && x.Opcode >= 0xd8 && x.Opcode <= 0xdf)
}

// clears recognises xor %r,%r.
func clears(x *x86.Insn) bool {
	return x.Map == 0 && x.Vex == 0 && x.Opcode >= 0x30 && x.Opcode <= 0x33 && !x.HasMem && x.Reg == x.RM
}

// decides is what the way out of a block depends on.
func (s *carried) decides(last *x86.Insn) uint64 {
	if last.Kind == x86.Jrcxz {
		return s.flags | s.of[x86.RCX]
	}
	return s.flags
}

// join adds what else may be carried; it reports whether that is more.
func (s *carried) join(o *carried) (more bool) {
	add := func(to *uint64, from uint64) {
		more = more || from&^*to != 0
		*to |= from
	}
	for i := range s.of {
		add(&s.of[i], o.of[i])
	}
	add(&s.flags, o.flags)
	return more
}

// moving are the places that depend on themselves from round to round, or on such,
// of those that the loop writes: registers, and the first slots.
func (s *carried) moving(def x86.Regs, slots int) (set uint64) {
	written := uint64(def) | (1<<slots-1)<<generals
	for again := true; again; { // transitively
		again = false
		for i := range s.of {
			for d := s.of[i] & written; d != 0; d &= d - 1 {
				more := s.of[i] | s.of[bits.TrailingZeros64(d)]
				again = again || more != s.of[i]
				s.of[i] = more
			}
		}
	}
	for i, of := range s.of {
		if of&written>>i&1 != 0 && written>>i&1 != 0 {
			set |= 1 << i
		}
	}
	for i, of := range s.of {
		if of&set != 0 && written>>i&1 != 0 {
			set |= 1 << i
		}
	}
	return set
}
