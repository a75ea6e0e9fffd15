package x86

import (
	"strings"
	"testing"
)

// ptrSizes are the words before PTR and BCST in Intel's notation.
var ptrSizes = map[string]int{
	"BYTE": 1, "WORD": 2, "DWORD": 4, "FWORD": 6, "QWORD": 8, "TBYTE": 10, "OWORD": 16, "XMMWORD": 16, "YMMWORD": 32, "ZMMWORD": 64,
}

// otherSizes are of operands that objdump says no size of, or not that of the
// access.
var otherSizes = map[string]int{
	// No size: what is stored is a structure, or so it was thought of lddqu.
	"fldenv": 28, "fnstenv": 28, "frstor": 108, "fnsave": 108, "fldenvw": 14, "fnstenvw": 14, "frstorw": 94, "fnsavew": 94,
	"fxsave": 512, "fxsave64": 512, "fxrstor": 512, "fxrstor64": 512, "movdir64b": 64, "lddqu": 16,
}

// notKnownMnemonics are the mnemonics of what accesses memory at places, or in sizes,
// that are not known before.
var notKnownMnemonics = words(`enter enterw syscall clzero xsave xsave64 xsaveopt xsaveopt64 xsavec xsavec64 xrstor xrstor64
	bt bts btr btc vmaskmovps vmaskmovpd vpmaskmovd vpmaskmovq
	vpgatherdd vpgatherdq vpgatherqd vpgatherqq vgatherdps vgatherdpd vgatherqps vgatherqpd
	vpexpandb vpexpandw vpexpandd vpexpandq vexpandps vexpandpd vpcompressb vpcompressw vpcompressd vpcompressq vcompressps vcompresspd`)

// expectNotKnown reports whether the access is one of those.
func expectNotKnown(l *listed, in *Insn) bool {
	switch {
	case l.mnemonic[0] == 'b': // bt with an immediate is known
		return in.HasMem && !in.HasImm && notKnownMnemonics[l.mnemonic]
	case l.mnemonic == "movsxd": // to 16 bits: processors differ
		return in.HasMem && in.Opsize && in.Rex&8 == 0
	case notKnownMnemonics[l.mnemonic]:
		return in.HasMem || l.mnemonic[0] != 'v'
	}
	return in.HasMem && strings.Contains(l.text, "{k")
}

// sizes compares the size of the operand in memory with a line in Intel's
// notation.
func (y *tally) sizes(l *listed) {
	in, err := Decode(l.code, l.addr)
	if err != nil || in.Len() != len(l.code) {
		return // compare says so
	}
	y.compared++
	y.mnemonics[l.mnemonic]++
	var memory [3]Access
	list, ok := in.Accesses(memory[:0])
	for _, a := range list {
		if a.Size <= 0 || !a.Load && !a.Store {
			y.errorf(l, "access %v", a)
		}
	}
	if ok == expectNotKnown(l, &in) {
		y.errorf(l, "known: %v: %v", ok, list)
	}
	if !ok || !in.HasMem && !in.IsString() { // TestAccesses has what is implied
		return
	}
	want, named := otherSizes[l.mnemonic]
	switch {
	case class(notAccessed, l.mnemonic):
		want = 0
	case l.mnemonic == "vlddqu":
		want = 16
		if strings.Contains(l.text, "ymm") {
			want = 32
		}
	case named && in.Rex&8 != 0 && strings.HasSuffix(l.mnemonic, "w"):
		want += 14 // REX.W overrides the 66 prefix; TestEffectsExecuted tried it
	case !named:
		want = ptrSize(l.text)
	}
	size := 0
	if len(list) > 0 {
		size = list[0].Size
	}
	if in.Map == 0 && in.Opcode == 0x8f { // pop
		size = list[1].Size
	}
	if size != want {
		y.errorf(l, "size %d, want %d: %v", size, want, list)
	}
}

// ptrSize is the size that the text of an instruction says; 0: none.
func ptrSize(text string) int {
	for _, mark := range []string{" PTR ", " BCST "} {
		if i := strings.Index(text, mark); i >= 0 {
			before := text[:i]
			return ptrSizes[before[strings.LastIndexAny(before, " ,\t")+1:]]
		}
	}
	return 0
}

// TestSizesOfEncodings compares sizes with objdump on the made-up code of
// TestEncodings, as far as it has an operand in memory: all instructions are in
// it, those of x87 and AVX-512 among them.
func TestSizesOfEncodings(t *testing.T) {
	need(t, "objdump")
	y := newTally(t)
	y.intel = true
	dir := t.TempDir()
	for _, family := range encodings() {
		var codes [][]byte
		for _, code := range family.codes {
			if in, err := Decode(code, 0); err == nil && (in.HasMem || in.Loads || in.Stores) {
				codes = append(codes, code)
			}
		}
		y.slots(dir, codes)
	}
	y.report()
}

// TestSizesOfPrograms does so with what compilers, and people, have written.
func TestSizesOfPrograms(t *testing.T) {
	need(t, "objdump")
	y := newTally(t)
	y.intel = true
	for _, f := range programs() {
		before := y.compared
		if err := y.listing(before+400_000, "-d", "-w", "-z", f); err != nil {
			t.Errorf("objdump %s: %v", f, err)
		}
		t.Logf("%s: %d instructions", f, y.compared-before)
	}
	y.report()
}
