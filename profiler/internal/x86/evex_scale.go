package x86

// An EVEX displacement of 8 bits counts in units: of the whole vector, of a
// part of it, of an element. Intel's manual calls the ways "tuple types" (volume
// 2, 2.7.5); these are they, a little folded together.
type tuple uint8

const (
	fullVector   tuple = iota // the vector; an element of 4 or 8 bytes when broadcast
	fullVector2               // … an element of 2 bytes
	halfVector                // half a vector
	halfVector2               // … an element of 2 bytes
	quarter                   // a quarter …, an element of 2 bytes
	eighth                    // an eighth
	halfIfNarrow              // with W the vector, without it half of it; an element as with fullVector
	byW                       // 4 bytes, 8 with W
	byteByW                   // 1 byte, 2 with W
	bytes1
	bytes2
	bytes4
	bytes8
	bytes16
	bytes32
	bytes64
	duplicate // movddup: 8 bytes of 16, else the vector
)

// unit is the number of bytes that a displacement of one stands for.
func (t tuple) unit(vector int32, w, broadcast bool) int32 {
	element := int32(4)
	if w {
		element = 8
	}
	switch t {
	case fullVector2, halfVector2, quarter:
		if broadcast {
			return 2
		}
	case fullVector, halfVector, halfIfNarrow:
		if broadcast {
			return element
		}
	}
	switch t {
	case halfVector, halfVector2:
		return vector / 2
	case quarter:
		return vector / 4
	case eighth:
		return vector / 8
	case halfIfNarrow:
		if !w {
			return vector / 2
		}
	case byW:
		return element
	case byteByW:
		return element / 4
	case bytes1, bytes2, bytes4, bytes8, bytes16, bytes32, bytes64:
		return 1 << (t - bytes1)
	case duplicate:
		if vector == 16 {
			return 8
		}
	}
	return vector
}

type tupleRule struct {
	from, to byte
	pp       pp
	tuple    tuple
}

