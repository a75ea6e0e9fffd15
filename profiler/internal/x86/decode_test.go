package x86

import (
	"encoding/hex"
	"strings"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestIndexFits(t *testing.T) {
	if len(ops) > 255 {
		t.Fatalf("%d distinct ops do not fit a byte", len(ops))
	}
}

// TestControl has the forms of branches that compilers and linkers write, each
// at address 0x1000, with where it goes.
func TestControl(t *testing.T) {
	for _, c := range []struct {
		name, code string
		kind       Kind
		target     uint64
		relOff     int
	}{
		{"call", "e8 fb ff ff ff", Call, 0x1000, 1},
		{"addr32 call, what ld makes of call *f@GOTPCREL", "67 e8 0a 00 00 00", Call, 0x1010, 2},
		{"data16 data16 rex.W call, of __tls_get_addr", "66 66 48 e8 08 00 00 00", Call, 0x1010, 4},
		{"data16 rex.W call *, the same without a stub", "66 48 ff 15 08 00 00 00", CallInd, 0, 0},
		{"bnd call", "f2 e8 0a 00 00 00", Call, 0x1010, 2},
		{"bnd jmp", "f2 e9 0a 00 00 00", Jmp, 0x1010, 2},
		{"bnd jmp short", "f2 eb 0d", Jmp, 0x1010, 2},
		{"bnd je", "f2 0f 84 09 00 00 00", Jcc, 0x1010, 3},
		{"bnd jmp *", "f2 ff 25 09 00 00 00", JmpInd, 0, 0},
		{"bnd ret", "f2 c3", Ret, 0, 0},
		{"rep ret", "f3 c3", Ret, 0, 0},
		{"ret $8", "c2 08 00", Ret, 0, 0},
		{"notrack jmp *rax", "3e ff e0", JmpInd, 0, 0},
		{"notrack call *r12", "3e 41 ff d4", CallInd, 0, 0},
		{"jmp *table(,%rax,8)", "ff 24 c5 00 10 40 00", JmpInd, 0, 0},
		{"jne,pt", "3e 75 0d", Jcc, 0x1010, 2},
		{"jrcxz", "e3 fe", Jrcxz, 0x1000, 1},
		{"loop", "e2 0e", Jrcxz, 0x1010, 1},
		{"ud2", "0f 0b", Stop, 0, 0},
		{"hlt", "f4", Stop, 0, 0},
		{"int3", "cc", Stop, 0, 0},
		{"ud1, of clang's checks", "67 0f b9 40 0c", Stop, 0, 0},
		{"syscall", "0f 05", Normal, 0, 0},
		{"endbr64", "f3 0f 1e fa", Normal, 0, 0},
		{"xchg %ax,%ax", "66 90", Normal, 0, 0},
		{"pause", "f3 90", Normal, 0, 0},
		{"nopl", "0f 1f 44 00 00", Normal, 0, 0},
		{"data16 cs nopw", "66 66 2e 0f 1f 84 00 00 00 00 00", Normal, 0, 0},
		{"fs mov", "64 48 8b 04 25 28 00 00 00", Normal, 0, 0},
	} {
		in, err := Decode(unhex(t, c.code+"cccccccc"), 0x1000)
		want := len(unhex(t, c.code))
		if err != nil || in.Len() != want || in.Kind != c.kind || in.Target != c.target || int(in.RelOff) != c.relOff {
			t.Errorf("%s (%s): length %d, kind %d, target %#x, RelOff %d, %v", c.name, c.code, in.Len(), in.Kind, in.Target, in.RelOff, err)
		}
		for n := range want { // cut short, it is an error
			if _, err := Decode(unhex(t, c.code)[:n], 0x1000); err == nil && !strings.Contains(c.name, "x") {
				t.Errorf("%s cut to %d bytes: no error", c.name, n)
			}
		}
	}
}

// TestTouchesNothing: what only fills space has no effects.
func TestTouchesNothing(t *testing.T) {
	for _, code := range []string{"90", "66 90", "f3 90", "f3 0f 1e fa", "0f 1f c0", "fc", "c5 f8 77", "0f ae f0"} {
		in, err := Decode(unhex(t, code), 0)
		if err != nil || in.Use|in.Def != 0 || in.FlagsKilled|in.FlagsRead != 0 || in.Loads || in.Stores || in.Lock {
			t.Errorf("%s: %+v, %v", code, in, err)
		}
	}
	in, err := Decode(unhex(t, "66 2e 0f 1f 84 00 00 00 00 00"), 0) // names memory, and leaves it alone
	if err != nil || in.Def != 0 || in.Loads || in.Stores || !in.HasMem {
		t.Errorf("nopw: %+v, %v", in, err)
	}
}

// TestRefuses has what must not be decoded, and why.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       error
	}{
		{"call rel16 or rel32, as the maker likes", "66 e8 00 00 00 00", ErrPrefix},
		{"jmp rel16", "66 e9 00 00 00 00", ErrPrefix},
		{"jcc rel16", "66 0f 84 00 00 00 00", ErrPrefix},
		{"16-bit ret", "66 c3", ErrPrefix},
		{"16-bit jmp *", "66 ff e0", ErrPrefix},
		{"jecxz", "67 e3 00", ErrPrefix},
		{"eip-relative", "67 8b 05 00 00 00 00", ErrPrefix},
		{"movs with esi, edi", "67 a4", ErrPrefix},
		{"both rep and repne", "f2 f3 a4", ErrPrefix},
		{"fs and gs", "64 65 8b 00", ErrPrefix},
		{"lock mov", "f0 89 00", ErrPrefix},
		{"lock add to a register", "f0 01 c0", ErrPrefix},
		{"rex before a prefix", "48 66 90", ErrUnknown},
		{"xbegin", "c7 f8 00 00 00 00", ErrUnknown},
		{"xabort", "c6 f8 00", ErrUnknown},
		{"xend", "0f 01 d5", ErrSystem},
		{"far call", "ff 1f", ErrSystem},
		{"far jmp", "ff 2f", ErrSystem},
		{"lret", "cb", ErrUnknown},
		{"iretq", "48 cf", ErrUnknown},
		{"XOP", "8f e8 78 c0 c1 01", ErrUnknown},
		{"REX2", "d5 10 01 c0", ErrUnknown},
		{"EVEX map 4 (APX)", "62 f4 7c 08 01 c0", ErrUnknown},
		{"EVEX with a register above 15 as base (APX)", "62 f9 7c 48 10 00", ErrUnknown},
		{"VEX with 66", "66 c5 f8 57 c0", ErrPrefix},
		{"VEX with REX", "48 c5 f8 57 c0", ErrPrefix},
		{"VEX map 7", "c4 e7 7b f8 c0 00 00 00 00", ErrUnknown},
		{"int 0x80", "cd 80", ErrSystem},
		{"mov to gs", "8e e8", ErrSystem},
		{"wrgsbase", "f3 48 0f ae d8", ErrSystem},
		{"in", "ed", ErrUnknown},
		{"push es", "06", ErrUnknown},
		{"ff /7", "ff f8", ErrUnknown},
		{"lea of a register", "8d c0", ErrUnknown},
		{"16 bytes", "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", ErrTooLong},
		{"nothing", "", ErrTruncated},
		{"prefixes only", "66 f0", ErrTruncated},
	} {
		in, err := Decode(unhex(t, c.code), 0)
		if err != c.want {
			t.Errorf("%s (%s): %d bytes, %v; want %v", c.name, c.code, in.Len(), err, c.want)
		}
		if in.Bytes != nil || in.Kind != Normal {
			t.Errorf("%s: an instruction besides the error", c.name)
		}
	}
}

