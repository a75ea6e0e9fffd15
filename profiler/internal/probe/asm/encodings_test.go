package asm

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

const (
	base     = uint64(probetest.CodeAt)
	memory   = uint64(probetest.MemoryAt)
	memBytes = 4096
	slot     = 0x200 // of memory: holds the address that indirect jumps go to
	word     = 0x40  // of memory: what instructions on GS work on
)

// Instructions of a program that read a table: jmp *0x40(,%rax,8) and mov 0x40(,%r9,8),%r10.
var (
	jumpByTable, _ = x86.Decode([]byte{0xff, 0x24, 0xc5, 0x40, 0, 0, 0}, 0)
	loadByTable, _ = x86.Decode([]byte{0x4e, 0x8b, 0x14, 0xcd, 0x40, 0, 0, 0}, 0)
)

// encoding is one instruction: what the assembler is asked for, what other
// disassemblers call it, what package x86 reads, and what it does.
type encoding struct {
	write   func(a *Assembler)
	text    string // objdump's; @n stands for the address n bytes behind the instruction's first
	decoded string // describe's
	// does changes a state as the instruction is to. nil: see branches_test.go.
	does func(s *state)
}

// encodings are all instructions that have no target in the code.
var encodings = []encoding{
	{func(a *Assembler) { a.IncGS(word) }, "incq %gs:0x40", "0:ff/0 gs:0x40 r0", (*state).inc},
	{func(a *Assembler) { a.AddGS(word, x86.RBX) }, "add %rbx,%gs:0x40", "0:01/3 gs:0x40 r3", func(s *state) { s.put(s.add(s.word(), s.Regs[x86.RBX])) }},
	{func(a *Assembler) { a.AddGS(word, x86.R13) }, "add %r13,%gs:0x40", "0:01/5 gs:0x40 r13", func(s *state) { s.put(s.add(s.word(), s.Regs[x86.R13])) }},
	{func(a *Assembler) { a.SubGS(word, x86.RSI) }, "sub %rsi,%gs:0x40", "0:29/6 gs:0x40 r6", func(s *state) { s.put(s.sub(s.word(), s.Regs[x86.RSI])) }},
	{func(a *Assembler) { a.SubGS(word, x86.R8) }, "sub %r8,%gs:0x40", "0:29/0 gs:0x40 r8", func(s *state) { s.put(s.sub(s.word(), s.Regs[x86.R8])) }},
	{func(a *Assembler) { a.CmpGS(word, x86.R11) }, "cmp %r11,%gs:0x40", "0:39/3 gs:0x40 r11", func(s *state) { s.sub(s.word(), s.Regs[x86.R11]) }},
	{func(a *Assembler) { a.LoadGS(x86.RDX, word) }, "mov %gs:0x40,%rdx", "0:8b/2 gs:0x40 r2", func(s *state) { s.Regs[x86.RDX] = s.word() }},
	{func(a *Assembler) { a.LoadGS(x86.R9, word) }, "mov %gs:0x40,%r9", "0:8b/1 gs:0x40 r9", func(s *state) { s.Regs[x86.R9] = s.word() }},
	{func(a *Assembler) { a.CmpGSAt(word, x86.RCX, x86.R11) }, "cmp %r11,%gs:0x40(%rcx)", "0:39/3 gs:r1+0r-1+64 r11", nil},
	{func(a *Assembler) { a.CmpGSAt(word, x86.R12, x86.RAX) }, "cmp %rax,%gs:0x40(%r12)", "0:39/0 gs:r12+0r-1+64 r0", nil},
	{func(a *Assembler) { a.CmpGSAt(word, x86.R9, x86.R10) }, "cmp %r10,%gs:0x40(%r9)", "0:39/2 gs:r9+0r-1+64 r10", nil},
	{func(a *Assembler) { a.XorFromGSAt(word, x86.R9, x86.R10) }, "xor %gs:0x40(%r9),%r10", "0:33/2 gs:r9+0r-1+64 r10", nil},
	{func(a *Assembler) { a.XorGSAt(word, x86.R9, x86.R10) }, "xor %r10,%gs:0x40(%r9)", "0:31/2 gs:r9+0r-1+64 r10", nil},
	{func(a *Assembler) { a.CmpGSAt32(word, x86.RCX, 7) }, "cmpl $0x7,%gs:0x40(%rcx)", "0:81/7 gs:r1+0r-1+64 r7 7", nil},
	{func(a *Assembler) { a.MovGSAt32(x86.RCX, word, x86.RCX) }, "mov %gs:0x40(%rcx),%ecx", "0:8b/1 gs:r1+0r-1+64 r1", nil},
	{func(a *Assembler) { a.IncGSEighth(word, x86.RCX) }, "incq %gs:0x40(,%rcx,8)", "0:ff/0 gs:r-1+8r1+64 r0", nil},
	{func(a *Assembler) { a.LoadOffset(x86.RAX, &x86.Mem{Base: x86.RDX, Index: x86.RAX, Scale: 4}, 1<<64-8) }, "movslq -0x8(%rdx,%rax,4),%rax", "0:63/0 r2-8 r0", nil},
	{func(a *Assembler) { a.LoadOffset(x86.R9, &x86.Mem{Base: x86.R14, Index: x86.R13, Scale: 4}, 0x1000) }, "movslq 0x1000(%r14,%r13,4),%r9", "0:63/1 r14+4096 r9", nil},
	{func(a *Assembler) { a.LoadOffset(x86.RCX, &x86.Mem{Base: x86.R12, Index: x86.RBP, Scale: 4}, 0) }, "movslq 0x0(%r12,%rbp,4),%rcx", "0:63/1 r12+0 r1", nil},
	{func(a *Assembler) { a.CopyAt(&jumpByTable, 0x1234) }, "jmp *0x1234(,%rax,8)", "0:ff/4 jmp* r-1+4660", nil},
	{func(a *Assembler) { a.CopyAt(&loadByTable, 0x1234) }, "mov 0x1234(,%r9,8),%r10", "0:8b/2 r-1+4660 r10", nil},
	{func(a *Assembler) { a.ImulImm32(x86.RCX, x86.R11, -5) }, "imul $0xfffffffb,%r11d,%ecx", "0:69/1 r1 r11 -5", nil},
	{func(a *Assembler) { a.Imul(x86.R9, x86.R9, -8) }, "imul $0xfffffffffffffff8,%r9,%r9", "0:69/1 r9 r9 -8", nil},
	{func(a *Assembler) { a.Imul(x86.RCX, x86.R11, 24) }, "imul $0x18,%r11,%rcx", "0:69/1 r1 r11 24", nil},
	{func(a *Assembler) { a.Not(x86.RCX) }, "not %rcx", "0:f7/2 r2 r1", func(s *state) { s.Regs[x86.RCX] = ^s.Regs[x86.RCX] }},
	{func(a *Assembler) { a.Not(x86.R10) }, "not %r10", "0:f7/2 r2 r10", func(s *state) { s.Regs[x86.R10] = ^s.Regs[x86.R10] }},
	{func(a *Assembler) { a.Cmp(x86.RDX, x86.R9) }, "cmp %r9,%rdx", "0:39/1 r9 r2", func(s *state) { s.sub(s.Regs[x86.RDX], s.Regs[x86.R9]) }},
	{func(a *Assembler) { a.CmovBelow(x86.R11, x86.RSI) }, "cmovb %rsi,%r11", "1:42/3 r11 r6", nil},
	{func(a *Assembler) { a.CmpRSP(-112, x86.R10) }, "cmp %r10,-0x70(%rsp)", "0:39/2 r4-112 r10", func(s *state) { s.sub(s.at(s.Regs[x86.RSP]-112), s.Regs[x86.R10]) }},
	{func(a *Assembler) { a.ShrImm8(x86.RCX, 20) }, "shr $0x14,%ecx", "0:c1/5 r5 r1 20", nil},
	{func(a *Assembler) { a.AndImm32(x86.RCX, 0xff0) }, "and $0xff0,%ecx", "0:81/4 r4 r1 4080", nil},
	{func(a *Assembler) { a.AndImm32(x86.R10, 0xfc0) }, "and $0xfc0,%r10d", "0:81/4 r4 r10 4032", nil},
	{func(a *Assembler) { a.Shr(x86.R9, 6) }, "shr $0x6,%r9", "0:c1/5 r5 r9 6", nil},
	{func(a *Assembler) { a.TestEAX(0x12345608) }, "test $0x12345608,%eax", "0:a9 305419784", nil},
	{func(a *Assembler) { a.AddFS(x86.R9) }, "add %fs:0x0,%r9", "0:03/1 r-1+0 r9", nil},
	{func(a *Assembler) { a.LeaReg(x86.R8, x86.RDX, 7) }, "lea 0x7(%rdx),%r8", "0:8d/0 r2+7 r8", func(s *state) { s.Regs[x86.R8] = s.Regs[x86.RDX] + 7 }},
	{func(a *Assembler) { a.LeaReg(x86.RAX, x86.R12, 7) }, "lea 0x7(%r12),%rax", "0:8d/0 r12+7 r0", func(s *state) { s.Regs[x86.RAX] = s.Regs[x86.R12] + 7 }},
	{func(a *Assembler) { a.LeaMem(x86.RAX, &x86.Mem{Base: x86.RSP, Index: x86.None, Disp: -8}, 0, 136) }, "lea 0x80(%rsp),%rax", "0:8d/0 r4+128 r0", func(s *state) { s.Regs[x86.RAX] = s.Regs[x86.RSP] + 128 }},
	{func(a *Assembler) { a.CallReg(x86.R11) }, "call *%r11", "0:ff/2 call*", nil},
	{func(a *Assembler) { a.JmpReg(x86.R11) }, "jmp *%r11", "0:ff/4 jmp*", nil},
	{func(a *Assembler) { a.LoadGS32(x86.RDX, word) }, "mov %gs:0x40,%edx", "0:8b/2 gs:0x40 r2", nil},
	{func(a *Assembler) { a.StoreGS32(word, x86.RDX) }, "mov %edx,%gs:0x40", "0:89/2 gs:0x40 r2", nil},
	{func(a *Assembler) { a.PushGS(word) }, "rex.W push %gs:0x40", "0:ff/6 gs:0x40 r6", func(s *state) { s.push(s.word()) }},
	{func(a *Assembler) { a.Load(x86.RDI, x86.RDI, true) }, "mov (%rdi),%rdi", "0:8b/7 r7+0 r7", nil},
	{func(a *Assembler) { a.Load(x86.RDI, x86.RDX, false) }, "mov (%rdx),%edi", "0:8b/7 r2+0 r7", nil},
	{func(a *Assembler) { a.Mov(x86.RDI, x86.R12, true) }, "mov %r12,%rdi", "0:89/4 r12 r7", func(s *state) { s.Regs[x86.RDI] = s.Regs[x86.R12] }},
	{func(a *Assembler) { a.Mov(x86.RDI, x86.RBX, false) }, "rex mov %ebx,%edi", "0:89/3 r3 r7", func(s *state) { s.Regs[x86.RDI] = uint64(uint32(s.Regs[x86.RBX])) }},
	{func(a *Assembler) { a.Push(x86.RAX) }, "push %rax", "0:50", func(s *state) { s.push(s.Regs[x86.RAX]) }},
	{func(a *Assembler) { a.Push(x86.R9) }, "push %r9", "0:51", func(s *state) { s.push(s.Regs[x86.R9]) }},
	{func(a *Assembler) { a.Pop(x86.RAX) }, "pop %rax", "0:58", func(s *state) { s.Regs[x86.RAX] = s.pop() }},
	{func(a *Assembler) { a.Pop(x86.R15) }, "pop %r15", "0:5f", func(s *state) { s.Regs[x86.R15] = s.pop() }},
	{func(a *Assembler) { a.MovImm64(x86.RDX, 0x8000000000000123) }, "movabs $0x8000000000000123,%rdx", "0:ba -9223372036854775517", func(s *state) { s.Regs[x86.RDX] = 0x8000000000000123 }},
	{func(a *Assembler) { a.MovImm64(x86.R9, 5) }, "movabs $0x5,%r9", "0:b9 5", func(s *state) { s.Regs[x86.R9] = 5 }},
	{func(a *Assembler) { a.Bt(x86.RAX, x86.R11) }, "bt %r11,%rax", "1:a3/3 r11 r0", nil},
	{func(a *Assembler) { a.Bt(x86.R10, x86.RCX) }, "bt %rcx,%r10", "1:a3/1 r1 r10", nil},
	{func(a *Assembler) { a.MovImm32(x86.RAX, 0xfedcba98) }, "mov $0xfedcba98,%eax", "0:b8 -19088744", func(s *state) { s.Regs[x86.RAX] = 0xfedcba98 }},
	{func(a *Assembler) { a.MovImm32(x86.R11, 0x80000001) }, "mov $0x80000001,%r11d", "0:bb -2147483647", func(s *state) { s.Regs[x86.R11] = 0x80000001 }},
	{func(a *Assembler) { a.LeaRSP(-128) }, "lea -0x80(%rsp),%rsp", "0:8d/4 r4-128 r4", func(s *state) { s.Regs[x86.RSP] -= 128 }},
	{func(a *Assembler) { a.LeaRSP(127) }, "lea 0x7f(%rsp),%rsp", "0:8d/4 r4+127 r4", func(s *state) { s.Regs[x86.RSP] += 127 }},
	{func(a *Assembler) { a.SaveRSP(-128, x86.R9) }, "mov %r9,-0x80(%rsp)", "0:89/1 r4-128 r9", func(s *state) { s.setAt(s.Regs[x86.RSP]-128, s.Regs[x86.R9]) }},
	{func(a *Assembler) { a.RestoreRSP(x86.RDI, -120) }, "mov -0x78(%rsp),%rdi", "0:8b/7 r4-120 r7", func(s *state) { s.Regs[x86.RDI] = s.at(s.Regs[x86.RSP] - 120) }},
	{func(a *Assembler) { a.LeaRSP(128) }, "lea 0x80(%rsp),%rsp", "0:8d/4 r4+128 r4", func(s *state) { s.Regs[x86.RSP] += 128 }},
	{func(a *Assembler) { a.AddImm8(x86.RSP, 8) }, "add $0x8,%rsp", "0:83/0 r0 r4 8", func(s *state) { s.Regs[x86.RSP] = s.add(s.Regs[x86.RSP], 8) }},
	{func(a *Assembler) { a.AddImm8(x86.R10, -3) }, "add $0xfffffffffffffffd,%r10", "0:83/0 r0 r10 -3", func(s *state) { s.Regs[x86.R10] = s.add(s.Regs[x86.R10], ^uint64(2)) }},
	{func(a *Assembler) { a.SubImm8(x86.RSP, 8) }, "sub $0x8,%rsp", "0:83/5 r5 r4 8", func(s *state) { s.Regs[x86.RSP] = s.sub(s.Regs[x86.RSP], 8) }},
	{func(a *Assembler) { a.Lahf() }, "lahf", "0:9f", func(s *state) { s.setAH(s.lowFlags()) }},
	{func(a *Assembler) { a.Sahf() }, "sahf", "0:9e", (*state).sahf},
	{func(a *Assembler) { a.SetoAL() }, "seto %al", "1:90/0 r0 r0", func(s *state) { s.setAL(byte(s.Flags & x86.OF / x86.OF)) }},
	{func(a *Assembler) { a.AddAL(127) }, "add $0x7f,%al", "0:04 127", (*state).add127},
	{func(a *Assembler) { a.Nop(1) }, "nop", "0:90", func(*state) {}},
	{func(a *Assembler) { a.Nop(2) }, "xchg %ax,%ax", "0:90", func(*state) {}},
	{func(a *Assembler) { a.Nop(3) }, "nopl (%rax)", "1:1f/0 r0+0", func(*state) {}},
	{func(a *Assembler) { a.Nop(4) }, "nopl 0x0(%rax)", "1:1f/0 r0+0", func(*state) {}},
	{func(a *Assembler) { a.Nop(5) }, "nopl 0x0(%rax,%rax,1)", "1:1f/0 r0+0", func(*state) {}},
	{func(a *Assembler) { a.Nop(6) }, "nopw 0x0(%rax,%rax,1)", "1:1f/0 r0+0", func(*state) {}},
	{func(a *Assembler) { a.Nop(7) }, "nopl 0x0(%rax)", "1:1f/0 r0+0", func(*state) {}},
	{func(a *Assembler) { a.Nop(8) }, "nopl 0x0(%rax,%rax,1)", "1:1f/0 r0+0", func(*state) {}},
	{func(a *Assembler) { a.Nop(9) }, "nopw 0x0(%rax,%rax,1)", "1:1f/0 r0+0", func(*state) {}},
	{func(a *Assembler) { a.Nop(10) }, "cs nopw 0x0(%rax,%rax,1)", "1:1f/0 r0+0", func(*state) {}},
	{func(a *Assembler) { a.Nop(11) }, "data16 cs nopw 0x0(%rax,%rax,1)", "1:1f/0 r0+0", func(*state) {}},
	{func(a *Assembler) { copyOf(a, "488b05", memory+word) }, "mov 0x@,%rax", "0:8b/0 r0 rip:0x428040", func(s *state) { s.Regs[x86.RAX] = s.word() }},
	{func(a *Assembler) { copyOf(a, "4c01e9", 0) }, "add %r13,%rcx", "0:01/5 r13 r1", func(s *state) { s.Regs[x86.RCX] = s.add(s.Regs[x86.RCX], s.Regs[x86.R13]) }},
	{func(a *Assembler) { target(a, x86.R11, "ff15", memory+word) }, "mov 0x@,%r11", "0:8b/3 r11 rip:0x428040", func(s *state) { s.Regs[x86.R11] = s.word() }},
	{func(a *Assembler) { target(a, x86.R11, "41ff5538", 0) }, "mov 0x38(%r13),%r11", "0:8b/3 r13+56 r11", func(s *state) { s.Regs[x86.R11] = s.at(s.Regs[x86.R13] + 0x38) }},
	{func(a *Assembler) { target(a, x86.R11, "42ff24ed00004200", 0) }, "mov 0x420000(,%r13,8),%r11", "0:8b/3 r-1+4325376 r11", nil},
	{func(a *Assembler) { target(a, x86.R11, "ffd6", 0) }, "mov %rsi,%r11", "0:8b/3 r11 r6", func(s *state) { s.Regs[x86.R11] = s.Regs[x86.RSI] }},
	{func(a *Assembler) { target(a, x86.RDX, "41ffe4", 0) }, "mov %r12,%rdx", "0:8b/2 r2 r12", func(s *state) { s.Regs[x86.RDX] = s.Regs[x86.R12] }},
	{func(a *Assembler) { a.CmpGS32(word, 0) }, "cmpl $0x0,%gs:0x40", "0:83/7 gs:0x40 r7 0", (*state).cmp32},
	{func(a *Assembler) { a.CmpGS8(word, 0) }, "cmpb $0x0,%gs:0x40", "0:80/7 gs:0x40 r7 0", (*state).cmp8},
	{func(a *Assembler) { a.AdcGS32(word, 0) }, "adcl $0x0,%gs:0x40", "0:83/2 gs:0x40 r2 0", nil},
	{func(a *Assembler) { a.Test(x86.RBX) }, "test %rbx,%rbx", "0:85/3 r3 r3", nil},
	{func(a *Assembler) { a.Test(x86.R9) }, "test %r9,%r9", "0:85/1 r9 r9", nil},
	{func(a *Assembler) { a.CmpEAX(1) }, "cmp $0x1,%eax", "0:83/7 r7 r0 1", nil},
	{func(a *Assembler) { a.DecGS32(word) }, "decl %gs:0x40", "0:ff/1 gs:0x40 r1", (*state).dec32},
	{func(a *Assembler) { a.MovGS32(word, 7) }, "movl $0x7,%gs:0x40", "0:c7/0 gs:0x40 r0 7", func(s *state) { s.put(s.word()>>32<<32 | 7) }},
	{func(a *Assembler) { a.PushImm32(-5) }, "push $0xfffffffffffffffb", "0:68 -5", func(s *state) { s.push(^uint64(4)) }},
	{func(a *Assembler) { a.PushRSP(24) }, "push 0x18(%rsp)", "0:ff/6 r4+24 r6", func(s *state) { s.push(s.at(s.Regs[x86.RSP] + 24)) }},
	{func(a *Assembler) { a.Pushf() }, "pushf", "0:9c", nil},
	{func(a *Assembler) { a.Popf() }, "popf", "0:9d", nil},
	{func(a *Assembler) { a.Lfence() }, "lfence", "1:ae/5 r5 r0", func(*state) {}},
	{func(a *Assembler) { lea(a, "f0440fc105", memory+word) }, "lea 0x@,%rdi", "0:8d/7 r7 rip:0x428040", func(s *state) { s.Regs[x86.RDI] = memory + word }},
	{func(a *Assembler) { lea(a, "f00fb14c2408", 0) }, "lea 0x18(%rsp),%rdi", "0:8d/7 r4+24 r7", func(s *state) { s.Regs[x86.RDI] = s.Regs[x86.RSP] + 24 }},
	{func(a *Assembler) { lea(a, "f0430fb14cee05", 0) }, "lea 0x5(%r14,%r13,8),%rdi", "0:8d/7 r14+5 r7", func(s *state) { s.Regs[x86.RDI] = s.Regs[x86.R14] + 8*s.Regs[x86.R13] + 5 }},
	{func(a *Assembler) { lea(a, "f00fb10cc500000100", 0) }, "lea 0x10000(,%rax,8),%rdi", "0:8d/7 r-1+65536 r7", func(s *state) { s.Regs[x86.RDI] = 8*s.Regs[x86.RAX] + 65536 }},
	{func(a *Assembler) { lea(a, "f00fb10c2500000100", 0) }, "lea 0x10000,%rdi", "0:8d/7 r-1+65536 r7", func(s *state) { s.Regs[x86.RDI] = 65536 }},
	{func(a *Assembler) { a.JmpTo(base + 0x1234) }, "jmp 0x411234", "0:e9 jmp→0x411234", nil},
	{func(a *Assembler) { a.JccTo(7, base-0x800) }, "ja 0x40f800", "1:87 jcc7→0x40f800", nil},
	{func(a *Assembler) { a.CallTo(base + 0x1234) }, "call 0x411234", "0:e8 call→0x411234", nil},
	{func(a *Assembler) { a.CallThrough(memory + slot) }, "call *0x@", "0:ff/2 call* rip:0x428200", nil},
	{func(a *Assembler) { a.JmpThrough(memory + slot) }, "jmp *0x@", "0:ff/4 jmp* rip:0x428200", nil},
	{func(a *Assembler) { a.Ret() }, "ret", "0:c3 ret", nil},
	{func(a *Assembler) { a.Int3() }, "int3", "0:cc stop", nil},
}

