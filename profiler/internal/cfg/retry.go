package cfg

import "github.com/skewlens/skewlens/profiler/internal/x86"

// split makes loops of the ways round a loop that only try again: compilers often
// let a loop that waits begin where the loop around it does.
func (s *study) split(l *Loop) {
	in, more := make([]bool, len(s.Blocks)), make([]bool, len(s.Blocks))
	for _, e := range l.Head.Pred {
		if e.From == nil || !l.Has(e.From) {
			continue
		}
		t := s.cycle(l, e.From, in, more)
		if t == nil || len(t.Blocks) == len(l.Blocks) {
			more[e.From.ID] = true
			continue
		}
		was := make([]*Loop, len(t.Blocks))
		for i, b := range t.Blocks {
			if was[i] = b.Loop; b.Loop == l {
				b.Loop = t
			}
		}
		if s.kindOf(t) == retries {
			s.Graph.Loops, s.loops[t] = append(s.Graph.Loops, t), retries
			continue
		}
		for i, b := range t.Blocks {
			b.Loop = was[i]
		}
	}
}

// cycle is the way round a loop that a latch ends; nil where it does more than try again, by
// a block of it, by all of it so far, or as the way that ends in a block of it does (more). A
// loop around computed gotos may have a thousand latches, each with a thousand blocks before
// it of which every one leads to every other.
func (s *study) cycle(l *Loop, latch *Block, in, more []bool) *Loop {
	clear(in)
	t, x := &Loop{Head: l.Head, Parent: l, Inner: true}, loopOps{spin: true}
	for stack := []*Block{latch, l.Head}; len(stack) > 0; {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if in[b.ID] {
			continue
		}
		in[b.ID] = true
		if more[b.ID] || !s.add(&x, l, b) || (x.any || x.moves) && x.insns > large {
			return nil
		}
		if b == l.Head {
			continue
		}
		for _, e := range b.Pred {
			if e.From == nil || in[e.From.ID] || !l.Has(e.From) {
				continue
			}
			if more[e.From.ID] {
				return nil
			}
			stack = append(stack, e.From)
		}
	}
	for _, b := range l.Blocks {
		if in[b.ID] {
			t.Blocks = append(t.Blocks, b)
		}
	}
	return t
}

// retry reports whether a loop is left by what another thread does: by a
// condition on what was just loaded from memory that is not the function's own,
// on what a locked instruction found, or on what a call returned. A loop that
// counts is left by its counter.
func (s *study) retry(l *Loop) bool {
	slots := map[x86.Mem]bool{} // of the frame: they hold such a value
	for again := true; again; {
		n := len(slots)
		for _, b := range l.Blocks {
			fresh := s.fresh(l, b, slots) // which notes slots
			if s.leavesLoop(l, b) && (fresh || s.lent(l, b)) {
				return true
			}
		}
		again = len(slots) > n
	}
	return false
}

func (s *study) leavesLoop(l *Loop, b *Block) bool {
	if !b.Last().Kind.IsConditional() {
		return false
	}
	for _, e := range b.Succ {
		if e.Kind != Caught && (e.To == nil || !l.Has(e.To) && !s.doomed[e.To.ID]) {
			return true
		}
	}
	return false
}

// fresh follows such values through a block, and reports whether the flags at
// its end depend on one.
func (s *study) fresh(l *Loop, b *Block, slots map[x86.Mem]bool) bool {
	var regs x86.Regs
	flags := false
	if afterCall(l, b) {
		regs = x86.RAX.Set()
	}
	for i := range b.Insns {
		in := &b.Insns[i]
		if in.Kind.IsCall() {
			regs = x86.RAX.Set()
			continue
		}
		is := in.Use&regs&^(in.Mem.Base.Set()|in.Mem.Index.Set()) != 0 || in.Lock || in.FlagsRead != 0 && flags && in.Kind == x86.Normal
		if in.HasMem && in.Loads {
			m := in.Mem
			is = is || !s.own(in) || slots[m]
		}
		if in.HasMem && in.Stores && s.own(in) && is {
			slots[in.Mem] = true
		}
		if is {
			regs |= in.Def
		} else {
			regs &^= in.Def &^ in.Use
		}
		if in.FlagsKilled&(x86.ZF|x86.CF|x86.SF) != 0 {
			flags = is
		}
	}
	return flags
}