// TestEffects has what objdump's text does not show.
func TestEffects(t *testing.T) {
	for _, c := range []struct {
		name, code string
		use, def   Regs
		read, kill Flags
	}{
		{"mov %ah,%bl", "88 e3", ax | bx, bx, 0, 0},
		{"mov %spl,%bl", "40 88 e3", stack | bx, bx, 0, 0},
		{"mov %eax,%ebx", "89 c3", ax, bx, 0, 0},
		{"mov %ax,%bx keeps the rest of rbx", "66 89 c3", ax | bx, bx, 0, 0},
		{"mov $1,%al", "b0 01", ax, ax, 0, 0},
		{"sete %al", "0f 94 c0", ax, ax, ZF, 0},
		{"cmovl %ecx,%eax", "0f 4c c1", ax | cx, ax, SF | OF, 0},
		{"mul %rcx", "48 f7 e1", ax | cx, ax | dx, 0, CF | OF},
		{"mul %cl", "f6 e1", ax | cx, ax, 0, CF | OF},
		{"div %rcx", "48 f7 f1", ax | cx | dx, ax | dx, 0, 0},
		{"cqo", "48 99", ax, dx, 0, 0},
		{"cwd", "66 99", ax | dx, dx, 0, 0},
		{"shl %cl,%eax", "d3 e0", ax | cx, ax, 0, 0},
		{"shl $0,%eax", "c1 e0 20", ax, ax, 0, 0},
		{"shl $32,%rax", "48 c1 e0 20", ax, ax, 0, CF | ZF | SF | PF},
		{"shl $9,%al", "c0 e0 09", ax, ax, 0, ZF | SF | PF},
		{"rol $1,%eax", "d1 c0", ax, ax, 0, CF | OF},
		{"rep movsb", "f3 a4", si | di | cx, si | di | cx, 0, 0},
		{"repe cmpsb", "f3 a6", si | di | cx, si | di | cx, 0, 0},
		{"cmpsb", "a6", si | di, si | di, 0, AllFlags},
		{"stosq", "48 ab", ax | di, di, 0, 0},
		{"push %r12", "41 54", stack | 1<<R12, stack, 0, 0},
		{"pop %r12", "41 5c", stack, stack | 1<<R12, 0, 0},
		{"leave", "c9", stack | bp, stack | bp, 0, 0},
		{"cpuid", "0f a2", ax | cx, ax | bx | cx | dx, 0, 0},
		{"rdtsc", "0f 31", 0, ax | dx, 0, 0},
		{"xgetbv", "0f 01 d0", cx, ax | dx, 0, 0},
		{"cmpxchg %ecx,(%rdi)", "0f b1 0f", ax | cx | di, ax, 0, AllFlags},
		{"cmpxchg16b (%rdi)", "48 0f c7 0f", ax | bx | cx | dx | di, ax | dx, 0, ZF},
		{"mulx %rcx,%rax,%rbx", "c4 e2 fb f6 d9", cx | dx, ax | bx, 0, 0},
		{"vpextrw $1,%xmm0,%eax", "c5 f9 c5 c0 01", 0, ax, 0, 0},
		{"vmovq %xmm0,%rax", "c4 e1 f9 7e c0", 0, ax, 0, 0},
		{"vmovq %rax,%xmm0", "c4 e1 f9 6e c0", ax, 0, 0, 0},
		{"pcmpestri", "66 0f 3a 61 c1 00", ax | cx | dx, cx, 0, AllFlags}, // its 66 is taken for an operand size: rcx too much
		{"maskmovdqu", "66 0f f7 c1", di, 0, 0, 0},
		{"fnstsw %ax", "df e0", ax, ax, 0, 0},
		{"jle", "7e 00", 0, 0, ZF | SF | OF, 0},
		{"syscall", "0f 05", AllRegs, ax | cx | 1<<R11, 0, 0},
		{"call *%rax", "ff d0", AllRegs, AllRegs, 0, AllFlags},
	} {
		in, err := Decode(unhex(t, c.code), 0)
		if err != nil || in.Use != c.use || in.Def != c.def || in.FlagsRead != c.read || in.FlagsKilled != c.kill {
			t.Errorf("%s: use %016b, def %016b, reads %06b, kills %06b, %v", c.name, in.Use, in.Def, in.FlagsRead, in.FlagsKilled, err)
		}
	}
}

