package blocking

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

//go:generate sh -c "for f in stub timer guard gate door ward; do as -o ${DOLLAR}f.o ${DOLLAR}f.S && objcopy -O binary -j .text ${DOLLAR}f.o ${DOLLAR}f.bin && rm ${DOLLAR}f.o; done"

//go:embed stub.bin
var stub []byte

//go:embed timer.bin
var timer []byte

//go:embed guard.bin
var guard []byte

//go:embed gate.bin
var gate []byte

//go:embed door.bin
var door []byte

// Offsets in stub.bin and timer.bin; a test compares them.
const (
	stubAfter  = 0x29 // behind the system call
	stubBack   = 0x64 // displacement of the jump back
	stubTimer  = 0x72 // displacement of the call of timer
	timerCopy  = 0x157
	timerCopy2 = 0x15a // behind it
	timerFull  = 0x1d3 // behind its int3

	gateAfter  = 0x0d // of gate.bin: behind the system call
	gateSite   = 0x10 // displacement of the address there
	gateBack   = 0x15 // displacement of the jump back
	gateGuard  = 0x28 // displacement of the jump to guard
	doorGuard  = 0x16 // of door.bin: likewise
	exitGroup  = 231
	guardAsk   = 0x60  // of guard.bin: a jump to ask,
	askedAt    = 0x40b // which stops here,
	answeredAt = 0x445 // and has put nothing back up to here
)

// Stubs are the code of all sites of a process, and the jumps that lead there,
// for libraries at their places: all addresses are run-time ones.
type Stubs struct {
	Base  uint64
	Bytes []byte
	Jumps []Jump

	guard uint64 // offset of guard.bin
	calls []call // by their place in Bytes
}

// Jump is what is written over a library's code.
type Jump struct {
	At       uint64
	Old, New []byte
}

// call is a system call in a stub.
type call struct {
	start, at, end uint64 // offsets: of the stub, behind its system call, behind it
	site           uint64 // the original's address
	behind         uint64 // and what is behind it
	gone           bool   // there is no original, or the jump has taken its place
}

// Placed is the sites of a library, and how far from their link-time addresses
// they are.
type Placed struct {
	Sites []Site
	Bias  uint64
}

// Inline is a stub for a system call where it stands, in code that was moved:
// its system call ends at an offset; behind it the code goes on. timer is called
// through a word that GS points to, for nobody knows yet where it will lie.
func Inline() (code []byte, after int) {
	jump := []byte{0x65, 0xff, 0x24, 0x25, threadarea.OffTimer, 0, 0, 0} // jmp *%gs:TIMER
	code = append(append([]byte(nil), stub...), jump...)
	binary.LittleEndian.PutUint32(code[stubBack:], uint32(len(code)-stubBack-4))
	binary.LittleEndian.PutUint32(code[stubTimer:], uint32(len(stub)-stubTimer-4))
	return code, stubAfter
}

// Size is an upper bound for the stubs of so many sites, whole pages.
func Size(sites int) uint64 {
	return (uint64(len(timer)+len(guard)+128) + uint64(sites)*uint64(len(stub)+len(door)+64) + 4095) &^ 4095
}

// Assemble writes the stubs for memory at base.
func Assemble(base uint64, libraries ...Placed) (*Stubs, error) {
	a := asm.New(base)
	a.Raw(timer...)
	s := &Stubs{Base: base, guard: uint64(len(timer)+15) &^ 15}
	a.Raw(make([]byte, s.guard-uint64(len(timer)))...)
	a.Raw(guard...)
	for _, l := range libraries {
		for i := range l.Sites {
			s.add(a, &l.Sites[i], l.Bias)
		}
	}
	s.Bytes = a.Bytes()
	return s, a.Err()
}

func (s *Stubs) add(a *asm.Assembler, x *Site, bias uint64) {
	c := call{start: uint64(a.Len()), site: x.At + bias, behind: x.After() + bias, gone: x.Entry}
	to := a.PC()
	var old []byte
	for _, in := range x.Moved {
		old = append(old, in.Bytes...)
	}
	if len(old) < asm.JumpLen { // the jump ends in the system call, to which nobody comes from elsewhere
		old = append(old, syscallCode...)
		c.gone = true
	}
	if x.Entry {
		a.MovImm32(x86.RAX, exitGroup)
		s.template(a, door, hole{doorGuard, s.asks(x)})
	}
	for _, in := range x.Moved {
		in.Addr, in.RIPTarget = in.Addr+bias, in.RIPTarget+bias
		a.Copy(&in)
	}
	switch {
	case x.Entry:
		a.JmpTo(x.After() + bias)
	case x.Timed:
		if x.Asks != asksNothing {
			s.template(a, door, hole{doorGuard, s.asks(x)})
		}
		c.at = stubAfter + s.template(a, stub, hole{stubBack, x.After() + bias}, hole{stubTimer, s.Base})
	default:
		c.at = gateAfter + s.template(a, gate, hole{gateSite, x.After() + bias}, hole{gateBack, x.After() + bias}, hole{gateGuard, s.asks(x)})
	}
	c.end = uint64(a.Len())
	j := asm.Jump(x.Start()+bias, to)
	s.Jumps = append(s.Jumps, Jump{x.Start() + bias, old[:asm.JumpLen], j[:]})
	s.calls = append(s.calls, c)
}

