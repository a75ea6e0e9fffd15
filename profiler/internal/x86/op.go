package x86

// An attr is a set of facts about an opcode: how its bytes go on, and what it
// does with its operands. The operands are named as in Intel's opcode maps: E
// is the register or memory in ModRM.rm, G the register in ModRM.reg, V the one
// in VEX.vvvv, O the one in the opcode's low three bits. W, Q of the maps (a
// vector register or memory) are written with x: only their memory is of
// interest.
type attr uint32

const (
	modrm attr = 1 << iota
	er         // E is a general register or memory, and read
	ew         // … written
	xr         // E's memory is read; its registers are not general ones
	xw         // … written
	gr         // G is a general register, and read
	gw
	or
	ow
	vr
	vw
	imm8
	imm16
	immz     // 4 bytes, 2 with a 66 prefix
	immv     // as immz, 8 with REX.W
	moffs    // an 8-byte address
	eb       // E is a byte: ah, ch, dh, bh without REX
	gb       // G is a byte
	ob       // O is a byte
	noAccess // the memory operand is not accessed: lea, nop, prefetch
	memOnly  // the register form does not exist, or is not known
	regOnly
	lockOK // may have a lock prefix
	no66   // refused with a 66 prefix, unless REX.W overrides it: processors differ
	no67   // refused with a 67 prefix: an implicit address, or a count in ecx
	vsib   // the index is a vector register
	refuse // known, and not to be moved

	hasImm      = imm8 | imm16 | immz | immv | moffs
	rel8, rel32 = imm8 | 1<<31, immz | 1<<31
	branchRel   = attr(1 << 31)
)

// An op is what is known of an opcode.
type op struct {
	attr       attr
	kind       Kind
	group      group
	fix        fix
	read, kill Flags
	use, def   Regs
}

// A fix is what an op cannot say of its opcode as data; effects.go has the code.
type fix uint8

const (
	noFix     fix = iota
	fixCC         // reads the flags of the condition in the opcode's low bits
	fixShift      // shift by an immediate: by zero it changes no flags
	fixDouble     // shld, shrd by an immediate
	fixString     // a string instruction: with rep possibly not executed at all
	fixXchg       // xchg with rax, or nop
	fixX87
	fixSystem // 0f 01 with a register form
	fixLock   // xchg with memory
	fixInt    // int 0x80 is a system call
	fixMovSeg // there are six segment registers
)

// A pp says which mandatory prefixes an opcode of the SSE, VEX and EVEX maps
// takes: none, 66, f3, f2, in this order, which is that of VEX.pp.
type pp uint8

const (
	pNone pp = 1 << iota
	p66
	pF3
	pF2
	pAny = pNone | p66 | pF3 | pF2
	pX   = pNone | p66 // packed
)

// A rule gives a meaning to a range of opcodes in a map; later rules override.
type rule struct {
	from, to byte
	pp       pp
	op       op
}
