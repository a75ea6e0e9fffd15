package x86

const (
	arith = AllFlags
	logic = AllFlags &^ AF // and, or, xor, test leave AF undefined
	steps = AllFlags &^ CF // inc, dec
	szp   = SF | ZF | PF
	noOF  = AllFlags &^ OF // what lahf and sahf know

	stack = Regs(1 << RSP)
	ax    = Regs(1 << RAX)
	cx    = Regs(1 << RCX)
	dx    = Regs(1 << RDX)
	bx    = Regs(1 << RBX)
	bp    = Regs(1 << RBP)
	si    = Regs(1 << RSI)
	di    = Regs(1 << RDI)
)

// aluRead and aluKill are the flags of add, or, adc, sbb, and, sub, xor, cmp,
// which fill the first 64 opcodes and groups 80, 81, 83 in this order.
var (
	aluRead = [8]Flags{2: CF, 3: CF}
	aluKill = [8]Flags{arith, logic, arith, arith, logic, arith, logic, arith}
)

func aluRules() []rule {
	var out []rule
	for k := range byte(8) {
		dst := [2]attr{ew, gw} // cmp writes nothing
		acc := ax
		lock := lockOK
		if k == 7 {
			dst, acc, lock = [2]attr{}, 0, 0
		}
		for i, a := range [6]attr{
			modrm | er | gr | dst[0] | eb | gb | lock, modrm | er | gr | dst[0] | lock,
			modrm | er | gr | dst[1] | eb | gb, modrm | er | gr | dst[1],
			imm8, immz,
		} {
			o := op{attr: a, read: aluRead[k], kill: aluKill[k]}
			if i >= 4 {
				o.use, o.def = ax, acc
			}
			out = append(out, rule{k<<3 + byte(i), k<<3 + byte(i), pAny, o})
		}
	}
	return out
}

