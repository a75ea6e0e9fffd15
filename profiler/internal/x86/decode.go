package x86

// A decodeError says why Decode refuses. There are few and none carries data,
// so that refusing costs nothing: scanning for code meets many.
type decodeError uint8

// What Decode returns. The zero value is success.
const (
	ErrTruncated decodeError = iota + 1
	ErrTooLong
	ErrUnknown
	ErrPrefix
	ErrSystem
)

func (e decodeError) Error() string {
	return [...]string{
		"no error",
		"the bytes end within an instruction",
		"an instruction of more than 15 bytes",
		"no instruction that is known",
		"prefixes that mean different things to different processors, or nothing",
		"an instruction that is not moved: privileged, of segments, or of a transaction",
	}[e]
}

// A decoder is Decode's state: the cursor, and what the prefixes said.
type decoder struct {
	in     *Insn
	code   []byte // at most 15 bytes
	p      int    // bytes read
	op     *op
	pp     byte // mandatory prefix: 0 none, 1 66, 2 f3, 3 f2
	lock   bool
	addr32 bool
	other  bool // a segment prefix that 64-bit mode ignores
	w      bool // REX.W, VEX.W
	r      byte // the bits that extend ModRM.reg, index and base, as 0 or 8
	x, b   byte
	highR  bool // EVEX.R': a vector register from 16 on
	p2     byte // EVEX's third byte: vector length, broadcast
	vvvv   Reg
	opmap  int // of index
}

// Decode decodes the instruction at the beginning of code, which lies at addr.
// It refuses with an error what it is not sure of. Bytes of the result points
// into code.
func Decode(code []byte, addr uint64) (in Insn, err error) {
	err = DecodeTo(&in, code, addr)
	return in, err
}

// DecodeTo is Decode into memory that is there already; with an error it holds
// nothing.
func DecodeTo(in *Insn, code []byte, addr uint64) error {
	// Assigned one by one: a literal would be made elsewhere and copied, which
	// takes as long as the decoding.
	*in = Insn{}
	var d decoder
	d.in, d.code, d.vvvv = in, code[:min(len(code), 15)], None
	in.Addr = addr
	in.Reg, in.RM, in.Mem.Base, in.Mem.Index = None, None, None, None
	e := d.decode()
	if e == 0 {
		in.Bytes = code[:d.p:d.p]
		if e = d.finish(); e == 0 {
			return nil
		}
	}
	if e == ErrTruncated && len(code) >= 15 {
		e = ErrTooLong
	}
	*in = Insn{}
	return e
}

// decode reads all bytes of the instruction.
func (d *decoder) decode() decodeError {
	if e := d.prefixes(); e != 0 {
		return e
	}
	if e := d.opcode(); e != 0 {
		return e
	}
	in := d.in
	i := index[d.opmap][d.pp][in.Opcode]
	if i == 0 {
		return ErrUnknown
	}
	d.op = &ops[i]
	if d.op.attr&modrm != 0 {
		if d.p >= len(d.code) {
			return ErrTruncated
		}
		in.ModRM, in.HasModRM = d.code[d.p], true
		d.p++
		if g := d.op.group; g != noGroup {
			member := in.Ext()
			if in.ModRM >= 0xc0 {
				member += 8
			}
			d.op = &groups[g][member]
			if d.op.attr&modrm == 0 {
				return ErrUnknown
			}
		}
		if e := d.operands(); e != 0 {
			return e
		}
	}
	if d.op.attr&(refuse|memOnly|regOnly|no66|no67) != 0 || d.lock || d.highR {
		if e := d.check(); e != 0 {
			return e
		}
	}
	if d.op.attr&hasImm == 0 {
		return 0
	}
	return d.immediate()
}

// legacyPrefix marks the prefix bytes, so that the usual instruction, which has
// none, asks once.
var legacyPrefix = [256]bool{
	0x26: true, 0x2e: true, 0x36: true, 0x3e: true, 0x64: true, 0x65: true, 0x66: true, 0x67: true, 0xf0: true, 0xf2: true, 0xf3: true,
}

// prefixes reads the legacy prefixes and REX.
func (d *decoder) prefixes() decodeError {
	for ; d.p < len(d.code); d.p++ {
		c := d.code[d.p]
		if !legacyPrefix[c] {
			return d.rex(c)
		}
		if e := d.prefix(c); e != 0 {
			return e
		}
	}
	return ErrTruncated
}

func (d *decoder) prefix(c byte) decodeError {
	in := d.in
	switch c {
	case 0x66:
		in.Opsize = true
	case 0x67:
		d.addr32 = true
	case 0xf2, 0xf3:
		// With both, the last one counts on the processors that were tried;
		// nobody promises it.
		if in.Rep != 0 && in.Rep != c {
			return ErrPrefix
		}
		in.Rep = c
	case 0xf0:
		d.lock = true
	case 0x64, 0x65:
		if in.Mem.Segment != 0 && in.Mem.Segment != c {
			return ErrPrefix
		}
		in.Mem.Segment = c
	default:
		d.other = true
	}
	return 0
}

