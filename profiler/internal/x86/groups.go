package x86

// A group is a set of opcodes that share a byte and are told apart by ModRM.reg.
type group uint8

const (
	noGroup group = iota
	groupALU8
	groupALUz
	groupALUb
	groupPop
	groupShiftImm8
	groupShiftImm
	groupShiftOne8
	groupShiftOne
	groupShiftCL8
	groupShiftCL
	groupMov8
	groupMov
	groupUnary8
	groupUnary
	groupInc8
	groupInc
	groupSeg
	groupVecShiftW
	groupVecShiftD
	groupVecShiftQ
	groupVecShiftDQ
	groupFence
	groupFence66
	groupFenceF3
	groupFenceF2
	groupBit
	groupNine
	groupNineF3
	groupBLS
	groupHintF3
	groupVexFence
	groupVecShiftEW
	groupVecShiftED
	groupVecShiftEQ
	nGroups
)

// groups holds the members of each group: first the eight whose operand is
// memory, then the eight whose operand is a register. A member without modrm
// does not exist.
var groups [nGroups][16]op

// both gives a group the same members in both forms.
func both(ops [8]op) (out [16]op) {
	copy(out[:8], ops[:])
	copy(out[8:], ops[:])
	return out
}

func forms(mem, reg [8]op) (out [16]op) {
	copy(out[:8], mem[:])
	copy(out[8:], reg[:])
	return out
}

func all(o op) [8]op { return [8]op{o, o, o, o, o, o, o, o} }

func set(ops [8]op, i int, o op) [8]op {
	ops[i] = o
	return ops
}

func aluGroup(imm attr) (out [8]op) {
	for k := range out {
		out[k] = op{attr: modrm | er | ew | imm | lockOK, read: aluRead[k], kill: aluKill[k]}
	}
	out[7].attr &^= ew | lockOK
	return out
}

// shiftGroup is rol, ror, rcl, rcr, shl, shr, shl again, sar. By cl they may
// leave all flags as they are (the count may be 0), so they kill none; rcl and
// rcr read CF in any case.
func shiftGroup(a attr, use Regs, f fix, rotate, shift Flags) (out [8]op) {
	for k := range out {
		o := op{attr: modrm | er | ew | a, use: use, fix: f, kill: shift}
		if k < 4 {
			o.kill = rotate
		}
		if k == 2 || k == 3 {
			o.read = CF
		}
		out[k] = o
	}
	return out
}

// unaryGroup is test, test again, not, neg, mul, imul, div, idiv.
func unaryGroup(b, imm attr) [8]op {
	test := op{attr: modrm | er | b | imm, kill: logic}
	mul := op{attr: modrm | er | b, use: ax, def: ax | dx, kill: CF | OF}
	div := op{attr: modrm | er | b, use: ax | dx, def: ax | dx}
	if b != 0 { // ax = al·E, and al, ah of ax/E
		mul.def, div.use, div.def = ax, ax, ax
	}
	return [8]op{
		test, test,
		{attr: modrm | er | ew | b | lockOK}, {attr: modrm | er | ew | b | lockOK, kill: arith},
		mul, mul, div, div,
	}
}