// copyOf copies an instruction of a program, given in hex; with a target, which
// follows as a displacement, one that lies 64 KB further up.
func copyOf(a *Assembler, hex string, target uint64) {
	in := original(hex, target)
	a.Copy(&in)
}

// target loads the target of an indirect call or jump of a program.
func target(a *Assembler, r x86.Reg, hex string, target uint64) {
	in := original(hex, target)
	if !a.LoadTarget(r, &in) {
		panic("no target to load")
	}
}

// lea loads the address of a program's operand, 16 bytes below its stack pointer.
func lea(a *Assembler, hex string, target uint64) {
	in := original(hex, target)
	a.Lea(x86.RDI, &in, 16)
}

func original(hex string, target uint64) x86.Insn {
	b := unhex(hex)
	at := base + 1<<16
	if target != 0 {
		b = binary.LittleEndian.AppendUint32(b, uint32(target-(at+uint64(len(b))+4)))
	}
	in, err := x86.Decode(b, at)
	if err != nil {
		panic(err)
	}
	return in
}

func unhex(s string) (b []byte) {
	for i := 0; i < len(s); i += 2 {
		var x byte
		fmt.Sscanf(s[i:i+2], "%02x", &x)
		b = append(b, x)
	}
	return b
}

// describe says what package x86 has read: opcode map and opcode, with ModRM
// the extension, then the operands that are there.
func describe(in *x86.Insn) string {
	d := []string{fmt.Sprintf("%x:%02x", in.Map, in.Opcode)}
	if in.HasModRM {
		d[0] += fmt.Sprintf("/%d", in.Ext())
	}
	kinds := map[x86.Kind]string{x86.Jmp: "jmp", x86.Jcc: "jcc", x86.Call: "call", x86.CallInd: "call*", x86.JmpInd: "jmp*", x86.Ret: "ret", x86.Stop: "stop", x86.Jrcxz: "jrcxz"}
	if k := kinds[in.Kind]; k != "" {
		if in.Kind == x86.Jcc {
			k += fmt.Sprint(in.CC)
		}
		if in.RelOff > 0 {
			k += fmt.Sprintf("→%#x", in.Target)
		}
		d = append(d, k)
	}
	if in.HasMem && in.Mem.Segment == 0x65 && (in.Mem.Base != x86.None || in.Mem.Index != x86.None) {
		d = append(d, fmt.Sprintf("gs:r%d+%dr%d%+d", in.Mem.Base, in.Mem.Scale, in.Mem.Index, in.Mem.Disp))
	} else if in.HasMem && in.Mem.Segment == 0x65 {
		d = append(d, fmt.Sprintf("gs:%#x", in.Mem.Disp))
	} else if in.HasMem && !in.Mem.RIP {
		d = append(d, fmt.Sprintf("r%d%+d", in.Mem.Base, in.Mem.Disp))
	}
	if in.HasModRM && in.Kind == x86.Normal && in.Opcode != 0x1f {
		d = append(d, fmt.Sprintf("r%d", in.Reg))
		if !in.HasMem {
			d = append(d, fmt.Sprintf("r%d", in.RM))
		}
	}
	if in.Mem.RIP {
		d = append(d, fmt.Sprintf("rip:%#x", in.RIPTarget))
	}
	if in.HasImm && in.RelOff == 0 {
		d = append(d, fmt.Sprint(in.Imm))
	}
	return strings.Join(d, " ")
}