// rex reads a REX prefix, which counts only right before the opcode, and
// settles what the prefixes come to.
func (d *decoder) rex(c byte) decodeError {
	in := d.in
	if in.Mem.Segment != 0 && d.other {
		return ErrPrefix
	}
	switch {
	case in.Rep == 0xf3:
		d.pp = 2
	case in.Rep == 0xf2:
		d.pp = 3
	case in.Opsize:
		d.pp = 1
	}
	if c&0xf0 == 0x40 {
		in.Rex = c
		d.w = c&8 != 0
		d.r, d.x, d.b = c<<1&8, c<<2&8, c<<3&8
		d.p++
	}
	return 0
}

// opcode reads the escape bytes, VEX or EVEX, and the opcode.
func (d *decoder) opcode() decodeError {
	if d.p >= len(d.code) {
		return ErrTruncated
	}
	in := d.in
	c := d.code[d.p]
	d.p++
	switch c {
	case 0x0f:
		return d.escape()
	case 0xc4, 0xc5, 0x62:
		if in.Rex != 0 || in.Opsize || in.Rep != 0 || d.lock {
			return ErrPrefix
		}
		if c == 0x62 {
			return d.evex()
		}
		return d.vex(c)
	}
	in.Opcode = c
	return 0
}

// escape reads the opcode behind 0f, 0f 38 or 0f 3a.
func (d *decoder) escape() decodeError {
	in := d.in
	in.Map, d.opmap = 1, map0F
	if d.p >= len(d.code) {
		return ErrTruncated
	}
	c := d.code[d.p]
	d.p++
	if c == 0x38 || c == 0x3a {
		in.Map, d.opmap = 2, map0F38
		if c == 0x3a {
			in.Map, d.opmap = 3, map0F3A
		}
		if d.p >= len(d.code) {
			return ErrTruncated
		}
		c = d.code[d.p]
		d.p++
	}
	in.Opcode = c
	return 0
}

// vex reads the rest of a VEX prefix, c5 with one byte or c4 with two. Its
// register bits are stored inverted.
func (d *decoder) vex(c byte) decodeError {
	in := d.in
	in.Vex, in.Map = 1, 1
	n := 2
	if c == 0xc4 {
		n = 3
	}
	if d.p+n > len(d.code) {
		return ErrTruncated
	}
	last := d.code[d.p+n-2]
	first := d.code[d.p]
	d.r = ^first >> 4 & 8
	if c == 0xc4 {
		in.Map = first & 31
		d.x, d.b = ^first>>3&8, ^first>>2&8
		d.w = last&0x80 != 0
	}
	if in.Map < 1 || in.Map > 3 {
		return ErrUnknown
	}
	d.opmap = mapVex1 + int(in.Map) - 1
	d.vvvv = Reg(^last >> 3 & 15)
	d.pp = last & 3
	in.Opcode = d.code[d.p+n-1]
	d.p += n
	return 0
}

// evex reads the rest of an EVEX prefix. The bits that must have one value are
// where later extensions put more registers: with another value it is one of
// those, and not known here.
func (d *decoder) evex() decodeError {
	if d.p+4 > len(d.code) {
		return ErrTruncated
	}
	in := d.in
	p0, p1 := d.code[d.p], d.code[d.p+1]
	if p0&8 != 0 || p1&4 == 0 {
		return ErrUnknown
	}
	in.Vex, in.Map = 2, p0&7
	switch in.Map {
	case 1, 2, 3:
		d.opmap = mapEvex1 + int(in.Map) - 1
	case 5, 6:
		d.opmap = mapEvex5 + int(in.Map) - 5
	default:
		return ErrUnknown
	}
	d.r, d.x, d.b = ^p0>>4&8, ^p0>>3&8, ^p0>>2&8
	d.highR = p0&0x10 == 0
	d.w = p1&0x80 != 0
	d.vvvv = Reg(^p1 >> 3 & 15)
	d.pp = p1 & 3
	d.p2, in.Opcode = d.code[d.p+2], d.code[d.p+3]
	d.p += 4
	return 0
}

// check refuses what the opcode does not go with.
func (d *decoder) check() decodeError {
	in, a := d.in, d.op.attr
	switch {
	case a&refuse != 0:
		return ErrSystem
	case a&memOnly != 0 && !in.HasMem, a&regOnly != 0 && in.HasMem:
		return ErrUnknown
	case d.lock && (a&lockOK == 0 || !in.HasMem):
		return ErrPrefix
	case a&no66 != 0 && in.Opsize && !d.w:
		return ErrPrefix
	case a&no67 != 0 && (d.addr32 || in.Mem.Segment != 0):
		return ErrPrefix
	case d.highR && a&(gr|gw) != 0:
		return ErrUnknown
	}
	return 0
}
