package image

// Pointers in unwinding tables are encoded (Linux Standard Base, "DWARF
// Exception Header Encoding"): the low four bits of the encoding say how the
// number is written, the next three what it is relative to, the top bit that
// the result is the address of the pointer.
const (
	encAbsptr  = 0x00
	encUleb    = 0x01
	encUdata2  = 0x02
	encUdata4  = 0x03
	encUdata8  = 0x04
	encSleb    = 0x09
	encSdata2  = 0x0a
	encSdata4  = 0x0b
	encSdata8  = 0x0c
	encPcrel   = 0x10
	encTextrel = 0x20
	encDatarel = 0x30
	encFuncrel = 0x40
	encAligned = 0x50

	encIndirect = 0x80
	encOmit     = 0xff
)

// bases are what encoded pointers are relative to.
type bases struct {
	text, data, fun uint64
	word            func(addr uint64) (uint64, bool) // for indirect pointers
}

// pointer reads one pointer of the given encoding. A number of zero is the
// null pointer, whatever it would be relative to; funcrel ones excepted, where
// zero is the function's start. Callers handle encOmit.
func (c *cursor) pointer(enc byte, b bases) uint64 {
	if enc&0x70 == encAligned {
		if over := (c.addr + uint64(c.pos)) & 7; over != 0 {
			c.take(8 - over)
		}
		return c.u64()
	}
	at := c.addr + uint64(c.pos)
	v := c.number(enc)
	if c.err != nil {
		return 0
	}
	if v == 0 && enc&0x70 != encFuncrel {
		return 0
	}
	switch enc & 0x70 {
	case 0:
	case encPcrel:
		v += at
	case encTextrel:
		v += b.text
	case encDatarel:
		v += b.data
	case encFuncrel:
		v += b.fun
	default:
		c.err = errEncoding
		return 0
	}
	if enc&encIndirect != 0 {
		if b.word == nil {
			c.err = errIndirect
			return 0
		}
		w, ok := b.word(v)
		if !ok {
			c.err = errIndirect
			return 0
		}
		v = w
	}
	return v
}

// number reads the number behind an encoded pointer: also how lengths are
// written, which are relative to nothing.
func (c *cursor) number(enc byte) uint64 {
	switch enc & 0x0f {
	case encAbsptr, encUdata8, encSdata8:
		return c.u64()
	case encUleb:
		return c.uleb()
	case encSleb:
		return uint64(c.sleb())
	case encUdata2:
		return uint64(c.u16())
	case encSdata2:
		return uint64(int64(int16(c.u16())))
	case encUdata4:
		return uint64(c.u32())
	case encSdata4:
		return uint64(int64(int32(c.u32())))
	}
	if c.err == nil {
		c.err = errEncoding
	}
	return 0
}
