package dwarfmap

import (
	"debug/dwarf"
	"errors"
)

// rangeLists are those of a split unit, whose skeleton alone knows where the code of both
// begins, by which offsets count.
type rangeLists struct {
	b     []byte // behind the header
	addrs []byte // from the skeleton's first one on
	base  uint64 // DW_AT_low_pc of the skeleton
	order byteOrder
}

// rangesOf is the code of a function or inlined call.
func (t *tables) rangesOf(e *dwarf.Entry) ([][2]uint64, error) {
	if at, ok := e.Val(dwarf.AttrRanges).(uint64); ok && t.lists != nil {
		return t.lists.at(at)
	}
	return t.data.Ranges(e)
}

// at reads the list at an offset (DWARF 5, 2.17.3 and 7.25).
func (l *rangeLists) at(offset uint64) (list [][2]uint64, err error) {
	const (
		end = iota
		baseAddressx
		startxEndx
		startxLength
		offsetPair
		baseAddress
		startEnd
		startLength
	)
	c := &cursor{b: l.b, order: l.order}
	c.skip(offset)
	base := l.base
	for !c.bad {
		kind := c.uint(1)
		var lo, hi uint64
		switch kind {
		case end:
			return list, nil
		case baseAddressx:
			base = l.addr(c)
			continue
		case baseAddress:
			base = c.address()
			continue
		case startxEndx, startxLength:
			if lo = l.addr(c); kind == startxEndx {
				hi = l.addr(c)
			} else {
				hi = lo + c.uleb()
			}
		case offsetPair:
			lo, hi = base+c.uleb(), base+c.uleb()
		case startEnd:
			lo, hi = c.address(), c.address()
		case startLength:
			lo = c.address()
			hi = lo + c.uleb()
		default:
			return nil, errors.New("a list of ranges has an entry of no known kind")
		}
		list = append(list, [2]uint64{lo, hi})
	}
	return nil, errors.New("a list of ranges has no end")
}

// addr is the address whose number comes.
func (l *rangeLists) addr(c *cursor) uint64 {
	at := cursor{b: l.addrs, order: l.order}
	if n := c.uleb(); n < uint64(len(l.addrs)) {
		at.skip(8 * n)
		return at.address()
	}
	c.bad = true
	return 0
}

// address is one of 8 bytes.
func (c *cursor) address() uint64 {
	if len(c.b) < 8 {
		c.b, c.bad = nil, true
		return 0
	}
	a := c.order.Uint64(c.b)
	c.b = c.b[8:]
	return a
}