// state is a state with a model of what instructions do to it.
type state struct{ probetest.State }

func (s *state) at(addr uint64) uint64     { return binary.LittleEndian.Uint64(s.Memory[addr-memory:]) }
func (s *state) setAt(addr, v uint64)      { binary.LittleEndian.PutUint64(s.Memory[addr-memory:], v) }
func (s *state) word() uint64              { return s.at(memory + word) }
func (s *state) put(v uint64)              { s.setAt(memory+word, v) }
func (s *state) flag(f x86.Flags, on bool) { s.Flags = s.Flags&^f | map[bool]x86.Flags{true: f}[on] }

func (s *state) push(v uint64) {
	s.Regs[x86.RSP] -= 8
	s.setAt(s.Regs[x86.RSP], v)
}

func (s *state) pop() uint64 {
	s.Regs[x86.RSP] += 8
	return s.at(s.Regs[x86.RSP] - 8)
}

func (s *state) result(r uint64) {
	s.flag(x86.ZF, r == 0)
	s.flag(x86.SF, r>>63 != 0)
	s.flag(x86.PF, bits.OnesCount8(uint8(r))%2 == 0)
}

func (s *state) add(a, b uint64) uint64 {
	r, carry := bits.Add64(a, b, 0)
	s.result(r)
	s.flag(x86.CF, carry != 0)
	s.flag(x86.AF, (a^b^r)&0x10 != 0)
	s.flag(x86.OF, (a^r)&(b^r)>>63 != 0)
	return r
}

