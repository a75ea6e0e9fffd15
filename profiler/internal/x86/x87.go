package x86

// What the memory forms of the x87 opcodes d8 … df do, a bit per ModRM.reg.
var (
	x87Loads  = [8]byte{0xff, 0x31, 0xff, 0x21, 0xff, 0x11, 0xff, 0x31}
	x87Stores = [8]byte{0, 0xcc, 0, 0x8e, 0, 0xce, 0, 0xce}
)

// x87Known has a bit for each register form, ModRM c0 … ff.
var x87Known = [8]uint64{
	0xffffffffffffffff, // d8: arithmetic with st(i)
	0xffff7f330001ffff, // d9: fld, fxch, fnop, constants, functions
	0x00000200ffffffff, // da: fcmov, fucompp
	0x00ffff0cffffffff, // db: fcmov, fnclex, fninit, fucomi, fcomi
	0xffffffff0000ffff, // dc: arithmetic to st(i)
	0x0000ffffffff00ff, // dd: ffree, fst, fstp, fucom, fucomp
	0xffffffff0200ffff, // de: arithmetic with pop, fcompp
	0x00ffff01000000ff, // df: ffreep, fnstsw, fucomip, fcomip
}

// x87 fills in the effects of an x87 instruction. They touch a general
// register in one case only, and flags in the compares and moves made for them.
func (d *decoder) x87() decodeError {
	in := d.in
	i := in.Opcode & 7
	if in.HasMem {
		bit := byte(1) << in.Ext()
		in.Loads, in.Stores = x87Loads[i]&bit != 0, x87Stores[i]&bit != 0
		if !in.Loads && !in.Stores {
			return ErrUnknown
		}
		return 0
	}
	if x87Known[i]>>(in.ModRM&63)&1 == 0 {
		return ErrUnknown
	}
	switch {
	case in.Opcode == 0xdf && in.ModRM == 0xe0: // fnstsw %ax: 16 bits
		in.Use, in.Def = ax, ax
	case (in.Opcode == 0xdb || in.Opcode == 0xdf) && in.ModRM >= 0xe8: // f(u)comi(p)
		in.FlagsKilled = CF | PF | ZF
	case (in.Opcode == 0xda || in.Opcode == 0xdb) && in.ModRM < 0xe0: // fcmov
		in.FlagsRead = [4]Flags{CF, ZF, CF | ZF, PF}[in.Ext()&3]
	}
	return 0
}