// TestDecodeAllocatesNothing: programs have millions of instructions.
func TestDecodeAllocatesNothing(t *testing.T) {
	good, bad := unhex(t, "62 f1 fe 48 6f 50 01"), unhex(t, "06")
	n := testing.AllocsPerRun(100, func() {
		if _, err := Decode(good, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(bad, 0); err == nil {
			t.Fatal("no error")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzDecode decodes arbitrary bytes: what is decoded is a prefix of them and
// does not depend on what follows, and the fields agree with each other.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"e8 00 00 00 00", "62 f1 fe 48 6f 50 01", "c4 e2 fb f6 d9", "66 66 2e 0f 1f 84 00 00 00 00 00", "48 8d 05 00 00 00 00", "d9 7c 24 02", "f0 48 0f c7 0f"} {
		f.Add(unhex(f, s), uint64(0x401000))
	}
	f.Fuzz(func(t *testing.T, code []byte, addr uint64) {
		in, err := Decode(code, addr)
		if err != nil {
			if in.Bytes != nil {
				t.Fatal("an instruction besides the error")
			}
			return
		}
		n := in.Len()
		if n < 1 || n > 15 || n > len(code) || &in.Bytes[0] != &code[0] {
			t.Fatalf("length %d of %d", n, len(code))
		}
		again, err := Decode(in.Bytes, addr)
		if err != nil || again.Len() != n || again.Use != in.Use || again.Def != in.Def || again.Kind != in.Kind {
			t.Fatalf("its own bytes: %+v, %v", again, err)
		}
		list, ok := in.Accesses(nil)
		if ok && len(list) == 0 && (in.Loads || in.Stores) {
			t.Fatal("no access, but it loads or stores")
		}
		for _, a := range list {
			if a.Size < 1 || a.Size > 512 || !a.Load && !a.Store {
				t.Fatalf("access %v", a)
			}
		}
		if _, err := Decode(code[:n-1], addr); err != ErrTruncated {
			t.Fatalf("without the last byte: %v", err)
		}
		if in.RIPOff != 0 && (int(in.RIPOff)+4 > n || !in.Mem.RIP) || in.RelOff != 0 && int(in.RelOff) >= n {
			t.Fatalf("RIPOff %d, RelOff %d of %d", in.RIPOff, in.RelOff, n)
		}
		direct := in.Kind == Jmp || in.Kind == Jcc || in.Kind == Jrcxz || in.Kind == Call
		if direct != (in.RelOff != 0) {
			t.Fatalf("kind %d, RelOff %d", in.Kind, in.RelOff)
		}
		if !in.HasMem && (in.Mem.RIP || in.Mem.Base != None || in.Mem.Index != None) {
			t.Fatalf("%+v without memory", in.Mem)
		}
	})
}

// TestAdds: what is added, in whatever encoding, and of nothing else.
func TestAdds(t *testing.T) {
	for code, want := range map[string]int64{
		"4883c008": 8, "4883e8f8": 8, "4881e900010000": -256, "80c47f": 127, "48ffc0": 1, "fec8": -1, "f0830701": 1, "f0832f01": -1, "f0ff4d00": -1,
		"4883f800": 0, "4883c800": 0, "ffd0": 0, "ff30": 0, "4801c8": 0, "480fc1c8": 0, "c5fdfec1": 0, "8306ff": -1,
	} {
		b, _ := hex.DecodeString(code)
		in, err := Decode(b, 0)
		if err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		if n, ok := in.Adds(); n != want || ok != (want != 0) {
			t.Errorf("%s adds %d, %v; want %d", code, n, ok, want)
		}
	}
}