// asks is the code that a site asks by.
func (s *Stubs) asks(x *Site) uint64 { return s.Base + s.guard + uint64(x.Asks) }

// hole is a displacement in a template: its offset, and where it is to lead.
type hole struct {
	off int
	to  uint64
}

// template appends one and returns its offset.
func (s *Stubs) template(a *asm.Assembler, code []byte, holes ...hole) uint64 {
	at := a.Len()
	a.Raw(code...)
	for _, h := range holes {
		d := asm.Relative(s.Base+uint64(at+h.off)+4, h.to)
		copy(a.Bytes()[at+h.off:], d[:])
	}
	return uint64(at)
}

// Holds reports whether a run-time address lies in the stubs.
func (s *Stubs) Holds(pc uint64) bool { return s != nil && pc-s.Base < uint64(len(s.Bytes)) }

// IsFull reports whether a stop at an address says that a thread's ring is full.
func (s *Stubs) IsFull(pc uint64) bool { return s != nil && pc == s.Base+timerFull }

// Clock reports whether a thread stands at an instruction that reads the time stamp
// counter, which programs can forbid themselves.
func (s *Stubs) Clock(pc uint64) bool {
	return s.Holds(pc) && bytes.HasPrefix(s.Bytes[pc-s.Base:], []byte{0x0f, 0x31})
}

// Faulted is where a thread goes on whose stack ended while it was copied.
func (s *Stubs) Faulted(pc uint64) (to uint64, ok bool) {
	return s.Base + timerCopy2, pc == s.Base+timerCopy
}

// Interrupted is where the original code goes on for a thread that a signal
// has stopped in a stub right before or right behind the system call.
func (s *Stubs) Interrupted(pc uint64) (to uint64, ok bool) {
	c := s.call(pc)
	switch {
	case c == nil || c.gone:
	case pc == s.Base+c.at:
		return c.behind, true
	case pc == s.Base+c.at-syscallLen:
		return c.site, true
	}
	return 0, false
}

// Quiet reports whether a call in a stub is one that timer does not record, by the
// stack pointer and by what the thread's area says (threadarea.OffQuiet).
func Quiet(sp uint64, quiet uint32) bool {
	const belowStub, inside = 128 + 8, 512 // see timer.S
	return quiet != 0 && quiet-uint32(sp-belowStub) < inside
}

// Origin is the original address, behind the system call, for an address in
// its stub.
func (s *Stubs) Origin(pc uint64) (addr uint64, ok bool) {
	if c := s.call(pc); c != nil {
		return c.behind, true
	}
	return 0, false
}

func (s *Stubs) call(pc uint64) *call {
	if s == nil {
		return nil
	}
	off := pc - s.Base
	i := sort.Search(len(s.calls), func(i int) bool { return s.calls[i].end > off })
	if i == len(s.calls) || off < s.calls[i].start {
		return nil
	}
	return &s.calls[i]
}

// Wait is what a record of a call that blocked, or woke somebody, says.
type Wait struct {
	Number             uint32
	Begin, End         uint64 // time stamps
	Arg1, Arg2, Result uint64
	CPUNS              int64      // the thread's CPU clock
	After              uint64     // in the stub
	Regs               [17]uint64 // those that unwinding needs, by their DWARF numbers; not that of the instruction
	Stack              []byte     // from the stack pointer upwards; of the record's memory
}

// Parse reads a record, of threadarea.RawKind: a header as of other records, then what timer.S says.
func Parse(m []byte) Wait {
	u := func(off int) uint64 { return binary.LittleEndian.Uint64(m[off:]) }
	const head, regs = 56, 96
	w := Wait{Number: uint32(u(head)), End: u(8), Begin: u(32), Arg1: u(24), Arg2: u(head + 8), Result: u(head + 16),
		CPUNS: int64(u(40))*1e9 + int64(u(48)), After: u(16)}
	for i, r := range [...]int{7, 3, 6, 12, 13, 14, 15} {
		w.Regs[r] = u(head + 24 + 8*i)
	}
	left := min(u(head+80)*8, uint64(len(m)-head-regs))
	w.Stack = m[head+regs : uint64(len(m))-left]
	return w
}
