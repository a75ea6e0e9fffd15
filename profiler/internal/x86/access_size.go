package x86

// The size of an operand in memory. EVEX's tuple types are it already: a
// displacement counts in accesses. They hold for the VEX and SSE forms of the
// same opcodes, too; what is not as theirs follows in sizeRules.
const (
	movsxd    tuple = duplicate + 1 + iota // 4 bytes
	stackSlot                              // 8 bytes, 2 with a 66 prefix
	kRegister                              // kmov: the prefix and W say which
	member                                 // ModRM.reg says which: see memberSize
	notKnown                               // or not in one piece
)

// sizeRules has what is not of the size that EVEX's map of the same name says,
// by map; later rules override. In all of them fullVector, which needs no rule,
// means the operand size where a register in its place is a general one.
var sizeRules = [mapEvex1][]tupleRule{
	mapOne: {
		{0x63, 0x63, pAny, movsxd},
		{0x8c, 0x8c, pAny, bytes2},    // mov from a segment register
		{0x8f, 0x8f, pAny, stackSlot}, // pop
		{0xd8, 0xdf, pAny, member}, {0xff, 0xff, pAny, member},
	},
	map0F: {
		{0x00, 0x00, pAny, bytes2}, {0x02, 0x03, pAny, bytes2}, // verr, verw; lar, lsl
		{0x2a, 0x2a, pX, bytes8}, {0x2c, 0x2d, pNone, bytes8}, // conversions of and to MMX
		{0x52, 0x53, pF3, bytes4}, {0xe6, 0xe6, pF3, halfVector},
		// MMX: the low halves of punpckl are all that it reads.
		{0x60, 0x62, pNone, bytes4}, {0x63, 0x6b, pNone, bytes8}, {0x6e, 0x6e, pNone, byW}, {0x6f, 0x70, pNone, bytes8}, {0x74, 0x76, pNone, bytes8},
		{0x7e, 0x7e, pNone, byW}, {0x7f, 0x7f, pNone, bytes8}, {0xc4, 0xc4, pNone, bytes2}, {0xd1, 0xfe, pNone, bytes8},
		// bt, bts, btr, btc: the register says how far from the operand the bit is.
		{0xa3, 0xa3, pAny, notKnown}, {0xab, 0xab, pAny, notKnown}, {0xb3, 0xb3, pAny, notKnown}, {0xbb, 0xbb, pAny, notKnown},
		{0xae, 0xae, pNone, member}, {0xae, 0xae, pF3, byW}, // ptwrite
		{0xb7, 0xb7, pAny, bytes2}, {0xbf, 0xbf, pAny, bytes2}, {0xc7, 0xc7, pAny, member},
	},
	map0F38: {
		{0x00, 0x0b, pNone, bytes8}, {0x1c, 0x1e, pNone, bytes8}, // MMX
		{0xf6, 0xf6, p66 | pF3, byW}, {0xf8, 0xf8, p66, bytes64},
	},
	map0F3A: {{0x0f, 0x0f, pNone, bytes8}},
	mapVex1: {
		{0x52, 0x53, pF3, bytes4}, {0xe6, 0xe6, pF3, halfVector},
		{0x90, 0x91, pX, kRegister}, {0xae, 0xae, pNone, bytes4},
	},
	mapVex2: {
		{0x2c, 0x2f, p66, notKnown}, {0x8c, 0x8c, p66, notKnown}, {0x8e, 0x8e, p66, notKnown}, // vmaskmov, vpmaskmov
		{0xb1, 0xb1, p66 | pF3, bytes2},
	},
	mapVex3: { // scalars of FMA4
		{0x6a, 0x6a, p66, bytes4}, {0x6b, 0x6b, p66, bytes8}, {0x6e, 0x6e, p66, bytes4}, {0x6f, 0x6f, p66, bytes8},
		{0x7a, 0x7a, p66, bytes4}, {0x7b, 0x7b, p66, bytes8}, {0x7e, 0x7e, p66, bytes4}, {0x7f, 0x7f, p66, bytes8},
	},
}

// sizes is sizeRules by map, prefix and opcode.
var sizes [mapEvex1][4][256]tuple

func init() {
	for m, rules := range sizeRules {
		if m != mapOne {
			fill(&sizes[m], tupleRules[(m-map0F)%3])
		}
		fill(&sizes[m], rules)
	}
}

