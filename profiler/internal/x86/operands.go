package x86

import "encoding/binary"

// operands reads what ModRM says: a register, or a memory operand with its SIB
// byte and displacement.
func (d *decoder) operands() decodeError {
	in := d.in
	m := in.ModRM
	in.Reg = Reg(m>>3&7 | d.r)
	if m >= 0xc0 {
		in.RM = Reg(m&7 | d.b)
		return 0
	}
	in.HasMem = true
	mem := &in.Mem
	size := 0
	switch m >> 6 {
	case 1:
		size = 1
	case 2:
		size = 4
	}
	switch {
	case m&7 == 4:
		if d.p >= len(d.code) {
			return ErrTruncated
		}
		s := d.code[d.p]
		d.p++
		// Index 4 is none, but with REX.X it is r12. A vector index has no such hole.
		if i := s>>3&7 | d.x; d.op.attr&vsib != 0 {
			mem.Vector = true
		} else if i != 4 {
			mem.Index = Reg(i)
			mem.Scale = 1 << (s >> 6)
		}
		if s&7 == 5 && m>>6 == 0 {
			size = 4 // no base
		} else {
			mem.Base = Reg(s&7 | d.b)
		}
	case d.op.attr&vsib != 0:
		return ErrUnknown // a vector index needs a SIB byte
	case m&7 == 5 && m>>6 == 0:
		if d.addr32 {
			return ErrPrefix // eip-relative
		}
		mem.RIP, in.RIPOff, size = true, uint8(d.p), 4
	default:
		mem.Base = Reg(m&7 | d.b)
	}
	mem.Addr32 = d.addr32
	return d.displacement(size)
}

// displacement reads a memory operand's displacement of 0, 1 or 4 bytes; EVEX
// scales the short one by what the instruction accesses.
func (d *decoder) displacement(size int) decodeError {
	in, mem := d.in, &d.in.Mem
	if d.p+size > len(d.code) {
		return ErrTruncated
	}
	switch size {
	case 1:
		mem.Disp = int32(int8(d.code[d.p]))
		if in.Vex == 2 {
			if d.p2&0x60 == 0x60 {
				return ErrUnknown // no such vector length
			}
			t := tuples[d.opmap-mapEvex1][d.pp][in.Opcode]
			mem.Disp *= t.unit(16<<(d.p2>>5&3), d.w, d.p2&0x10 != 0)
		}
	case 4:
		mem.Disp = int32(binary.LittleEndian.Uint32(d.code[d.p:]))
	}
	d.p += size
	return 0
}

// immediate reads the immediate, a branch's displacement included.
func (d *decoder) immediate() decodeError {
	in, a := d.in, d.op.attr
	n := 0
	switch {
	case a&imm16 != 0:
		n = 2
		if a&imm8 != 0 {
			n = 3 // enter: the level is of no interest
		}
	case a&imm8 != 0:
		n = 1
	case a&moffs != 0, a&immv != 0 && d.w:
		n = 8
	case in.Opsize && !d.w:
		n = 2
	default:
		n = 4
	}
	if d.p+n > len(d.code) {
		return ErrTruncated
	}
	b := d.code[d.p:]
	switch n {
	case 1:
		in.Imm = int64(int8(b[0]))
	case 2, 3:
		in.Imm = int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		in.Imm = int64(int32(binary.LittleEndian.Uint32(b)))
	case 8:
		in.Imm = int64(binary.LittleEndian.Uint64(b))
	}
	in.HasImm = true
	if a&branchRel != 0 {
		in.RelOff = uint8(d.p)
	}
	d.p += n
	return 0
}