// All groups, a line for each as in the manuals. Long because cut in two the
// table could not be compared with them.
func init() {
	inc8 := op{attr: modrm | er | ew | eb | lockOK, kill: steps}
	inc := op{attr: modrm | er | ew | lockOK, kill: steps}
	bt := op{attr: modrm | er | imm8, kill: CF}
	bts := op{attr: modrm | er | ew | imm8 | lockOK, kill: CF}
	shift := op{attr: modrm | imm8 | regOnly}
	loadM, storeM := op{attr: modrm | xr}, op{attr: modrm | xw}
	xsave := op{attr: modrm | xr | xw, use: ax | dx}
	xrstor := op{attr: modrm | xr, use: ax | dx}
	flush := op{attr: modrm | er | noAccess}
	fence := op{attr: modrm}
	wait := op{attr: modrm | er, use: ax | dx} // tpause, umwait: flags left out, on purpose
	cmpxchg := op{attr: modrm | xr | xw | lockOK, use: ax | bx | cx | dx, def: ax | dx, kill: ZF}
	random := op{attr: modrm | ew, kill: AllFlags}
	bls := op{attr: modrm | er | vw, kill: CF | ZF | SF | OF}

	groups = [nGroups][16]op{
		groupALU8:      both(aluGroup(imm8 | eb)),
		groupALUz:      both(aluGroup(immz)),
		groupALUb:      both(aluGroup(imm8)),
		groupPop:       both([8]op{{attr: modrm | ew, use: stack, def: stack}}),
		groupShiftImm8: both(shiftGroup(imm8|eb, 0, fixShift, CF, CF|szp)),
		groupShiftImm:  both(shiftGroup(imm8, 0, fixShift, CF, CF|szp)),
		groupShiftOne8: both(shiftGroup(eb, 0, noFix, CF|OF, CF|OF|szp)),
		groupShiftOne:  both(shiftGroup(0, 0, noFix, CF|OF, CF|OF|szp)),
		groupShiftCL8:  both(shiftGroup(eb, cx, noFix, 0, 0)),
		groupShiftCL:   both(shiftGroup(0, cx, noFix, 0, 0)),
		groupMov8:      both([8]op{{attr: modrm | ew | eb | imm8}}),
		groupMov:       both([8]op{{attr: modrm | ew | immz}}),
		groupUnary8:    both(unaryGroup(eb, imm8)),
		groupUnary:     both(unaryGroup(0, immz)),
		groupInc8:      both([8]op{inc8, inc8}),
		groupInc: both([8]op{
			inc, inc,
			{attr: modrm | er | no66, kind: CallInd}, sysop,
			{attr: modrm | er | no66, kind: JmpInd}, sysop,
			{attr: modrm | er, use: stack, def: stack},
		}),
		groupSeg:        both([8]op{sysop, sysop, sysop, sysop, {attr: modrm | er, kill: ZF}, {attr: modrm | er, kill: ZF}}),
		groupVecShiftW:  forms([8]op{}, [8]op{2: shift, 4: shift, 6: shift}),
		groupVecShiftD:  forms([8]op{}, [8]op{2: shift, 4: shift, 6: shift}),
		groupVecShiftQ:  forms([8]op{}, [8]op{2: shift, 6: shift}),
		groupVecShiftDQ: forms([8]op{}, [8]op{2: shift, 3: shift, 6: shift, 7: shift}),
		groupFence: forms(
			[8]op{storeM, loadM, loadM, storeM, xsave, xrstor, xsave, flush}, // fxsave, fxrstor, ldmxcsr, stmxcsr, xsave, xrstor, xsaveopt, clflush
			[8]op{5: fence, 6: fence, 7: fence}),
		groupFence66: forms([8]op{6: flush, 7: flush}, [8]op{6: wait}),
		groupFenceF3: forms(
			[8]op{4: fromE, 6: sysop},
			[8]op{{attr: modrm | ew}, sysop, {attr: modrm | er}, sysop, fromE, fromE, sysop}), // rdfsbase, …, ptwrite, incssp
		groupFenceF2: forms([8]op{}, [8]op{6: wait}),
		groupBit:     both([8]op{4: bt, 5: bts, 6: bts, 7: bts}),
		groupNine: forms(
			[8]op{1: cmpxchg, 3: sysop, 4: xsave, 5: sysop, 6: sysop, 7: sysop},
			[8]op{6: random, 7: random}),
		groupNineF3:     forms([8]op{1: cmpxchg, 6: sysop}, [8]op{6: sysop, 7: {attr: modrm | ew}}), // rdpid
		groupBLS:        both([8]op{1: bls, 2: bls, 3: bls}),
		groupHintF3:     forms(all(hint), set(all(hint), 1, op{attr: modrm | er | ew | noAccess})), // rdssp: a nop where there is none
		groupVexFence:   forms([8]op{2: loadM, 3: storeM}, [8]op{}),
		groupVecShiftEW: both([8]op{2: loadI, 4: loadI, 6: loadI}),
		groupVecShiftED: both([8]op{0: loadI, 1: loadI, 2: loadI, 4: loadI, 6: loadI}),
		groupVecShiftEQ: both([8]op{2: loadI, 3: loadI, 6: loadI, 7: loadI}),
	}
}