// tupleRules has what is not fullVector, by EVEX map: 1, 2, 3, 5, 6.
var tupleRules = [5][]tupleRule{
	{
		{0x10, 0x11, pF3, bytes4}, {0x10, 0x11, pF2, bytes8}, {0x12, 0x12, pX, bytes8}, {0x12, 0x12, pF2, duplicate},
		{0x13, 0x13, pX, bytes8}, {0x16, 0x16, pX, bytes8}, {0x17, 0x17, pX, bytes8},
		{0x2a, 0x2a, pF3 | pF2, byW}, {0x2c, 0x2d, pF3, bytes4}, {0x2c, 0x2d, pF2, bytes8},
		{0x2e, 0x2f, pNone, bytes4}, {0x2e, 0x2f, p66, bytes8},
		{0x51, 0x51, pF3, bytes4}, {0x51, 0x51, pF2, bytes8}, {0x58, 0x5f, pF3, bytes4}, {0x58, 0x5f, pF2, bytes8},
		{0x5a, 0x5a, pNone, halfVector}, {0x5b, 0x5b, pF3, fullVector},
		{0x6e, 0x6e, p66, byW}, {0x7e, 0x7e, p66, byW}, {0x7e, 0x7e, pF3, bytes8}, {0xd6, 0xd6, p66, bytes8},
		{0x78, 0x79, pF3, bytes4}, {0x78, 0x79, pF2, bytes8}, {0x78, 0x7b, p66, halfIfNarrow},
		{0x7a, 0x7a, pF3, halfIfNarrow}, {0x7b, 0x7b, pF3 | pF2, byW}, {0xe6, 0xe6, pF3, halfIfNarrow},
		{0xc2, 0xc2, pF3, bytes4}, {0xc2, 0xc2, pF2, bytes8}, {0xc4, 0xc4, p66, bytes2},
		{0xd1, 0xd3, p66, bytes16}, {0xe1, 0xe2, p66, bytes16}, {0xf1, 0xf3, p66, bytes16},
	},
	{
		{0x13, 0x13, p66, halfVector}, {0x18, 0x18, p66, bytes4}, {0x19, 0x19, p66, bytes8}, {0x1a, 0x1a, p66, bytes16}, {0x1b, 0x1b, p66, bytes32},
		// Sign and zero extension, and the narrowing moves that mirror them.
		{0x20, 0x20, p66, halfVector}, {0x21, 0x21, p66, quarter}, {0x22, 0x22, p66, eighth}, {0x23, 0x23, p66, halfVector}, {0x24, 0x24, p66, quarter}, {0x25, 0x25, p66, halfVector},
		{0x30, 0x30, p66, halfVector}, {0x31, 0x31, p66, quarter}, {0x32, 0x32, p66, eighth}, {0x33, 0x33, p66, halfVector}, {0x34, 0x34, p66, quarter}, {0x35, 0x35, p66, halfVector},
		{0x10, 0x10, pF3, halfVector}, {0x11, 0x11, pF3, quarter}, {0x12, 0x12, pF3, eighth}, {0x13, 0x13, pF3, halfVector}, {0x14, 0x14, pF3, quarter}, {0x15, 0x15, pF3, halfVector},
		{0x20, 0x20, pF3, halfVector}, {0x21, 0x21, pF3, quarter}, {0x22, 0x22, pF3, eighth}, {0x23, 0x23, pF3, halfVector}, {0x24, 0x24, pF3, quarter}, {0x25, 0x25, pF3, halfVector},
		{0x30, 0x30, pF3, halfVector}, {0x31, 0x31, pF3, quarter}, {0x32, 0x32, pF3, eighth}, {0x33, 0x33, pF3, halfVector}, {0x34, 0x34, pF3, quarter}, {0x35, 0x35, pF3, halfVector},
		{0x2d, 0x2d, p66, byW}, {0x43, 0x43, p66, byW}, {0x4d, 0x4d, p66, byW}, {0x4f, 0x4f, p66, byW},
		{0x52, 0x53, pF2, bytes16}, {0x9a, 0x9b, pF2, bytes16}, {0xaa, 0xab, pF2, bytes16},
		{0x58, 0x58, p66, bytes4}, {0x59, 0x59, p66, bytes8}, {0x5a, 0x5a, p66, bytes16}, {0x5b, 0x5b, p66, bytes32},
		{0x62, 0x63, p66, byteByW}, {0x78, 0x78, p66, bytes1}, {0x79, 0x79, p66, bytes2},
		{0x88, 0x8b, p66, byW}, {0x90, 0x93, p66, byW}, {0xa0, 0xa3, p66, byW},
		{0x99, 0x99, p66, byW}, {0x9b, 0x9b, p66, byW}, {0x9d, 0x9d, p66, byW}, {0x9f, 0x9f, p66, byW},
		{0xa9, 0xa9, p66, byW}, {0xab, 0xab, p66, byW}, {0xad, 0xad, p66, byW}, {0xaf, 0xaf, p66, byW},
		{0xb9, 0xb9, p66, byW}, {0xbb, 0xbb, p66, byW}, {0xbd, 0xbd, p66, byW}, {0xbf, 0xbf, p66, byW},
		{0xcb, 0xcb, p66, byW}, {0xcd, 0xcd, p66, byW},
	},
	{
		{0x0a, 0x0a, p66, bytes4}, {0x0b, 0x0b, p66, bytes8},
		{0x14, 0x14, p66, bytes1}, {0x15, 0x15, p66, bytes2}, {0x16, 0x16, p66, byW}, {0x17, 0x17, p66, bytes4},
		{0x18, 0x19, p66, bytes16}, {0x1a, 0x1b, p66, bytes32}, {0x1d, 0x1d, p66, halfVector},
		{0x20, 0x20, p66, bytes1}, {0x21, 0x21, p66, bytes4}, {0x22, 0x22, p66, byW},
		{0x27, 0x27, p66, byW}, {0x38, 0x39, p66, bytes16}, {0x3a, 0x3b, p66, bytes32},
		{0x51, 0x51, p66, byW}, {0x55, 0x55, p66, byW}, {0x57, 0x57, p66, byW}, {0x67, 0x67, p66, byW},
		// Half precision.
		{0x08, 0x08, pNone, fullVector2}, {0x26, 0x26, pNone, fullVector2}, {0x56, 0x56, pNone, fullVector2}, {0x66, 0x66, pNone, fullVector2}, {0xc2, 0xc2, pNone, fullVector2},
		{0x0a, 0x0a, pNone, bytes2}, {0x27, 0x27, pNone, bytes2}, {0x57, 0x57, pNone, bytes2}, {0x67, 0x67, pNone, bytes2}, {0xc2, 0xc2, pF3, bytes2},
	},
	{
		{0x51, 0x5f, pNone, fullVector2}, {0x7c, 0x7d, pAny, fullVector2},
		{0x10, 0x11, pF3, bytes2}, {0x1d, 0x1d, pNone, bytes4}, {0x2a, 0x2a, pF3, byW}, {0x2c, 0x2d, pF3, bytes2}, {0x2e, 0x2f, pNone, bytes2},
		{0x51, 0x51, pF3, bytes2}, {0x58, 0x5a, pF3, bytes2}, {0x5c, 0x5f, pF3, bytes2},
		{0x5a, 0x5a, pNone, quarter}, {0x5a, 0x5a, pF2, bytes8},
		{0x5b, 0x5b, pNone, fullVector}, {0x5b, 0x5b, p66 | pF3, halfVector2},
		{0x6e, 0x6e, p66, bytes2}, {0x7e, 0x7e, p66, bytes2},
		{0x78, 0x79, pNone, halfVector2}, {0x78, 0x79, p66, quarter}, {0x78, 0x79, pF3, bytes2}, {0x7a, 0x7b, p66, quarter}, {0x7b, 0x7b, pF3, byW},
	},
	{
		{0x13, 0x13, p66, halfVector2}, {0x13, 0x13, pNone, bytes2},
		{0x2c, 0x2c, p66, fullVector2}, {0x42, 0x42, p66, fullVector2}, {0x4c, 0x4c, p66, fullVector2}, {0x4e, 0x4e, p66, fullVector2},
		{0x2d, 0x2d, p66, bytes2}, {0x43, 0x43, p66, bytes2}, {0x4d, 0x4d, p66, bytes2}, {0x4f, 0x4f, p66, bytes2},
		{0x96, 0x98, p66, fullVector2}, {0x9a, 0x9a, p66, fullVector2}, {0x9c, 0x9c, p66, fullVector2}, {0x9e, 0x9e, p66, fullVector2},
		{0xa6, 0xa8, p66, fullVector2}, {0xaa, 0xaa, p66, fullVector2}, {0xac, 0xac, p66, fullVector2}, {0xae, 0xae, p66, fullVector2},
		{0xb6, 0xb8, p66, fullVector2}, {0xba, 0xba, p66, fullVector2}, {0xbc, 0xbc, p66, fullVector2}, {0xbe, 0xbe, p66, fullVector2},
		{0x99, 0x99, p66, bytes2}, {0x9b, 0x9b, p66, bytes2}, {0x9d, 0x9d, p66, bytes2}, {0x9f, 0x9f, p66, bytes2},
		{0xa9, 0xa9, p66, bytes2}, {0xab, 0xab, p66, bytes2}, {0xad, 0xad, p66, bytes2}, {0xaf, 0xaf, p66, bytes2},
		{0xb9, 0xb9, p66, bytes2}, {0xbb, 0xbb, p66, bytes2}, {0xbd, 0xbd, p66, bytes2}, {0xbf, 0xbf, p66, bytes2},
		// Complex numbers have elements of 4 bytes: f3 and f2 56, 57, d6, d7.
		{0x57, 0x57, pF3 | pF2, bytes4}, {0xd7, 0xd7, pF3 | pF2, bytes4},
	},
}

// tuples is tupleRules by map, prefix and opcode.
var tuples [5][4][256]tuple

func init() {
	for m, rules := range tupleRules {
		fill(&tuples[m], rules)
	}
}

// fill writes rules to the table of a map.
func fill(table *[4][256]tuple, rules []tupleRule) {
	for _, r := range rules {
		for p := range 4 {
			if r.pp>>p&1 == 0 {
				continue
			}
			for c := int(r.from); c <= int(r.to); c++ {
				table[p][c] = r.tuple
			}
		}
	}
}
