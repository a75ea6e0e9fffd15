package image

import "fmt"

// cie is what a common information entry says about its FDEs.
type cie struct {
	fde, lsda byte // pointer encodings; lsda is encOmit without one
	augmented bool // FDEs have an augmentation length
}

// readEHFrame reads an .eh_frame section at addr: all its FDEs, in the order
// of the file. With an error it returns those before the fault.
//
// The section is a sequence of records; a length of zero ends one input file's
// part, and linkers may leave several of them in the middle, so it ends nothing
// here. A CIE is named by the distance back to it and may be used by FDEs
// anywhere behind it.
func readEHFrame(data []byte, addr uint64, b bases) ([]FDE, error) {
	var fdes []FDE
	cies := map[int]cie{}
	c := cursor{data: data, addr: addr}
	for c.left() > 0 {
		if c.left() < 4 {
			break // padding
		}
		at := c.pos
		n := uint64(c.u32())
		if n == 0 {
			continue
		}
		wide := n == 0xffffffff
		if wide {
			n = c.u64()
		}
		body := c.take(n)
		if c.err != nil {
			return fdes, fmt.Errorf("record at %#x %w", addr+uint64(at), c.err)
		}
		start := c.pos - len(body)
		// The record alone, so that nothing in it reads into the next.
		r := cursor{data: body, addr: addr + uint64(start)}
		id := uint64(r.u32())
		if wide {
			r.pos, r.err = 0, nil
			id = r.u64()
		}
		if r.err == nil && id == 0 {
			cies[at] = r.cie(b)
		} else if r.err == nil {
			from, ok := cies[start-int(id)]
			if id > uint64(start) || !ok {
				return fdes, fmt.Errorf("record at %#x names a CIE that is not there", addr+uint64(at))
			}
			if f, ok := r.fde(from, b); ok && r.err == nil {
				fdes = append(fdes, f)
			}
		}
		if r.err != nil {
			return fdes, fmt.Errorf("record at %#x %w", addr+uint64(at), r.err)
		}
	}
	return fdes, nil
}

// cie reads the rest of a CIE, behind its id.
func (c *cursor) cie(b bases) cie {
	out := cie{fde: encAbsptr, lsda: encOmit}
	version := c.u8()
	if c.err == nil && version != 1 && version != 3 && version != 4 {
		c.err = fmt.Errorf("has version %d", version)
		return out
	}
	aug := c.cstring()
	if version == 4 {
		c.take(2) // sizes of addresses and segment selectors
	}
	if aug == "eh" { // gcc 2: a pointer follows
		c.take(8)
	}
	c.uleb() // code alignment
	c.sleb() // data alignment
	if version == 1 {
		c.u8() // return address column
	} else {
		c.uleb()
	}
	if aug == "" || aug[0] != 'z' {
		if aug != "" && aug != "eh" && c.err == nil {
			c.err = fmt.Errorf("has augmentation %q", aug)
		}
		return out
	}
	out.augmented = true
	n := c.uleb()
	d := c.sub(n)
	if c.err != nil {
		return out
	}
	for _, ch := range []byte(aug[1:]) {
		switch ch {
		case 'R':
			out.fde = d.u8()
		case 'L':
			out.lsda = d.u8()
		case 'P':
			// The personality routine: of no use here, but to be skipped. It is
			// read as a number, since what it points to need not be in the file.
			if enc := d.u8(); enc != encOmit {
				if enc&0x70 == encAligned {
					d.pointer(enc, b)
				} else {
					d.number(enc)
				}
			}
		case 'S', 'B', 'G': // signal frame, ARM keys: no data
		default:
			// Later letters cannot be found behind one whose size is unknown,
			// but R decides how every FDE is read.
			c.err = fmt.Errorf("has augmentation %q", aug)
			return out
		}
	}
	c.err = d.err
	return out
}

// fde reads the rest of an FDE, behind its CIE pointer. An FDE whose start is
// the null pointer belonged to a function that the linker threw away.
func (c *cursor) fde(from cie, b bases) (FDE, bool) {
	start := c.pointer(from.fde, b)
	f := FDE{Start: start, Size: c.number(from.fde)}
	if from.augmented {
		n := c.uleb()
		d := c.sub(n)
		if c.err != nil {
			return f, false
		}
		if from.lsda != encOmit && n > 0 {
			b.fun = start
			f.LSDA = d.pointer(from.lsda, b)
			c.err = d.err
		}
	}
	f.Midway = c.midway()
	return f, start != 0 && f.Size > 0 && f.Start+f.Size > f.Start
}

// midway reads the instructions of an FDE that hold from its first byte on. At
// the beginning of a function nothing has been pushed, as the CIE says; a part
// that the compiler moved away begins by saying what has.
func (c cursor) midway() bool {
	for c.err == nil && c.left() > 0 {
		switch op := c.u8(); {
		case op == 0: // nop
		case op == 0x0a: // remember_state
		case op == 0x2e: // GNU_args_size
			c.uleb()
		case op >= 0x80 && op < 0xc0, op == 0x05, // offset, offset_extended
			op >= 0x0c && op <= 0x10, // def_cfa …, expression
			op >= 0x11 && op <= 0x13: // the same with signed operands
			return true
		default:
			return false
		}
	}
	return false
}
