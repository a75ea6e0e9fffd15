// Package x86 reads x86-64 machine code as far as moving it needs: where an
// instruction ends, where control goes from it, which field of it depends on
// its own address, which flags and general registers it reads and writes.
//
//	bytes ──Decode──▶ Insn ──▶ cfg (blocks, edges) ──▶ probe (the moved copy)
//
// It knows no mnemonics: what does not matter for relocation is not decoded.
// What it is not sure of it refuses (Decode returns an error), and the
// function that holds the bytes stays where it is.
//
// What an opcode is stands in tables, a line per range of opcodes as in the
// manuals' opcode maps (map_one.go, map_two.go, map_vex.go, groups.go); the
// notation is in op.go. From them index.go makes what Decode reads.
//
// Effects are what processors promise, not what they do: a flag that an
// instruction leaves undefined is neither read nor killed, and so stays live.
// Register effects are conservative, with one thing sure: a register in Def and
// not in Use is wholly overwritten. The tests try all of it on the processor.
package x86

// Kind is how control leaves an instruction.
type Kind uint8

const (
	Normal  Kind = iota // goes on to the next one
	Jmp                 // direct jump
	Jcc                 // conditional jump
	Jrcxz               // jrcxz, loop, loope, loopne: rel8 only
	Call                // direct call
	CallInd             // call through a register or memory
	JmpInd              // jump through a register or memory
	Ret                 // return
	Stop                // ud2, hlt, int3, int n: does not go on (int3 does, if a handler of SIGTRAP returns)
)

// IsCall reports whether the instruction calls.
func (k Kind) IsCall() bool { return k == Call || k == CallInd }

// IsJump reports whether it is a direct jump, conditional or not.
func (k Kind) IsJump() bool { return k == Jmp || k == Jcc || k == Jrcxz }

// IsConditional reports whether it may also fall through.
func (k Kind) IsConditional() bool { return k == Jcc || k == Jrcxz }

// Flags is a set of the arithmetic flags.
type Flags uint8

const (
	CF Flags = 1 << iota
	PF
	AF
	ZF
	SF
	OF
	AllFlags = CF | PF | AF | ZF | SF | OF
)

// Regs is a set of the 16 general registers; bit i is register i.
type Regs uint16

// Reg is a general register by its number; None where an operand has none.
type Reg int8

const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	None Reg = -1
)

// Set is the set of one register, or the empty set for None.
func (r Reg) Set() Regs {
	if r < 0 {
		return 0
	}
	return 1 << uint(r)
}

// AllRegs holds every general register.
const AllRegs Regs = 0xffff

// Mem is a memory operand [Base + Index·Scale + Disp]. With RIP set it is
// Disp bytes behind the instruction's end; Insn.RIPTarget is that address.
type Mem struct {
	Disp        int32
	Base, Index Reg
	Scale       uint8 // 1, 2, 4, 8; 0 without index
	RIP         bool
	Segment     byte // the prefix byte 0x64 (fs) or 0x65 (gs); 0: none
	Addr32      bool // 67 prefix: base and index are 32-bit registers, and so is the sum
	Vector      bool // the index is a vector register (gather, scatter): Index is None
}

// Insn is one decoded instruction.
type Insn struct {
	Addr      uint64 // link-time
	Bytes     []byte // points into the code given to Decode
	Target    uint64 // of Jmp, Jcc, Jrcxz, Call
	RIPTarget uint64 // the address that a RIP-relative operand names
	Imm       int64  // sign-extended, when HasImm
	Mem       Mem

	// Use: read, part of an address, or kept in part. Def: possibly written; in
	// Def and not in Use: surely and wholly written. A call stands for what its
	// callee may do, Ret for what the caller may read: all registers.
	Use, Def               Regs
	FlagsRead, FlagsKilled Flags
	Kind                   Kind
	CC                     byte  // of Jcc, setcc, cmovcc: the condition, 0 … 15
	RelOff                 uint8 // offset in Bytes of the relative displacement of a direct branch, 0: none
	RIPOff                 uint8 // offset in Bytes of a RIP-relative disp32, 0: none

	// Loads and Stores: whether the instruction reads or writes memory other
	// than by push, pop, call and ret; a string instruction, xlat, maskmov or an
	// absolute mov (opcodes a0 … a3) does so without HasMem, at an address that
	// is implied. Lock: a lock prefix, or xchg with memory. Accesses has all that
	// is accessed, with sizes, in order.
	Loads, Stores, Lock bool

	HasMem bool
	// The encoding, for the few callers that match shapes (jump tables, stack height).
	Map      byte // 0: one-byte opcodes, 1: 0f, 2: 0f38, 3: 0f3a
	Opcode   byte
	Rex      byte // 0: none; never set for VEX and EVEX
	Vex      byte // 0: legacy encoding, 1: VEX, 2: EVEX
	Rep      byte // 0xf2, 0xf3 or 0
	Opsize   bool // 66 prefix
	HasModRM bool
	ModRM    byte
	HasImm   bool
	Reg      Reg // ModRM.reg with its REX bit; None without ModRM. Of a byte register the one that holds it: rax for ah
	RM       Reg // register operand in ModRM.rm, likewise; None when that is memory. Both may number a vector register
}

// Len is the instruction's length in bytes.
func (in *Insn) Len() int { return len(in.Bytes) }

// End is the address behind the instruction.
func (in *Insn) End() uint64 { return in.Addr + uint64(len(in.Bytes)) }

// Ext is the opcode extension in ModRM.reg, 0 … 7.
func (in *Insn) Ext() byte { return in.ModRM >> 3 & 7 }

// Adds is the constant that add, sub, inc or dec of the one-byte opcodes adds to its
// operand, a register or memory, of whatever size; ok is false of all else.
func (in *Insn) Adds() (n int64, ok bool) {
	if in.Vex != 0 || in.Map != 0 {
		return 0, false
	}
	switch ext := in.Ext(); {
	case in.Opcode&^3 == 0x80 && ext == 0:
		return in.Imm, true
	case in.Opcode&^3 == 0x80 && ext == 5:
		return -in.Imm, true
	case in.Opcode&^1 == 0xfe && ext == 0:
		return 1, true
	case in.Opcode&^1 == 0xfe && ext == 1:
		return -1, true
	}
	return 0, false
}

// IsString reports whether it is a string instruction (movs, cmps, stos, lods, scas).
func (in *Insn) IsString() bool {
	return in.Vex == 0 && in.Map == 0 && (in.Opcode >= 0xa4 && in.Opcode <= 0xa7 || in.Opcode >= 0xaa && in.Opcode <= 0xaf)
}