// oneByte is the map of one-byte opcodes; what is absent does not exist in
// 64-bit mode or is a prefix. Far branches, port and interrupt-flag
// instructions stay unknown: no compiler's code has them.
var oneByte = []rule{
	{0x50, 0x57, pAny, op{attr: or, use: stack, def: stack}},
	{0x58, 0x5f, pAny, op{attr: ow, use: stack, def: stack}},
	{0x63, 0x63, pAny, op{attr: modrm | er | gw}}, // movsxd
	{0x68, 0x68, pAny, op{attr: immz, use: stack, def: stack}},
	{0x69, 0x69, pAny, op{attr: modrm | er | gw | immz, kill: CF | OF}},
	{0x6a, 0x6a, pAny, op{attr: imm8, use: stack, def: stack}},
	{0x6b, 0x6b, pAny, op{attr: modrm | er | gw | imm8, kill: CF | OF}},
	{0x70, 0x7f, pAny, op{attr: rel8 | no66, kind: Jcc, fix: fixCC}},
	{0x80, 0x80, pAny, op{attr: modrm, group: groupALU8}},
	{0x81, 0x81, pAny, op{attr: modrm, group: groupALUz}},
	{0x83, 0x83, pAny, op{attr: modrm, group: groupALUb}},
	{0x84, 0x84, pAny, op{attr: modrm | er | gr | eb | gb, kill: logic}},
	{0x85, 0x85, pAny, op{attr: modrm | er | gr, kill: logic}},
	{0x86, 0x86, pAny, op{attr: modrm | er | gr | ew | gw | eb | gb | lockOK, fix: fixLock}},
	{0x87, 0x87, pAny, op{attr: modrm | er | gr | ew | gw | lockOK, fix: fixLock}},
	{0x88, 0x88, pAny, op{attr: modrm | ew | gr | eb | gb}},
	{0x89, 0x89, pAny, op{attr: modrm | ew | gr}},
	{0x8a, 0x8a, pAny, op{attr: modrm | er | gw | eb | gb}},
	{0x8b, 0x8b, pAny, op{attr: modrm | er | gw}},
	{0x8c, 0x8c, pAny, op{attr: modrm | ew, fix: fixMovSeg}}, // mov from a segment register
	{0x8d, 0x8d, pAny, op{attr: modrm | gw | noAccess | memOnly}},
	{0x8e, 0x8e, pAny, op{attr: modrm | refuse}}, // mov to a segment register
	{0x8f, 0x8f, pAny, op{attr: modrm, group: groupPop}},
	{0x90, 0x97, pAny, op{fix: fixXchg}},
	{0x98, 0x98, pAny, op{use: ax, def: ax}},
	{0x99, 0x99, pNone | pF3 | pF2, op{use: ax, def: dx}},
	{0x99, 0x99, p66, op{use: ax | dx, def: dx}}, // cwd writes half of rdx; with REX.W it is cqo, and all
	{0x9b, 0x9b, pAny, op{}},                     // fwait
	{0x9c, 0x9c, pAny, op{use: stack, def: stack, read: AllFlags}},
	{0x9d, 0x9d, pAny, op{use: stack, def: stack, kill: AllFlags}},
	{0x9e, 0x9e, pAny, op{use: ax, kill: noOF}},
	{0x9f, 0x9f, pAny, op{use: ax, def: ax, read: noOF}},
	{0xa0, 0xa1, pAny, op{attr: moffs | no67 | xr, use: ax, def: ax}},
	{0xa2, 0xa3, pAny, op{attr: moffs | no67 | xw, use: ax}},
	{0xa4, 0xa5, pAny, op{attr: no67 | xr | xw, fix: fixString, use: si | di, def: si | di}},
	{0xa6, 0xa7, pAny, op{attr: no67 | xr, fix: fixString, use: si | di, def: si | di, kill: arith}},
	{0xa8, 0xa8, pAny, op{attr: imm8, use: ax, kill: logic}},
	{0xa9, 0xa9, pAny, op{attr: immz, use: ax, kill: logic}},
	{0xaa, 0xab, pAny, op{attr: no67 | xw, fix: fixString, use: ax | di, def: di}},
	{0xac, 0xad, pAny, op{attr: no67 | xr, fix: fixString, use: ax | si, def: ax | si}},
	{0xae, 0xaf, pAny, op{attr: no67 | xr, fix: fixString, use: ax | di, def: di, kill: arith}},
	{0xb0, 0xb7, pAny, op{attr: ow | ob | imm8}},
	{0xb8, 0xbf, pAny, op{attr: ow | immv}},
	{0xc0, 0xc0, pAny, op{attr: modrm, group: groupShiftImm8}},
	{0xc1, 0xc1, pAny, op{attr: modrm, group: groupShiftImm}},
	{0xc2, 0xc2, pAny, op{attr: imm16 | no66, kind: Ret}},
	{0xc3, 0xc3, pAny, op{attr: no66, kind: Ret}},
	{0xc6, 0xc6, pAny, op{attr: modrm, group: groupMov8}},
	{0xc7, 0xc7, pAny, op{attr: modrm, group: groupMov}},
	{0xc8, 0xc8, pAny, op{attr: imm16 | imm8, use: stack | bp, def: stack | bp}}, // enter
	{0xc9, 0xc9, pAny, op{use: stack | bp, def: stack | bp}},                     // leave
	{0xcc, 0xcc, pAny, op{kind: Stop}},
	{0xcd, 0xcd, pAny, op{attr: imm8, kind: Stop, fix: fixInt}},
	{0xd0, 0xd0, pAny, op{attr: modrm, group: groupShiftOne8}},
	{0xd1, 0xd1, pAny, op{attr: modrm, group: groupShiftOne}},
	{0xd2, 0xd2, pAny, op{attr: modrm, group: groupShiftCL8}},
	{0xd3, 0xd3, pAny, op{attr: modrm, group: groupShiftCL}},
	{0xd7, 0xd7, pAny, op{attr: no67 | xr, use: ax | bx, def: ax}}, // xlat
	{0xd8, 0xdf, pAny, op{attr: modrm, fix: fixX87}},
	{0xe0, 0xe1, pAny, op{attr: rel8 | no66 | no67, kind: Jrcxz, use: cx, def: cx, read: ZF}},
	{0xe2, 0xe2, pAny, op{attr: rel8 | no66 | no67, kind: Jrcxz, use: cx, def: cx}},
	{0xe3, 0xe3, pAny, op{attr: rel8 | no66 | no67, kind: Jrcxz, use: cx}},
	{0xe8, 0xe8, pAny, op{attr: rel32 | no66, kind: Call}},
	{0xe9, 0xe9, pAny, op{attr: rel32 | no66, kind: Jmp}},
	{0xeb, 0xeb, pAny, op{attr: rel8 | no66, kind: Jmp}},
	{0xf1, 0xf1, pAny, op{kind: Stop}}, // int1
	{0xf4, 0xf4, pAny, op{kind: Stop}}, // hlt: no program may
	{0xf5, 0xf5, pAny, op{read: CF, kill: CF}},
	{0xf6, 0xf6, pAny, op{attr: modrm, group: groupUnary8}},
	{0xf7, 0xf7, pAny, op{attr: modrm, group: groupUnary}},
	{0xf8, 0xf9, pAny, op{kill: CF}},
	{0xfc, 0xfd, pAny, op{}}, // cld, std
	{0xfe, 0xfe, pAny, op{attr: modrm, group: groupInc8}},
	{0xff, 0xff, pAny, op{attr: modrm, group: groupInc}},
}
