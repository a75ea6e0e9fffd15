package x86

// Shapes that many vector opcodes share.
var (
	load  = op{attr: modrm | xr}                 // x, m → x
	store = op{attr: modrm | xw}                 // x → m
	loadI = op{attr: modrm | xr | imm8}          // x, m, imm8 → x
	hint  = op{attr: modrm | noAccess}           // nop with an operand
	toG   = op{attr: modrm | xr | gw}            // x, m → general register
	fromE = op{attr: modrm | er}                 // general register or memory → x
	sysop = op{attr: modrm | refuse}             // known, and refused
	cmpx  = op{attr: modrm | xr, kill: AllFlags} // comiss, ptest
)

// twoByte is the map behind 0f.
var twoByte = []rule{
	{0x00, 0x00, pAny, op{attr: modrm, group: groupSeg}},
	{0x01, 0x01, pAny, op{attr: modrm | regOnly, fix: fixSystem}},
	{0x02, 0x03, pAny, op{attr: modrm | er | gr | gw, kill: ZF}}, // lar, lsl: write only if allowed to
	{0x05, 0x05, pAny, op{attr: xr | xw, use: AllRegs, def: ax | cx | 1<<R11}},
	{0x0b, 0x0b, pAny, op{kind: Stop}},
	{0x0d, 0x0d, pAny, op{attr: modrm | noAccess}},
	{0x10, 0x10, pAny, load}, {0x11, 0x11, pAny, store},
	{0x12, 0x12, pAny, load}, {0x13, 0x13, pX, op{attr: modrm | xw | memOnly}},
	{0x14, 0x15, pX, load},
	{0x16, 0x16, pX | pF3, load}, {0x17, 0x17, pX, op{attr: modrm | xw | memOnly}},
	{0x18, 0x1f, pAny, hint},
	{0x1a, 0x1b, pF3 | pF2, op{attr: modrm | er | noAccess}}, // bndcl …, nops where there is no MPX
	{0x1e, 0x1e, pF3, op{attr: modrm, group: groupHintF3}},   // endbr64
	{0x28, 0x28, pX, load}, {0x29, 0x29, pX, store},
	{0x2a, 0x2a, pX, load}, {0x2a, 0x2a, pF3 | pF2, fromE},
	{0x2b, 0x2b, pX, op{attr: modrm | xw | memOnly}},
	{0x2c, 0x2d, pX, load}, {0x2c, 0x2d, pF3 | pF2, toG},
	{0x2e, 0x2f, pX, cmpx},
	{0x31, 0x31, pAny, op{def: ax | dx}},          // rdtsc
	{0x33, 0x33, pAny, op{use: cx, def: ax | dx}}, // rdpmc
	{0x40, 0x4f, pAny, op{attr: modrm | er | gr | gw, fix: fixCC}},
	{0x50, 0x50, pX, op{attr: modrm | gw | regOnly}},
	{0x51, 0x51, pAny, load}, {0x52, 0x53, pNone | pF3, load},
	{0x54, 0x57, pX, load}, {0x58, 0x5a, pAny, load},
	{0x5b, 0x5b, pX | pF3, load}, {0x5c, 0x5f, pAny, load},
	{0x60, 0x6b, pX, load}, {0x6c, 0x6d, p66, load},
	{0x6e, 0x6e, pX, fromE},
	{0x6f, 0x6f, pX | pF3, load},
	{0x70, 0x70, pAny, loadI},
	{0x71, 0x71, pX, op{attr: modrm, group: groupVecShiftW}},
	{0x72, 0x72, pX, op{attr: modrm, group: groupVecShiftD}},
	{0x73, 0x73, pNone, op{attr: modrm, group: groupVecShiftQ}},
	{0x73, 0x73, p66, op{attr: modrm, group: groupVecShiftDQ}},
	{0x74, 0x76, pX, load}, {0x77, 0x77, pNone, op{}},
	{0x7c, 0x7d, p66 | pF2, load},
	{0x7e, 0x7e, pX, op{attr: modrm | ew}}, {0x7e, 0x7e, pF3, load},
	{0x7f, 0x7f, pX | pF3, store},
	{0x80, 0x8f, pAny, op{attr: rel32 | no66, kind: Jcc, fix: fixCC}},
	{0x90, 0x9f, pAny, op{attr: modrm | ew | eb, fix: fixCC}},
	{0xa0, 0xa0, pAny, op{use: stack, def: stack}},               // push fs
	{0xa2, 0xa2, pAny, op{use: ax | cx, def: ax | bx | cx | dx}}, // cpuid
	{0xa3, 0xa3, pAny, op{attr: modrm | er | gr, kill: CF}},
	{0xa4, 0xa4, pAny, op{attr: modrm | er | ew | gr | imm8, fix: fixDouble}},
	{0xa5, 0xa5, pAny, op{attr: modrm | er | ew | gr, use: cx}},
	{0xa8, 0xa8, pAny, op{use: stack, def: stack}}, // push gs
	{0xab, 0xab, pAny, op{attr: modrm | er | ew | gr | lockOK, kill: CF}},
	{0xac, 0xac, pAny, op{attr: modrm | er | ew | gr | imm8, fix: fixDouble}},
	{0xad, 0xad, pAny, op{attr: modrm | er | ew | gr, use: cx}},
	{0xae, 0xae, pNone, op{attr: modrm, group: groupFence}},
	{0xae, 0xae, p66, op{attr: modrm, group: groupFence66}},
	{0xae, 0xae, pF3, op{attr: modrm, group: groupFenceF3}},
	{0xae, 0xae, pF2, op{attr: modrm, group: groupFenceF2}},
	{0xaf, 0xaf, pAny, op{attr: modrm | er | gr | gw, kill: CF | OF}},
	{0xb0, 0xb0, pAny, op{attr: modrm | er | ew | gr | eb | gb | lockOK, use: ax, def: ax, kill: arith}},
	{0xb1, 0xb1, pAny, op{attr: modrm | er | ew | gr | lockOK, use: ax, def: ax, kill: arith}},
	{0xb3, 0xb3, pAny, op{attr: modrm | er | ew | gr | lockOK, kill: CF}},
	{0xb6, 0xb6, pAny, op{attr: modrm | er | gw | eb}},
	{0xb7, 0xb7, pAny, op{attr: modrm | er | gw}},
	{0xb8, 0xb8, pF3, op{attr: modrm | er | gw, kill: AllFlags}}, // popcnt
	{0xb9, 0xb9, pAny, op{attr: modrm | noAccess, kind: Stop}},   // ud1
	{0xba, 0xba, pAny, op{attr: modrm, group: groupBit}},
	{0xbb, 0xbb, pAny, op{attr: modrm | er | ew | gr | lockOK, kill: CF}},
	{0xbc, 0xbd, pAny, op{attr: modrm | er | gr | gw, kill: ZF}},     // bsf, bsr: of zero, the target stays
	{0xbc, 0xbd, pF3, op{attr: modrm | er | gr | gw, kill: CF | ZF}}, // tzcnt, lzcnt; bsf, bsr on old processors
	{0xbe, 0xbe, pAny, op{attr: modrm | er | gw | eb}},
	{0xbf, 0xbf, pAny, op{attr: modrm | er | gw}},
	{0xc0, 0xc0, pAny, op{attr: modrm | er | ew | gr | gw | eb | gb | lockOK, kill: arith}},
	{0xc1, 0xc1, pAny, op{attr: modrm | er | ew | gr | gw | lockOK, kill: arith}},
	{0xc2, 0xc2, pAny, loadI},
	{0xc3, 0xc3, pNone, op{attr: modrm | ew | gr | memOnly}}, // movnti
	{0xc4, 0xc4, pX, op{attr: modrm | er | imm8}},
	{0xc5, 0xc5, pX, op{attr: modrm | gw | imm8 | regOnly}},
	{0xc6, 0xc6, pX, loadI},
	{0xc7, 0xc7, pAny, op{attr: modrm, group: groupNine}},
	{0xc7, 0xc7, pF3, op{attr: modrm, group: groupNineF3}},
	{0xc8, 0xcf, pAny, op{attr: or | ow}}, // bswap
	{0xd0, 0xd0, p66 | pF2, load},
	{0xd1, 0xd5, pX, load},
	{0xd6, 0xd6, p66, store}, {0xd6, 0xd6, pF3 | pF2, op{attr: modrm | regOnly}},
	{0xd7, 0xd7, pX, op{attr: modrm | gw | regOnly}},
	{0xd8, 0xe5, pX, load},
	{0xe6, 0xe6, p66 | pF3 | pF2, load},
	{0xe7, 0xe7, pX, op{attr: modrm | xw | memOnly}},
	{0xe8, 0xef, pX, load},
	{0xf0, 0xf0, pF2, op{attr: modrm | xr | memOnly}},
	{0xf1, 0xf6, pX, load},
	{0xf7, 0xf7, pX, op{attr: modrm | regOnly | no67 | xw, use: di}}, // maskmov: to [rdi]
	{0xf8, 0xfe, pX, load},
	{0xff, 0xff, pAny, op{attr: modrm | noAccess, kind: Stop}}, // ud0
}

