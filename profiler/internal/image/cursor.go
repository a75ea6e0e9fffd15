package image

import (
	"encoding/binary"
	"errors"
)

// A cursor reads little-endian data with a known address. Its error sticks:
// after the first, every read gives zero and moves nothing, so that a reader
// of a record checks once, at the record's end.
type cursor struct {
	data []byte
	pos  int
	addr uint64 // of data[0]
	err  error
}

var (
	errShort    = errors.New("runs past its end")
	errLEB      = errors.New("has a number of more than 64 bits")
	errEncoding = errors.New("has an unknown pointer encoding")
	errIndirect = errors.New("has an indirect pointer to nowhere")
)

func (c *cursor) left() int { return len(c.data) - c.pos }

// take returns the next n bytes, or nil with the error set.
func (c *cursor) take(n uint64) []byte {
	if c.err != nil {
		return nil
	}
	if n > uint64(c.left()) {
		c.err = errShort
		return nil
	}
	b := c.data[c.pos : c.pos+int(n)]
	c.pos += int(n)
	return b
}

// sub is a cursor over the next n bytes, which c skips.
func (c *cursor) sub(n uint64) cursor {
	addr := c.addr + uint64(c.pos)
	return cursor{data: c.take(n), addr: addr}
}

func (c *cursor) u8() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// uleb reads an unsigned LEB128 number. Padding zeros beyond 64 bits are
// legal, linkers write them; set bits there are not.
func (c *cursor) uleb() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if c.err != nil {
			return 0
		}
		if part := uint64(b & 0x7f); part != 0 {
			if shift > 63 || part<<shift>>shift != part {
				c.err = errLEB
				return 0
			}
			v |= part << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

// sleb reads a signed LEB128 number.
func (c *cursor) sleb() int64 {
	var v int64
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if c.err != nil {
			return 0
		}
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		if b < 0x80 {
			if shift < 57 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

// cstring reads bytes up to a zero byte and skips it.
func (c *cursor) cstring() string {
	if c.err != nil {
		return ""
	}
	for i := c.pos; i < len(c.data); i++ {
		if c.data[i] == 0 {
			s := string(c.data[c.pos:i])
			c.pos = i + 1
			return s
		}
	}
	c.err = errShort
	return ""
}