func (s *state) sub(a, b uint64) uint64 {
	r, borrow := bits.Sub64(a, b, 0)
	s.result(r)
	s.flag(x86.CF, borrow != 0)
	s.flag(x86.AF, (a^b^r)&0x10 != 0)
	s.flag(x86.OF, (a^b)&(a^r)>>63 != 0)
	return r
}

func (s *state) inc() {
	carry := s.Flags & x86.CF
	s.put(s.add(s.word(), 1))
	s.flag(x86.CF, carry != 0)
}

// cmp32 compares the lower half of the word with 0.
func (s *state) cmp32() {
	w := s.word()
	s.sub(w<<32, 0)
	s.flag(x86.PF, bits.OnesCount8(uint8(w))%2 == 0)
}

// cmp8 compares the lowest byte of the word with 0.
func (s *state) cmp8() {
	w := s.word()
	s.sub(w<<56, 0)
	s.flag(x86.PF, bits.OnesCount8(uint8(w))%2 == 0)
}

// dec32 decrements the lower half of the word.
func (s *state) dec32() {
	carry, w := s.Flags&x86.CF, s.word()
	r := uint32(s.sub(w<<32, 1<<32) >> 32)
	s.put(w>>32<<32 | uint64(r))
	s.flag(x86.PF, bits.OnesCount8(uint8(r))%2 == 0)
	s.flag(x86.AF, w&15 == 0)
	s.flag(x86.CF, carry != 0)
}

