package x86

import (
	"strconv"
	"strings"
)

// registerNames are all names of the general registers.
var registerNames = func() map[string]Reg {
	names := map[string]Reg{}
	for i, n := range strings.Fields("ax cx dx bx sp bp si di") {
		r := Reg(i)
		names["r"+n], names["e"+n], names[n] = r, r, r
		if i < 4 {
			names[n[:1]+"l"], names[n[:1]+"h"] = r, r
		} else {
			names[n+"l"] = r
		}
	}
	for i := R8; i <= R15; i++ {
		n := "r" + strconv.Itoa(int(i))
		names[n], names[n+"d"], names[n+"w"], names[n+"b"] = i, i, i, i
	}
	return names
}()

// named is the set of general registers in a piece of objdump's text.
func named(text string) (set Regs) {
	for {
		i := strings.IndexByte(text, '%')
		if i < 0 {
			return set
		}
		text = text[i+1:]
		n := 0
		for n < len(text) && (text[n] >= 'a' && text[n] <= 'z' || text[n] >= '0' && text[n] <= '9') {
			n++
		}
		if r, ok := registerNames[text[:n]]; ok {
			set |= r.Set()
		}
		text = text[n:]
	}
}

// words turns a list into a set.
func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// Mnemonics by what they do with the last operand, without size suffix. What is
// in neither list reads and writes it, or it is a vector's.
var (
	// readsLast: the last operand is only read.
	readsLast = words(`cmp test bt push jmp call mul div idiv nop prefetchnta prefetcht0 prefetcht1 prefetcht2 prefetchw prefetch prefetchwt1
		clflush clflushopt clwb cldemote ldmxcsr vldmxcsr fxrstor fxrstor64 xrstor xrstor64 ucomiss ucomisd comiss comisd ptest
		vucomiss vucomisd vcomiss vcomisd vptest vtestps vtestpd verr verw wrfsbase ptwrite incsspq incsspd tpause umwait ud1 ud0
		fld flds fldl fldt fild fildl filds fildll fildq fldcw fldenv frstor fbld kortestb kortestw kortestd kortestq ktestb ktestw ktestd ktestq
		fadd fmul fcom fcomp fsub fsubr fdiv fdivr fiadd fimul ficom ficomp fisub fisubr fidiv fidivr vcomish vucomish
		fadds fmuls fcoms fcomps fsubs fsubrs fdivs fdivrs faddl fmull fcoml fcompl fsubl fsubrl fdivl fdivrl
		fiadds fimuls ficoms ficomps fisubs fisubrs fidivs fidivrs fiaddl fimull ficoml ficompl fisubl fisubrl fidivl fidivrl
		bndcl bndcu bndcn bndmk bndmov bndldx bndstx movdir64b fldenvs frstors lods scas out mwait jmpq callq xbegin`)
	// writesLast: the last operand is written and not read.
	writesLast = words(`mov movabs movzb movzw movsb movsw movslq movslq lea pop movd movq vmovd vmovq cvttss2si cvttsd2si cvtss2si cvtsd2si
		vcvttss2si vcvttsd2si vcvtss2si vcvtsd2si vcvtsd2usi vcvttsd2usi vcvtss2usi vcvttss2usi vcvtsh2si vcvttsh2si vcvtsh2usi vcvttsh2usi
		pmovmskb vpmovmskb movmskps movmskpd vmovmskps vmovmskpd pextrb pextrw pextrd pextrq vpextrb vpextrw vpextrd vpextrq extractps vextractps
		popcnt lzcnt tzcnt andn bextr blsi blsr blsmsk bzhi pdep pext rorx shlx shrx sarx mulx movbe rdrand rdseed rdpid rdfsbase rdgsbase fstcw fstenv fstsw fsave fnstenvs fnsaves
		kmovb kmovw kmovd kmovq movnti fnstcw fnstsw fnstenv fnsave fxsave fxsave64 stmxcsr vstmxcsr
		fst fsts fstl fstp fstps fstpl fstpt fist fistl fistp fists fistps fistpl fistpll fistpq fisttp fisttps fisttpl fisttpll fbstp
		movaps movapd movups movupd movdqa movdqu movss movsd movlps movhps movlpd movhpd movntps movntpd movntdq movntq
		vmovaps vmovapd vmovups vmovupd vmovdqa vmovdqu vmovss vmovsd vmovlps vmovhps vmovlpd vmovhpd vmovntps vmovntpd vmovntdq
		vmovdqa32 vmovdqa64 vmovdqu8 vmovdqu16 vmovdqu32 vmovdqu64 vextractf128 vextracti128 vextractf32x4 vextracti32x4 vextractf64x2 vextracti64x2
		vextractf32x8 vextracti32x8 vextractf64x4 vextracti64x4 vcvtps2ph vmovsh vmovw vpextrw movdiri stos rdsspq rdsspd str sldt smsw`)
)

