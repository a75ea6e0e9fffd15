package cfg

import "github.com/skewlens/skewlens/profiler/internal/x86"

// stack follows where a function's frame is, and sees whether it looks at its
// return address, or at its caller's frame: __builtin_return_address,
// -finstrument-functions, walks over frame pointers. Who walks over frames that
// are not its own, as garbage collectors do, cannot be told from others; but
// such runtimes' languages call by conventions of their own: their functions
// change registers that those of C keep for their callers.
type stack struct {
	height         int            // of rsp, below the return address, in bytes
	framed         bool           // rbp is the frame pointer
	jumps          map[uint64]int // heights at jumps through pointers
	changed, saved x86.Regs
	returns        bool
	leaves, keeps  bool // rsp is loaded from elsewhere, and kept elsewhere
}

const unknownHeight = -1 << 30

// step is told of the next instruction, in the order of the flow; it reports
// whether that reads the return address or the caller's frame pointer, or makes
// a pointer to them.
func (s *stack) step(in *x86.Insn) (reads bool) {
	legacy := in.Map == 0 && in.Vex == 0
	mov := legacy && (in.Opcode == 0x89 || in.Opcode == 0x8b)
	pop := legacy && in.Opcode >= 0x58 && in.Opcode < 0x60
	switch {
	case mov && !in.HasMem && in.Use == x86.RSP.Set() && in.Def == x86.RBP.Set() && (s.height == 8 || s.height == unknownHeight):
		s.framed = true
	case mov:
		reads = s.points(in) || in.Loads && s.names(&in.Mem)
	case pop:
		reads = s.height == 0
	default:
		reads = in.HasMem && (in.Loads || legacy && in.Opcode == 0x8d) && s.names(&in.Mem)
	}
	switch {
	case legacy && in.Opcode >= 0x50 && in.Opcode < 0x58: // push
		s.saved |= in.Use &^ x86.RSP.Set()
	case mov && in.Stores && (in.Mem.Base == x86.RSP || in.Mem.Base == x86.RBP):
		s.saved |= in.Reg.Set()
	case in.Kind == x86.Normal && !pop && !(legacy && in.Opcode == 0xc9):
		s.changed |= in.Def & calleeSaved
	}
	s.move(in)
	return reads
}

// move follows the stack pointer.
func (s *stack) move(in *x86.Insn) {
	s.returns = s.returns || in.Kind == x86.Ret
	s.switching(in)
	if in.Kind == x86.JmpInd {
		if s.jumps == nil {
			s.jumps = map[uint64]int{}
		}
		s.jumps[in.Addr] = s.height
	}
	if h, known := stackHeight(in, s.height); known && (s.height != unknownHeight || h == 0) {
		s.height = h
	} else {
		s.height = unknownHeight
	}
}

// points: a mov copies a pointer to the return address or to what lies below it.
func (s *stack) points(in *x86.Insn) bool {
	switch {
	case !in.HasMem && in.Use == x86.RSP.Set():
		return s.height == 0
	case !in.HasMem && in.Use == x86.RBP.Set(), in.Stores && in.Reg == x86.RBP:
		return s.framed && in.Def != x86.RSP.Set()
	}
	return false
}

// names: an operand is the return address or the caller's frame pointer.
func (s *stack) names(m *x86.Mem) bool {
	switch {
	case m.Index != x86.None || m.Segment != 0:
	case m.Base == x86.RSP:
		return int(m.Disp) == s.height
	case m.Base == x86.RBP:
		return s.framed && (m.Disp == 0 || m.Disp == 8)
	}
	return false
}

// strange reports whether the function changes registers that belong to its
// caller and does not put them back.
func (s *stack) strange() bool { return s.returns && s.changed&^s.saved != 0 }

// switching sees where the thread goes to another stack. Arrays of a length
// that varies look alike where they end, but for where rsp was kept meanwhile.
func (s *stack) switching(in *x86.Insn) {
	if in.Map != 0 || in.Vex != 0 {
		return
	}
	frame := in.HasMem && (in.Mem.Base == x86.RSP || in.Mem.Base == x86.RBP)
	into := in.Opcode == 0x8b && in.Reg == x86.RSP || in.Opcode == 0x89 && in.RM == x86.RSP && in.Reg != x86.RBP ||
		in.Opcode == 0x87 && (in.Reg == x86.RSP || in.RM == x86.RSP) || in.Opcode == 0x5c && in.Rex&1 == 0
	s.leaves = s.leaves || into && !frame && !(in.RM == x86.RBP) && (in.HasMem || !s.framed || in.Opcode == 0x5c)
	s.keeps = s.keeps || in.Opcode == 0x89 && in.Stores && in.Reg == x86.RSP && !frame
}

// switches reports whether the function goes to another stack: a call of it
// comes back when somebody goes back to this one, if ever.
func (s *stack) switches() bool { return s.leaves || s.keeps }

// splitsStack recognises the call of a function that looks how much is left of
// its piece of the stack (-fsplit-stack), which says in r11 how many bytes of
// arguments it has. It comes back behind the instruction that it returns to, so
// its caller stays where it is.
func splitsStack(before, call *x86.Insn) bool {
	return call.Kind == x86.Call && before.End() == call.Addr && before.Kind == x86.Normal && before.HasImm && before.Use == 0 && before.Def == x86.R11.Set()
}