// own: its memory operand is of the function's frame.
func (s *study) own(in *x86.Insn) bool {
	return in.Mem.Base == x86.RBP && s.framed || in.Mem.Base == x86.RSP
}

// idles reports whether nothing moves on in a loop that another thread ends:
// it writes to nothing but its frame, counts nothing but how often it has looked, and
// follows no pointer from one place to the next. Unoptimised code does that, with all it
// loads.
func (s *study) idles(l *Loop) bool {
	tallies := s.tallies(l)
	for _, b := range l.Blocks {
		if s.stores[b.ID] || s.called[b.ID] {
			return false
		}
		for i := range b.Insns {
			in := &b.Insns[i]
			switch {
			case in.Kind != x86.Normal:
			case in.IsString(), in.Stores && (!in.HasMem || !s.own(in) || in.Loads):
				return false
			case in.Def&in.Use != 0 && !masks(in) && !freshBefore(b, i, in.Def&in.Use) && in.Def&^tallies != 0:
				return false
			case in.Stores && in.Rex&8 != 0 && s.followed(b, i):
				return false
			}
		}
	}
	return s.retry(l) && !s.moves(l) && !s.carries(l)
}

// tallies are the registers in which a loop only counts how often it has gone round: what
// counts in them and what compares them with a number has no other use for them.
func (s *study) tallies(l *Loop) (regs x86.Regs) {
	var others x86.Regs
	for _, b := range l.Blocks {
		for i := range b.Insns {
			in := &b.Insns[i]
			switch step := (in.HasImm || in.Opcode == 0xff) && !in.HasMem && in.Kind == x86.Normal && in.Use == in.RM.Set(); {
			case step && in.Def == in.Use && !masks(in):
				regs |= in.Def
			case step && in.Def == 0: // cmp
			default:
				others |= in.Use | in.Def
			}
		}
	}
	return regs &^ others
}

// counts: a block computes with numbers, its frame's aside.
func (s *study) counts(b *Block) bool {
	for i := range b.Insns {
		in := &b.Insns[i]
		if in.Kind != x86.Normal || in.Mem.Segment != 0 || in.Def&x86.RSP.Set() != 0 || in.Vex != 0 {
			continue
		}
		lea := in.Map == 0 && in.Opcode == 0x8d && in.HasMem && !in.Mem.RIP && !s.own(in)
		if lea || in.FlagsKilled&x86.ZF != 0 && in.Def != 0 && !masks(in) && !(in.Opcode == 0xc1 || in.Opcode == 0xd3) {
			return true
		}
	}
	return false
}

// followed: what an instruction stores was loaded from elsewhere than the frame.
func (s *study) followed(b *Block, i int) bool {
	for k := i - 1; k >= 0; k-- {
		if in := &b.Insns[k]; in.Def&b.Insns[i].Reg.Set() != 0 {
			return in.Loads && in.HasMem && !s.own(in)
		}
	}
	return false
}

// asksErrno reports whether a loop looks at why a call has failed.
func (s *study) asksErrno(l *Loop) bool {
	for _, b := range l.Blocks {
		for i := range b.Calls {
			if b.Calls[i].Import == "__errno_location" {
				return true
			}
		}
	}
	return false
}

// afterCall: every way into a block from its loop comes from a call.
func afterCall(l *Loop, b *Block) bool {
	any := false
	for _, e := range b.Pred {
		if e.From == nil || !l.Has(e.From) {
			continue
		}
		if !e.From.Last().Kind.IsCall() {
			return false
		}
		any = true
	}
	return any
}