// class finds a mnemonic in a list, with or without its size suffix.
func class(list map[string]bool, m string) bool {
	if list[m] {
		return true
	}
	switch m[len(m)-1] {
	case 'b', 'w', 'l', 'q':
		return list[m[:len(m)-1]]
	}
	return false
}

// operands compares registers, the memory operand and the immediate.
func (y *tally) operands(l *listed, in *Insn) {
	if in.Kind == Call || in.Kind == CallInd || in.Kind == Ret {
		if in.Kind != CallInd {
			return
		}
	}
	all := Regs(0)
	for _, o := range l.operands {
		all |= named(o)
	}
	if missing := all &^ (in.Use | in.Def); missing != 0 && !isHintReg(l, in) && in.Opcode != 0x90 {
		y.errorf(l, "Use %016b and Def %016b miss %016b", in.Use, in.Def, missing)
	}
	if in.IsString() {
		return
	}
	y.memoryOperand(l, in)
	if len(l.operands) == 0 {
		return
	}
	y.immediate(l, in)
	if isHintReg(l, in) || in.Kind != Normal || in.Opcode == 0x90 && in.Map == 0 && in.Rex&1 == 0 { // 66 90: a nop
		return
	}
	last := l.operands[len(l.operands)-1]
	var sources Regs
	for _, o := range l.operands[:len(l.operands)-1] {
		sources |= named(o)
	}
	lastIsMem := strings.Contains(last, "(") || in.HasMem && !strings.Contains(last, "%") || strings.Contains(last, ":")
	if lastIsMem {
		sources |= named(last)
	} else if r := named(last); r != 0 {
		reads, writes := class(readsLast, l.mnemonic), class(writesLast, l.mnemonic)
		if strings.HasPrefix(l.mnemonic, "movz") || strings.HasPrefix(l.mnemonic, "movs") {
			writes = true
		}
		if strings.HasPrefix(l.mnemonic, "imul") && len(l.operands) == 3 {
			writes = true
		}
		if strings.HasPrefix(l.mnemonic, "imul") && len(l.operands) == 1 {
			reads = true
		}
		switch {
		case reads && in.Def&r&^(ax|dx|stack) != 0: // mul and div write rax and rdx, push writes rsp
			y.errorf(l, "Def %016b has the last operand, which is read only", in.Def)
		case !reads && in.Def&r == 0:
			y.errorf(l, "Def %016b misses the last operand", in.Def)
		case !writes && in.Use&r == 0:
			y.errorf(l, "Use %016b misses the last operand", in.Use)
		}
	}
	if strings.HasPrefix(l.mnemonic, "mulx") { // two results
		sources &^= named(l.operands[1])
	}
	if l.mnemonic == "xchg" || strings.HasPrefix(l.mnemonic, "xadd") {
		if missing := all &^ in.Def; missing != 0 && !in.HasMem {
			y.errorf(l, "Def %016b misses %016b", in.Def, missing)
		}
	}
	if missing := sources &^ in.Use; missing != 0 {
		y.errorf(l, "Use %016b misses %016b", in.Use, missing)
	}
}

// isHintReg: a nop's register is named and not touched.
func isHintReg(l *listed, in *Insn) bool {
	return strings.HasPrefix(l.mnemonic, "nop") || strings.HasPrefix(l.mnemonic, "ud") ||
		strings.HasPrefix(l.mnemonic, "prefetch") || in.Kind == Stop
}

// immediate compares a leading immediate, up to the operand's size.
func (y *tally) immediate(l *listed, in *Insn) {
	o := l.operands[0]
	if !strings.HasPrefix(o, "$") {
		return
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(o[1:], "0x"), 16, 64)
	if err != nil {
		y.errorf(l, "immediate %q", o)
		return
	}
	ok := in.HasImm && (in.Imm == int64(v) || uint32(in.Imm) == uint32(v) && v>>32 == 0 || uint16(in.Imm) == uint16(v) && v>>16 == 0 || uint8(in.Imm) == uint8(v) && v>>8 == 0)
	if !ok && !(l.mnemonic[0] != 'v' && !in.HasImm && v == 1) { // shifts by one have it in the opcode
		y.errorf(l, "immediate %#x, want %s", in.Imm, o)
	}
}
