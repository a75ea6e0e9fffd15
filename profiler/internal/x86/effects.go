package x86

// conditionFlags are the flags that a condition code reads: o, b, e, be, s, p,
// l, le and their opposites.
var conditionFlags = [16]Flags{
	OF, OF, CF, CF, ZF, ZF, CF | ZF, CF | ZF,
	SF, SF, PF, PF, SF | OF, SF | OF, ZF | SF | OF, ZF | SF | OF,
}

// finish fills in what follows from the bytes: where control goes, what is
// read and written.
func (d *decoder) finish() decodeError {
	in, o := d.in, d.op
	in.Kind = o.kind
	in.FlagsRead, in.FlagsKilled = o.read, o.kill
	in.Use, in.Def = o.use, o.def
	in.Lock = d.lock
	if in.RIPOff != 0 {
		in.RIPTarget = in.End() + uint64(int64(in.Mem.Disp))
	}
	if in.RelOff != 0 {
		in.Target = in.End() + uint64(in.Imm)
	}
	d.byteRegisters()
	d.registers()
	d.memory()
	if o.fix != noFix {
		if e := d.special(); e != 0 {
			return e
		}
	}
	switch o.kind {
	case Call, CallInd:
		// The callee may read and write anything; no calling convention passes
		// anything in the flags.
		in.Use, in.Def, in.FlagsKilled = AllRegs, AllRegs, AllFlags
	case Ret:
		in.Use, in.Def = AllRegs, stack // the caller may read anything
	}
	return 0
}

// byteRegisters corrects ModRM's registers 4 … 7 where they are ah, ch, dh, bh:
// parts of the first four. REX makes them spl, bpl, sil, dil.
func (d *decoder) byteRegisters() {
	in, a := d.in, d.op.attr
	if in.Rex != 0 || a&(eb|gb) == 0 {
		return
	}
	if a&eb != 0 && in.RM >= 4 {
		in.RM -= 4
	}
	if a&gb != 0 && in.Reg >= 4 {
		in.Reg -= 4
	}
}

// registers adds the operands to Use and Def.
//
// A write to 8 or 16 bits keeps the rest of the register, so what is written
// that way is in Use too: a register in Def and not in Use is wholly new.
func (d *decoder) registers() {
	in, a := d.in, d.op.attr
	def := d.op.def
	rm, reg := in.RM.Set(), in.Reg.Set()
	if a&er != 0 {
		in.Use |= rm
	}
	if a&ew != 0 {
		def |= rm
		if a&eb != 0 {
			in.Use |= rm
		}
	}
	if a&gr != 0 {
		in.Use |= reg
	}
	if a&gw != 0 {
		def |= reg
		if a&gb != 0 {
			in.Use |= reg
		}
	}
	if a&(or|ow) != 0 {
		n := Reg(in.Opcode&7 | d.b)
		if a&ob != 0 && in.Rex == 0 {
			n &= 3
		}
		if a&or != 0 || a&ob != 0 {
			in.Use |= n.Set()
		}
		if a&ow != 0 {
			def |= n.Set()
		}
	}
	if a&vr != 0 {
		in.Use |= d.vvvv.Set()
	}
	if a&vw != 0 {
		def |= d.vvvv.Set()
	}
	if in.Opsize && !d.w {
		in.Use |= def
	}
	in.Def = def
}

// memory says whether memory is accessed, and which registers address it.
func (d *decoder) memory() {
	in, a := d.in, d.op.attr
	if in.HasMem {
		in.Use |= in.Mem.Base.Set() | in.Mem.Index.Set()
		if a&noAccess == 0 {
			in.Loads = a&(er|xr) != 0
			in.Stores = a&(ew|xw) != 0
		}
		return
	}
	in.Mem.Segment = 0
	if a&modrm == 0 || a&regOnly != 0 { // the address is implied
		in.Loads, in.Stores = a&xr != 0, a&xw != 0
	}
}

// special does what the op's data could not say.
func (d *decoder) special() decodeError {
	in := d.in
	switch d.op.fix {
	case fixCC:
		in.CC = in.Opcode & 15
		in.FlagsRead = conditionFlags[in.CC]
	case fixShift:
		in.FlagsKilled = d.shiftKills()
	case fixDouble:
		in.FlagsKilled = d.doubleKills()
	case fixString:
		if in.Rep != 0 {
			in.Use |= cx
			in.Def |= cx
			in.FlagsKilled = 0 // with a count of 0 nothing is done
		}
	case fixXchg:
		if r := Reg(in.Opcode&7 | d.b); r != RAX {
			in.Use |= ax | r.Set()
			in.Def |= ax | r.Set()
		}
	case fixLock:
		in.Lock = in.HasMem
	case fixInt:
		if byte(in.Imm) == 0x80 {
			return ErrSystem // the 32-bit system call: it does go on
		}
	case fixMovSeg:
		if in.Ext() > 5 {
			return ErrUnknown
		}
	case fixX87:
		return d.x87()
	case fixSystem:
		return d.system()
	}
	return 0
}

// width is the operand size of an instruction in general registers.
func (d *decoder) width() int64 {
	switch {
	case d.op.attr&eb != 0:
		return 8
	case d.w:
		return 64
	case d.in.Opsize:
		return 16
	}
	return 32
}

// shiftKills are the flags that a shift by an immediate surely sets. By zero it
// sets none; OF is defined for a count of one only; CF is not when all bits are
// shifted out of 8 or 16.
func (d *decoder) shiftKills() Flags {
	in, size := d.in, d.width()
	n := in.Imm & 31
	if size == 64 {
		n = in.Imm & 63
	}
	kill := d.op.kill
	switch {
	case n == 0:
		return 0
	case n == 1:
		kill |= OF
	case n >= size && in.Ext() >= 4:
		kill &^= CF
	}
	return kill
}

// doubleKills is the same of shld and shrd, which are undefined altogether
// beyond 16 bits of 16.
func (d *decoder) doubleKills() Flags {
	in, size := d.in, d.width()
	n := in.Imm & 31
	if size == 64 {
		n = in.Imm & 63
	}
	switch {
	case n == 0 || n > size:
		return 0
	case n == 1:
		return CF | szp | OF
	}
	return CF | szp
}

// system is 0f 01 with a register form: what is not listed is of kernels and
// hypervisors.
func (d *decoder) system() decodeError {
	in := d.in
	switch in.ModRM {
	case 0xd0: // xgetbv
		in.Use, in.Def = cx, ax|dx
	case 0xd6: // xtest
		in.FlagsKilled = AllFlags
	case 0xe8: // serialize
	case 0xee: // rdpkru
		in.Use, in.Def = cx, ax|dx
	case 0xef: // wrpkru
		in.Use = ax | cx | dx
	case 0xf9: // rdtscp
		in.Def = ax | cx | dx
	case 0xfc: // clzero
		in.Use, in.Stores = ax, true
	default:
		return ErrSystem
	}
	if d.addr32 || in.Rep != 0 || in.Opsize {
		return ErrPrefix // other instructions, on some processors
	}
	return 0
}
