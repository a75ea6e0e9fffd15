package image

import "fmt"

const maxCallSites = 1 << 20

// readLSDA reads the call-site table of a language-specific data area, as the
// personalities of C, C++, Ada, Fortran, Go's gcc front end, Rust and D share
// it, and returns where exceptions land in the function at start. With an error
// it returns what stands before the fault.
//
//	@LPStart enc [, ptr] | @TType enc [, offset] | call-site enc, length | records
//
// data begins at the LSDA and may go on behind it.
func readLSDA(data []byte, addr, start uint64, b bases) ([]Landing, error) {
	b.fun = start
	c := cursor{data: data, addr: addr}
	lpStart := start
	if enc := c.u8(); enc != encOmit {
		lpStart = c.pointer(enc, b)
	}
	if enc := c.u8(); enc != encOmit {
		c.uleb() // offset of the type table
	}
	enc := c.u8()
	n := c.uleb()
	t := c.sub(n)
	if c.err != nil {
		return nil, fmt.Errorf("LSDA at %#x %w", addr, c.err)
	}
	var list []Landing
	// Records without a landing pad cost time and give nothing; a table of
	// millions of them is no table.
	for n := 0; t.left() > 0; n++ {
		if n == maxCallSites {
			return list, fmt.Errorf("LSDA at %#x has more than %d call sites", addr, maxCallSites)
		}
		lo := start + t.number(enc) // where the call begins
		size := t.number(enc)
		pad := t.number(enc)
		t.uleb() // what to do there
		if t.err != nil {
			return list, fmt.Errorf("LSDA at %#x %w", addr, t.err)
		}
		if pad != 0 {
			list = append(list, Landing{lo, lo + size, lpStart + pad})
		}
	}
	return list, nil
}
