package x86

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// String is an access in the notation of these tests.
func (a Access) String() string {
	var s strings.Builder
	if a.Load {
		s.WriteString("load ")
	}
	if a.Store {
		s.WriteString("store ")
	}
	fmt.Fprintf(&s, "%d [", a.Size)
	names := strings.Fields("rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15")
	m := a.Mem
	if m.Segment != 0 {
		s.WriteString(map[byte]string{0x64: "fs:", 0x65: "gs:"}[m.Segment])
	}
	if m.Base != None {
		s.WriteString(names[m.Base])
	}
	switch {
	case a.AL:
		s.WriteString("+al")
	case m.Index != None:
		fmt.Fprintf(&s, "+%s*%d", names[m.Index], m.Scale)
	}
	switch {
	case m.RIP, a.Absolute:
		fmt.Fprintf(&s, "%#x", a.Target)
	case m.Disp != 0:
		fmt.Fprintf(&s, "%+d", m.Disp)
	}
	s.WriteString("]")
	if m.Addr32 {
		s.WriteString(" addr32")
	}
	if a.Repeats {
		s.WriteString(" repeats")
	}
	return s.String()
}

// accessTable has instructions as the assembler takes them, with what they
// access, in order. "?" is an access that is not known.
const accessTable = `
lea 8(%rax), %rbx                           |
nopw 8(%rax)                                |
prefetcht0 (%rax)                           |
prefetchw (%rax)                            |
clflush (%rax)                              |
clflushopt (%rax)                           |
clwb (%rax)                                 |
cldemote (%rax)                             |
ud1 (%rax), %eax                            |
mfence                                      |
rdrand %rax                                 |
mov %rax, %rbx                              |
push %rbx                                   | store 8 [rsp-8]
push %rsp                                   | store 8 [rsp-8]
pushw %bx                                   | store 2 [rsp-2]
push $1                                     | store 8 [rsp-8]
pushq $100000                               | store 8 [rsp-8]
pushw $1000                                 | store 2 [rsp-2]
pushq 8(%rsp)                               | load 8 [rsp+8], store 8 [rsp-8]
pushw 8(%rax)                               | load 2 [rax+8], store 2 [rsp-2]
push %fs                                    | store 8 [rsp-8]
pushfq                                      | store 8 [rsp-8]
pushfw                                      | store 2 [rsp-2]
popfq                                       | load 8 [rsp]
pop %rbx                                    | load 8 [rsp]
pop %r12                                    | load 8 [rsp]
popw %bx                                    | load 2 [rsp]
popq 8(%rax)                                | load 8 [rsp], store 8 [rax+8]
popq 8(%rsp)                                | load 8 [rsp], store 8 [rsp+16]
popw 8(%rsp)                                | load 2 [rsp], store 2 [rsp+10]
popq 0x7ffffff7(%rsp)                       | load 8 [rsp], store 8 [rsp+2147483647]
popq 0x7ffffff8(%rsp)                       | load 8 [rsp], ?
call .+16                                   | store 8 [rsp-8]
call *%rax                                  | store 8 [rsp-8]
call *8(%rax)                               | load 8 [rax+8], store 8 [rsp-8]
jmp *8(,%rax,8)                             | load 8 [+rax*8+8]
jmp *%rax                                   |
jmp .                                       |
ret                                         | load 8 [rsp]
ret $8                                      | load 8 [rsp]
leave                                       | load 8 [rbp]
leavew                                      | load 2 [rbp]
enter $8, $0                                | ?
movsb                                       | load 1 [rsi], store 1 [rdi]
rep movsq                                   | load 8 [rsi] repeats, store 8 [rdi] repeats
repe cmpsb                                  | load 1 [rsi] repeats, load 1 [rdi] repeats
rep stosl                                   | store 4 [rdi] repeats
stosw                                       | store 2 [rdi]
lodsq                                       | load 8 [rsi]
repne scasb                                 | load 1 [rdi] repeats
xlat                                        | load 1 [rbx+al]
movabs 0x1122334455667788, %al              | load 1 [0x1122334455667788]
movabs 0x1122334455667788, %rax             | load 8 [0x1122334455667788]
movabs %ax, 0x1122334455667788              | store 2 [0x1122334455667788]
maskmovq %mm1, %mm2                         | store 8 [rdi]
maskmovdqu %xmm1, %xmm2                     | store 16 [rdi]
vmaskmovdqu %xmm1, %xmm2                    | store 16 [rdi]
movdir64b (%rsi), %rdx                      | load 64 [rsi], store 64 [rdx]
movdiri %rax, (%rdx)                        | store 8 [rdx]
syscall                                     | ?
clzero                                      | ?
mov %fs:0x28, %rax                          | load 8 [fs:+40]
add %eax, %gs:(%rdx)                        | load store 4 [gs:rdx]
mov (%eax,%ecx,2), %dl                      | load 1 [rax+rcx*2] addr32
xchg %eax, (%rdx)                           | load store 4 [rdx]
lock cmpxchg %rcx, (%rdx)                   | load store 8 [rdx]
cmpxchg8b (%rdx)                            | load store 8 [rdx]
cmpxchg16b (%rdx)                           | load store 16 [rdx]
lock xadd %cx, (%rdx)                       | load store 2 [rdx]
lock incb (%rdx)                            | load store 1 [rdx]
cmpb $1, (%rdx)                             | load 1 [rdx]
testl $1, (%rdx)                            | load 4 [rdx]
cmovne (%rdx), %rax                         | load 8 [rdx]
setne (%rdx)                                | store 1 [rdx]
bt %eax, (%rdx)                             | ?
lock btsq %rax, (%rdx)                      | ?
btw $3, (%rdx)                              | load 2 [rdx]
btcq $3, (%rdx)                             | load store 8 [rdx]
movslq (%rdx), %rax                         | load 4 [rdx]
.byte 0x66, 0x63, 2                         | ?
movzwl (%rdx), %eax                         | load 2 [rdx]
movsbq (%rdx), %rax                         | load 1 [rdx]
mov %ds, (%rdx)                             | store 2 [rdx]
verr (%rdx)                                 | load 2 [rdx]
lar (%rdx), %eax                            | load 2 [rdx]
movbe (%rdx), %ax                           | load 2 [rdx]
crc32b (%rdx), %rax                         | load 1 [rdx]
crc32w (%rdx), %eax                         | load 2 [rdx]
popcnt (%rdx), %ax                          | load 2 [rdx]
adcx (%rdx), %eax                           | load 4 [rdx]
adox (%rdx), %rax                           | load 8 [rdx]
movnti %rax, (%rdx)                         | store 8 [rdx]
mulx (%rdx), %rax, %rcx                     | load 8 [rdx]
andn (%rdx), %eax, %ecx                     | load 4 [rdx]
rorx $1, (%rdx), %rcx                       | load 8 [rdx]
blsr (%rdx), %ecx                           | load 4 [rdx]
fxsave (%rdx)                               | store 512 [rdx]
fxrstor64 (%rdx)                            | load 512 [rdx]
xsave (%rdx)                                | ?
xrstor (%rdx)                               | ?
xsavec (%rdx)                               | ?
xsaveopt (%rdx)                             | ?
ldmxcsr (%rdx)                              | load 4 [rdx]
vstmxcsr (%rdx)                             | store 4 [rdx]
ptwriteq (%rdx)                             | load 8 [rdx]
fldt (%rdx)                                 | load 10 [rdx]
fbstp (%rdx)                                | store 10 [rdx]
fisttpll (%rdx)                             | store 8 [rdx]
fiadds (%rdx)                               | load 2 [rdx]
fnstenv (%rdx)                              | store 28 [rdx]
frstor (%rdx)                               | load 108 [rdx]
fnsave (%rdx)                               | store 108 [rdx]
fnstcw (%rdx)                               | store 2 [rdx]
fnstsw (%rdx)                               | store 2 [rdx]
punpcklbw (%rdx), %mm0                      | load 4 [rdx]
punpckhbw (%rdx), %mm0                      | load 8 [rdx]
cvtpd2pi (%rdx), %mm0                       | load 16 [rdx]
cvtpi2ps (%rdx), %xmm0                      | load 8 [rdx]
lddqu (%rdx), %xmm0                         | load 16 [rdx]
rcpss (%rdx), %xmm0                         | load 4 [rdx]
pmovzxbq (%rdx), %xmm0                      | load 2 [rdx]
vpmovsxbd (%rdx), %ymm0                     | load 8 [rdx]
vmovddup (%rdx), %ymm0                      | load 32 [rdx]
vbroadcastf128 (%rdx), %ymm0                | load 16 [rdx]
vmaskmovps (%rdx), %ymm1, %ymm0             | ?
vpmaskmovq %ymm1, %ymm0, (%rdx)             | ?
vgatherdps %ymm1, (%rdx,%ymm2,4), %ymm0     | ?
kmovb (%rdx), %k1                           | load 1 [rdx]
kmovw (%rdx), %k1                           | load 2 [rdx]
kmovd %k1, (%rdx)                           | store 4 [rdx]
kmovq %k1, (%rdx)                           | store 8 [rdx]
vaddps (%rdx){1to16}, %zmm1, %zmm0          | load 4 [rdx]
vaddpd 64(%rdx), %zmm1, %zmm0               | load 64 [rdx+64]
vaddpd 64(%rdx), %zmm1, %zmm0{%k1}          | ?
vaddss 64(%rdx), %xmm1, %xmm0{%k1}{z}       | ?
vmovdqu64 %zmm0, (%rdx){%k2}                | ?
vmovdqu8 %ymm16, 0x12345(%rdx)              | store 32 [rdx+74565]
vpcompressd %zmm0, (%rdx)                   | ?
vpexpandb (%rdx), %zmm0                     | ?
vpscatterdd %zmm0, (%rdx,%zmm1){%k1}        | ?
vpmovqb %zmm0, (%rdx)                       | store 8 [rdx]
vpsllw (%rdx), %zmm1, %zmm0                 | load 16 [rdx]
vextracti64x4 $1, %zmm0, (%rdx)             | store 32 [rdx]
vcvtsi2sdq (%rdx), %xmm16, %xmm0            | load 8 [rdx]
vcvtph2ps (%rdx), %zmm0                     | load 32 [rdx]
vaddph (%rdx){1to32}, %zmm1, %zmm0          | load 2 [rdx]
`

