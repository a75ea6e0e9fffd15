package x86

import (
	"strconv"
	"strings"
)

// notAccessed have a memory operand that is only an address, or a hint.
var notAccessed = words(`lea nop prefetchnta prefetcht0 prefetcht1 prefetcht2 prefetchw prefetch prefetchwt1 clflush clflushopt clwb cldemote
	ud1 ud0 bndcl bndcu bndcn bndmk bndmov bndldx bndstx prefetchit0 prefetchit1 prefetchrst2 nopw nopl nopq rdsspq rdsspd`)

// parseMem reads an operand such as -0x8(%rax,%rbx,4) or %fs:0x10; ok is false
// if it is none.
func parseMem(o string) (m Mem, disp int64, ok bool) {
	if strings.HasPrefix(o, "{") { // a rounding mode
		return m, 0, false
	}
	o = strings.TrimPrefix(o, "*")
	m.Base, m.Index = None, None
	if i := strings.IndexByte(o, '{'); i >= 0 {
		o = o[:i]
	}
	if seg, rest, found := strings.Cut(o, ":"); found {
		switch seg {
		case "%fs":
			m.Segment = 0x64
		case "%gs":
			m.Segment = 0x65
		}
		o = rest
	}
	number, inside, paren := strings.Cut(o, "(")
	if !paren && (strings.HasPrefix(o, "%") || strings.HasPrefix(o, "$")) {
		return m, 0, false
	}
	if number != "" {
		negative := strings.HasPrefix(number, "-")
		v, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimPrefix(number, "-"), "0x"), 16, 64)
		if err != nil {
			return m, 0, false
		}
		disp = int64(v)
		if negative {
			disp = -disp
		}
	}
	parts := strings.Split(strings.TrimSuffix(inside, ")"), ",")
	if n := parts[0]; n == "%rip" {
		m.RIP = true
	} else if strings.HasPrefix(n, "%") {
		m.Base = registerNames[n[1:]]
		m.Addr32 = n[1] == 'e' || n[len(n)-1] == 'd'
	}
	if len(parts) == 3 && parts[1] != "%riz" && parts[1] != "%eiz" {
		n := parts[1][1:]
		if r, known := registerNames[n]; known {
			m.Index = r
			s, _ := strconv.Atoi(parts[2])
			m.Scale = uint8(s)
			m.Addr32 = n[0] == 'e' || n[len(n)-1] == 'd'
		} else {
			m.Vector = true
		}
	}
	return m, disp, true
}

// memoryOperand compares the memory operand and what is done with it.
func (y *tally) memoryOperand(l *listed, in *Insn) {
	at := -1
	var want Mem
	var disp int64
	if in.RelOff == 0 {
		for i, o := range l.operands {
			if m, d, ok := parseMem(o); ok {
				at, want, disp = i, m, d
			}
		}
	}
	implied := class(words("movabs xlat maskmovdqu vmaskmovdqu maskmovq enter"), l.mnemonic) || l.mnemonic == "mov" && !in.HasModRM
	if at < 0 || implied {
		if in.HasMem {
			y.errorf(l, "a memory operand %+v, want none", in.Mem)
		}
		if (in.Loads || in.Stores) && !implied && l.mnemonic != "syscall" && l.mnemonic != "clzero" {
			y.errorf(l, "loads %v, stores %v, but has no memory operand", in.Loads, in.Stores)
		}
		return
	}
	got := in.Mem
	want.Disp = got.Disp
	if want.Base == None && want.Index == None {
		want.Addr32 = got.Addr32 // not to be seen in the text
	}
	if got.Vector { // nor these
		want.Addr32, want.Scale = got.Addr32, got.Scale
	}
	if l.mnemonic == "movdir64b" || strings.HasPrefix(l.mnemonic, "bnd") {
		want.Addr32 = got.Addr32
	}
	if !in.HasMem || got != want {
		y.errorf(l, "memory operand %+v, want %+v", got, want)
	}
	// Broadcasting what is not for it is no instruction, but objdump scales by it.
	odd := strings.Contains(l.text, "{1to") && (strings.HasPrefix(l.mnemonic, "vmov") || strings.HasPrefix(l.mnemonic, "vpmov"))
	if !odd && int64(got.Disp) != disp && uint32(got.Disp) != uint32(disp) {
		y.errorf(l, "displacement %#x, want %#x", got.Disp, disp)
	}
	loads, stores := true, false
	switch m := l.mnemonic; {
	case class(notAccessed, m):
		loads = false
	case m == "movdir64b":
		stores = true
	case m == "syscall":
		return
	case at < len(l.operands)-1 && !strings.HasPrefix(m, "xchg"):
	case class(readsLast, m), m == "imul" && len(l.operands) == 1, strings.HasPrefix(m, "imul"):
	case class(writesLast, m), strings.HasPrefix(m, "set"), m[0] == 'v', strings.HasPrefix(m, "vp"):
		loads, stores = false, true
	case strings.HasPrefix(m, "sha") && strings.HasPrefix(m, "sha1") || strings.HasPrefix(m, "sha256"):
	default:
		stores = true
	}
	if in.Loads != loads || in.Stores != stores {
		y.errorf(l, "loads %v, stores %v, want %v, %v", in.Loads, in.Stores, loads, stores)
	}
	lock := strings.HasPrefix(l.mnemonic, "xchg")
	for _, p := range l.prefixes {
		lock = lock || p == "lock"
	}
	if in.Lock != lock {
		y.errorf(l, "lock %v, want %v", in.Lock, lock)
	}
}
