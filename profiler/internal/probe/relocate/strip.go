package relocate

import (
	"math/bits"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// A loop of one block that goes through memory by constant steps need not simulate each
// round. If all accesses of one are hits, then so are those of the next, as long as each
// is to the line that it was to: what was used last in a set, and before, is what it was
// after the round. So a round that is simulated finds out how many of those that
// follow access nothing else, and has the register by which they are told, as it will be
// in the first that does, in a word of the red zone:
//
//	   mov  r, word(%rsp)        where the loop is entered
//	again:
//	   cmp  r, word(%rsp)
//	   je   the group, and how long
//
// Where so many lines are accessed, or of such a width, that many a round would begin
// others, each round is simulated. Who misses, or may have, says that the next round is simulated too.
type strip struct {
	reg       x86.Reg
	step, off int64   // of it: each round's, and what was added since the block began
	steps     []int64 // by access of the group: of its address
}

// stripWord is where that word is, from the stack pointer: above those that are saved.
const stripWord = 16 - redZone

// widest is the longest step, in bytes: of larger ones there are too few to a line.
const widest = 8

// stripOf is how rounds of a loop are told apart that is one block, with one group; nil:
// they cannot be.
func (s *accesses) stripOf(b *cfg.Block) *strip {
	if s.tells || s.spare < 3 || len(s.groups) != 1 || len(s.ranges) > 0 || !isLoop(b) {
		return nil
	}
	g := &s.groups[0]
	changed := x86.Regs(0)
	for i := range b.Insns {
		in := &b.Insns[i]
		_, r := constant(in)
		if changed |= in.Def &^ r.Set(); in.Def&x86.RSP.Set() != 0 || in.Kind != x86.Normal && i < len(b.Insns)-1 {
			return nil
		}
	}
	if s.flags[g.at] != 0 || g.regs()&changed != 0 {
		return nil
	}
	last := &s.off[len(b.Insns)]
	if isShort(b, last) {
		return nil
	}
	st := &strip{reg: x86.None}
	for _, a := range s.settled(g) {
		step := last.address(&x86.Mem{Base: a.Mem.Base, Index: a.Mem.Index, Scale: a.Mem.Scale})
		if max(step, -step) > widest {
			return nil
		}
		for _, r := range [...]x86.Reg{a.Mem.Base, a.Mem.Index} {
			if step != 0 && r != x86.None && last[r] != 0 && last[r] == int64(int32(last[r])) {
				st.reg, st.step, st.off = r, last[r], s.off[g.at][r]
			}
		}
		st.steps = append(st.steps, step)
	}
	near := int64(0)
	for _, c := range clusters(s.settled(g), s.line) {
		if step := st.steps[c.first]; step != 0 {
			near += max(step, -step, c.span)
		}
	}
	if near > s.line*3/8 {
		return nil
	}
	if st.reg == x86.None || st.off != int64(int32(st.off)) {
		return nil
	}
	return st
}

// isLoop reports whether a block is a loop by itself.
func isLoop(b *cfg.Block) bool {
	if k := b.Last().Kind; k != x86.Jcc && k != x86.Jmp {
		return false
	}
	for _, e := range b.Succ {
		if e.To == b {
			return true
		}
	}
	return false
}

// few is how many rounds are not worth it.
const few = 8

// isShort reports whether a loop has few rounds, by the constant that it ends at: where
// it begins is taken to be 0, since nothing but speed goes by this.
func isShort(b *cfg.Block, last *offsets) bool {
	if len(b.Insns) < 2 {
		return false
	}
	in := &b.Insns[len(b.Insns)-2]
	if in.Map != 0 || in.Vex != 0 || in.Opcode != 0x83 && in.Opcode != 0x81 || in.Ext() != 7 || in.HasMem {
		return false
	}
	return in.Imm > 0 && in.Imm <= few*max(1, last[in.RM], -last[in.RM])
}

// openStrip emits what is done where a loop of which rounds are told apart is entered:
// the first is simulated.
func (m *emitter) openStrip() {
	st := m.accesses.strip
	m.detours(func(*int) {
		if st.off != 0 {
			m.LeaReg(st.reg, st.reg, int32(st.off))
		}
		m.SaveRSP(stripWord, st.reg)
		if st.off != 0 {
			m.LeaReg(st.reg, st.reg, int32(-st.off))
		}
	})
}

// into is where an edge leads: who goes round in such a loop does not enter it.
func (m *emitter) into(e *cfg.Edge) asm.Label {
	if e.From == e.To && m.again[e.To.ID] >= 0 {
		return asm.Label(m.again[e.To.ID])
	}
	return m.block(e.To)
}

// stripped emits a group, out of line, and whether it is gone to.
func (m *emitter) stripped(l *look, end *int) {
	group, done := m.Labels(1), m.Labels(1)
	m.CmpRSP(stripWord, l.strip.reg)
	m.Jcc(asm.NotEqual^1, group)
	m.Bind(done)
	m.later = append(m.later, func() {
		from := m.Len()
		m.Bind(group)
		m.group(l, end)
		m.Jmp(done)
		if m.detour != nil {
			m.detour(from, m.Len(), *end)
		}
	})
}

// nextRound has the next round simulated. It changes u.
func (m *emitter) nextRound(l *look) {
	m.LeaReg(l.u, l.strip.reg, int32(l.strip.step))
	m.SaveRSP(stripWord+l.down, l.u)
}

// manyRounds has as many rounds left out as access no other lines. It changes t and u.
func (m *emitter) manyRounds(l *look) {
	line := int64(1) << m.s.opt.Caches.Shift
	one := m.Labels(1)
	m.nextRound(l)
	to := l.t
	for i := range l.groups {
		c := &l.groups[i]
		step := l.strip.steps[c.first]
		if step == 0 {
			continue
		}
		// What lies before the line's end, or behind its beginning.
		from := c.access
		if step < 0 {
			from.Mem.Disp += int32(c.span - 1)
			from.Target += uint64(c.span - 1)
		}
		m.address(to, &from, l.down)
		if step > 0 {
			m.Not(to)
		}
		m.AndImm32(to, uint32(line-1))
		m.SubImm8(to, int8(c.span-1))
		m.Jcc(asm.Negative, one) // it is to two lines
		if n := uint64(max(step, -step)); n&(n-1) == 0 {
			m.Shr(to, byte(bits.TrailingZeros64(n)))
		} else {
			m.ImulImm32(to, to, int32((1<<16+n-1)/n))
			m.Shr(to, 16)
		}
		if to == l.u {
			m.Cmp(l.u, l.t)
			m.CmovBelow(l.t, l.u)
		}
		to = l.u
	}
	m.Imul(l.t, l.t, int32(l.strip.step))
	m.LeaMem(l.t, &x86.Mem{Base: l.t, Index: l.strip.reg, Scale: 1, Disp: int32(l.strip.step)}, 0, 0)
	m.SaveRSP(stripWord+l.down, l.t)
	m.Bind(one)
}
