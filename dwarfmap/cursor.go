package dwarfmap

import "encoding/binary"

type byteOrder = binary.ByteOrder

// cursor reads bytes; past the end everything is 0 and bad is set.
type cursor struct {
	b     []byte
	order byteOrder
	bad   bool
}

func (c *cursor) skip(n uint64) {
	if n > uint64(len(c.b)) {
		c.b, c.bad = nil, true
		return
	}
	c.b = c.b[n:]
}

// uint reads n bytes, of which up to 4 are a number; more only pass by.
func (c *cursor) uint(n int) uint64 {
	if n > len(c.b) {
		c.b, c.bad = nil, true
		return 0
	}
	b := c.b[:n]
	c.b = c.b[n:]
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(c.order.Uint16(b))
	case 4:
		return uint64(c.order.Uint32(b))
	}
	return 0
}

func (c *cursor) offset(wide bool) {
	if wide {
		c.skip(8)
	} else {
		c.skip(4)
	}
}

func (c *cursor) uleb() uint64 {
	n, k := binary.Uvarint(c.b)
	if k <= 0 {
		c.b, c.bad = nil, true
		return 0
	}
	c.b = c.b[k:]
	return n
}

// form passes by one value of a form that file tables use.
func (c *cursor) form(form uint64, wide bool) {
	switch form {
	case 0x08: // string
		for i, b := range c.b {
			if b == 0 {
				c.b = c.b[i+1:]
				return
			}
		}
		c.b, c.bad = nil, true
	case 0x0e, 0x1f, 0x17: // strp, line_strp, sec_offset
		c.offset(wide)
	case 0x0b, 0x25, 0x0c: // data1, strx1, flag
		c.skip(1)
	case 0x05, 0x26: // data2, strx2
		c.skip(2)
	case 0x27: // strx3
		c.skip(3)
	case 0x06, 0x28: // data4, strx4
		c.skip(4)
	case 0x07: // data8
		c.skip(8)
	case 0x1e: // data16
		c.skip(16)
	case 0x0f, 0x0d, 0x1a: // udata, sdata, strx
		c.uleb()
	case 0x09: // block
		c.skip(c.uleb())
	case 0x0a: // block1
		c.skip(c.uint(1))
	case 0x03: // block2
		c.skip(c.uint(2))
	case 0x04: // block4
		c.skip(c.uint(4))
	default:
		c.bad = true
	}
}