// x87Sizes are of the memory forms of d8 … df, by ModRM.reg; 0: there is none,
// 28 and 108: 14 less with a 66 prefix.
var x87Sizes = [8][8]uint8{
	{4, 4, 4, 4, 4, 4, 4, 4},
	{4, 0, 4, 4, 28, 2, 28, 2}, // fld, fst, fstp, fldenv, fldcw, fnstenv, fnstcw
	{4, 4, 4, 4, 4, 4, 4, 4},
	{4, 4, 4, 4, 0, 10, 0, 10}, // fild, fisttp, fist, fistp, fld, fstp
	{8, 8, 8, 8, 8, 8, 8, 8},
	{8, 8, 8, 8, 108, 0, 108, 2}, // fld, fisttp, fst, fstp, frstor, fnsave, fnstsw
	{2, 2, 2, 2, 2, 2, 2, 2},
	{2, 2, 2, 2, 10, 8, 10, 8}, // fild, fisttp, fist, fistp, fbld, fild, fbstp, fistp
}

// A form is what an instruction's prefixes say of its operands, beyond what an
// Insn holds.
type form struct {
	opmap     int  // of index
	pp        byte // as decoder.pp
	w         bool
	broadcast bool
	masked    bool
	vector    int32 // its length in bytes; 0: there is none such
}

// form reads the prefixes again: Decode, which is called for every byte of some
// programs, does without keeping this.
func (in *Insn) form() form {
	f := form{opmap: int(in.Map), vector: 16, w: in.Rex&8 != 0}
	if in.Vex == 0 {
		switch {
		case in.Rep == 0xf3:
			f.pp = 2
		case in.Rep == 0xf2:
			f.pp = 3
		case in.Opsize:
			f.pp = 1
		}
		return f
	}
	b := in.Bytes
	for legacyPrefix[b[0]] {
		b = b[1:]
	}
	last := b[1] // the byte with W, and L of VEX, and the prefix
	if b[0] != 0xc5 {
		last = b[2]
		f.w = last&0x80 != 0
	}
	f.pp = last & 3
	if in.Vex == 1 {
		f.opmap += mapVex1 - 1
		f.vector <<= last >> 2 & 1
		return f
	}
	if f.opmap += mapEvex1 - 1; in.Map >= 5 {
		f.opmap += mapEvex5 - mapEvex1 - 4
	}
	f.broadcast, f.masked = b[3]&0x10 != 0, b[3]&7 != 0
	f.vector <<= b[3] >> 5 & 3
	if f.vector > 64 {
		f.vector = 0
	}
	return f
}

// size is how many bytes the operand has in memory that the instruction
// accesses at all; 0 if that is not known.
func (a *accesses) size() int {
	in := a.in
	if a.masked || in.Mem.Vector {
		return 0
	}
	if a.opmap >= mapEvex1 {
		if a.opmap == mapEvex2 && a.pp == 1 && (in.Opcode == 0x62 || in.Opcode == 0x63 || in.Opcode >= 0x88 && in.Opcode <= 0x8b) {
			return 0 // compresses, expands
		}
		return int(tuples[a.opmap-mapEvex1][a.pp][in.Opcode].unit(a.vector, a.w, a.broadcast))
	}
	switch t := sizes[a.opmap][a.pp][in.Opcode]; t {
	case fullVector:
		if a.op().attr&(er|ew) != 0 {
			return a.general()
		}
		return int(a.vector)
	case movsxd:
		if in.Opsize && !a.w {
			return 0 // Intel's manual says 2 bytes, AMD's processors load 4
		}
		return 4
	case stackSlot:
		return a.slot()
	case kRegister: // kmovw, kmovb; kmovq, kmovd
		size := 2 >> a.pp
		if a.w {
			size *= 4
		}
		return size
	case member:
		return a.memberSize()
	case notKnown:
		return 0
	default:
		return int(t.unit(a.vector, a.w, false))
	}
}

// op is what Decode knew of the opcode; the operand is memory.
func (a *accesses) op() *op {
	o := &ops[index[a.opmap][a.pp][a.in.Opcode]]
	if o.group != noGroup {
		return &groups[o.group][a.in.Ext()]
	}
	return o
}

// general is the operand size of an instruction in general registers.
func (a *accesses) general() int {
	switch {
	case a.op().attr&eb != 0:
		return 1
	case a.w:
		return 8
	case a.in.Opsize:
		return 2
	}
	return 4
}

// memberSize has the opcodes whose size differs by ModRM.reg.
func (a *accesses) memberSize() int {
	in, k := a.in, a.in.Ext()
	switch {
	case in.Map == 0 && in.Opcode == 0xff:
		if k < 2 { // inc, dec; then call, jmp, push
			return a.general()
		}
		return a.slot()
	case in.Map == 0:
		size := int(x87Sizes[in.Opcode&7][k])
		if size > 10 && in.Opsize && !a.w {
			size -= 14
		}
		return size
	case in.Opcode == 0xae: // fxsave, fxrstor, ldmxcsr, stmxcsr; xsave and the like
		return [8]int{512, 512, 4, 4}[k]
	case k == 1 && a.w: // cmpxchg16b
		return 16
	case k == 1:
		return 8
	}
	return 0 // xsavec
}