// assemble returns the instructions of the lines, each decoded at a multiple of
// 32, where the next begins.
func assemble(t *testing.T, lines []string) (out []Insn) {
	t.Helper()
	as, objcopy := need(t, "as"), need(t, "objcopy")
	dir := t.TempDir()
	source, object, code := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.bin")
	var text strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&text, ".balign 32, 0x90\n%s\n", l)
	}
	if err := os.WriteFile(source, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{{as, "--64", "-o", object, source}, {objcopy, "-O", "binary", "-j", ".text", object, code}} {
		if msg, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, msg)
		}
	}
	bytes, err := os.ReadFile(code)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range lines {
		in, err := Decode(bytes[32*i:], uint64(32*i))
		if err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		out = append(out, in)
	}
	return out
}

// TestAccesses holds the table against what is said of the assembled lines.
func TestAccesses(t *testing.T) {
	var lines, wants []string
	for row := range strings.Lines(strings.TrimSpace(accessTable)) {
		line, want, ok := strings.Cut(row, "|")
		if !ok {
			t.Fatalf("row %q has no bar", row)
		}
		lines, wants = append(lines, strings.TrimSpace(line)), append(wants, strings.TrimSpace(want))
	}
	for i, in := range assemble(t, lines) {
		list, ok := in.Accesses(nil)
		var got []string
		for _, a := range list {
			got = append(got, a.String())
		}
		if !ok {
			got = append(got, "?")
		}
		if got := strings.Join(got, ", "); got != wants[i] {
			t.Errorf("%s (% x): %s, want %s", lines[i], in.Bytes, got, wants[i])
		}
	}
}

// TestAccessesRIP: the target comes with it, and the list that is given is kept.
func TestAccessesRIP(t *testing.T) {
	in, err := Decode(unhex(t, "01 05 10 00 00 00"), 0x1000) // add %eax, 16(%rip)
	if err != nil {
		t.Fatal(err)
	}
	list, ok := in.Accesses([]Access{{Size: 1}})
	if !ok || len(list) != 2 || list[1].String() != "load store 4 [0x1016]" || !list[1].Mem.RIP {
		t.Errorf("%v, %v", list, ok)
	}
}

func TestAccessesDoNotAllocate(t *testing.T) {
	in, err := Decode(unhex(t, "62 f1 f5 48 58 42 01"), 0) // vaddpd 64(%rdx), %zmm1, %zmm0
	if err != nil {
		t.Fatal(err)
	}
	list := make([]Access, 0, 2)
	if n := testing.AllocsPerRun(100, func() { list, _ = in.Accesses(list[:0]) }); n != 0 || len(list) != 1 {
		t.Errorf("%v allocations, %v", n, list)
	}
}