func (s *state) add127() {
	al := s.Regs[x86.RAX] & 0xff
	s.add(al<<56, 127<<56) // CF, ZF, SF and OF are those of the highest byte
	r := al + 127
	s.setAL(byte(r))
	s.flag(x86.PF, bits.OnesCount8(uint8(r))%2 == 0)
	s.flag(x86.AF, (al^127^r)&0x10 != 0)
}

func (s *state) setAL(v byte) { s.Regs[x86.RAX] = s.Regs[x86.RAX]&^0xff | uint64(v) }
func (s *state) setAH(v byte) { s.Regs[x86.RAX] = s.Regs[x86.RAX]&^0xff00 | uint64(v)<<8 }

// lowFlags is the low byte of the flags register.
func (s *state) lowFlags() byte {
	v := byte(2)
	for f, bit := range map[x86.Flags]byte{x86.CF: 1, x86.PF: 4, x86.AF: 16, x86.ZF: 64, x86.SF: 128} {
		if s.Flags&f != 0 {
			v |= bit
		}
	}
	return v
}

func (s *state) sahf() {
	ah := byte(s.Regs[x86.RAX] >> 8)
	for f, bit := range map[x86.Flags]byte{x86.CF: 1, x86.PF: 4, x86.AF: 16, x86.ZF: 64, x86.SF: 128} {
		s.flag(f, ah&bit != 0)
	}
}