// threeByte38 is the map behind 0f 38.
var threeByte38 = []rule{
	{0x00, 0x0b, pX, load},
	{0x10, 0x10, p66, load}, {0x14, 0x15, p66, load}, {0x17, 0x17, p66, cmpx},
	{0x1c, 0x1e, pX, load},
	{0x20, 0x25, p66, load}, {0x28, 0x29, p66, load},
	{0x2a, 0x2a, p66, op{attr: modrm | xr | memOnly}},
	{0x2b, 0x2b, p66, load}, {0x30, 0x35, p66, load}, {0x37, 0x41, p66, load},
	{0xc8, 0xcd, pNone, load}, {0xcf, 0xcf, p66, load},
	{0xdb, 0xdf, p66, load},
	{0xf0, 0xf0, pX, op{attr: modrm | er | gw | memOnly}}, // movbe
	{0xf1, 0xf1, pX, op{attr: modrm | ew | gr | memOnly}},
	{0xf0, 0xf0, pF2, op{attr: modrm | er | gr | gw | eb}}, // crc32
	{0xf1, 0xf1, pF2, op{attr: modrm | er | gr | gw}},
	{0xf6, 0xf6, p66, op{attr: modrm | er | gr | gw, read: CF, kill: CF}}, // adcx
	{0xf6, 0xf6, pF3, op{attr: modrm | er | gr | gw, read: OF, kill: OF}}, // adox
	{0xf8, 0xf8, p66, op{attr: modrm | xr | xw | gr | memOnly | no67}},    // movdir64b: to [G]
	{0xf9, 0xf9, pNone, op{attr: modrm | ew | gr | memOnly}},              // movdiri
}

// pcmpestri and pcmpistri answer in rcx, the others in xmm0.
var pcmpestri = op{attr: modrm | xr | imm8, use: ax | dx, def: cx, kill: AllFlags}

// threeByte3A is the map behind 0f 3a.
var threeByte3A = []rule{
	{0x08, 0x0e, p66, loadI}, {0x0f, 0x0f, pX, loadI},
	{0x14, 0x17, p66, op{attr: modrm | ew | imm8}}, // pextr, extractps
	{0x20, 0x20, p66, op{attr: modrm | er | imm8}}, // pinsrb
	{0x21, 0x21, p66, loadI},                       // insertps
	{0x22, 0x22, p66, op{attr: modrm | er | imm8}},
	{0x40, 0x42, p66, loadI}, {0x44, 0x44, p66, loadI},
	{0x60, 0x63, p66, op{attr: modrm | xr | imm8, use: ax | dx, kill: AllFlags}}, // pcmpestrm, pcmpistrm
	{0x61, 0x61, p66, pcmpestri}, {0x63, 0x63, p66, pcmpestri},
	{0xcc, 0xcc, pNone, loadI},
	{0xce, 0xcf, p66, loadI}, {0xdf, 0xdf, p66, loadI},
}
