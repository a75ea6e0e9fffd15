package probe

import (
	"encoding/binary"
	"fmt"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// label is a place in the copy.
type label struct {
	kind labelKind
	at   uint64 // original address, or a running number for atStub
}

type labelKind uint8

const (
	atBlock  labelKind = iota
	atEntry            // counts the entry, then the first block
	atReturn           // behind a call
	atTable            // counts the arrival from a switch
	atPad              // counts the arrival of an exception
	atStub             // out-of-line code
	atHook             // records a section event, then calls the library function
)

// assembler writes the copy. Addresses in emitted code are run-time ones; the
// image's are link-time, bias lies between.
type assembler struct {
	base, bias uint64
	buf        []byte
	labels     map[label]int
	fixes      []fix
	stubs      []func()
	nstub      uint64
	err        error
	origin     func(addr uint64, start, end int) // told of every copied instruction, when set
}

type fix struct {
	pos int
	l   label
}

func (a *assembler) b(x ...byte)  { a.buf = append(a.buf, x...) }
func (a *assembler) d32(v uint32) { a.buf = binary.LittleEndian.AppendUint32(a.buf, v) }
func (a *assembler) d64(v uint64) { a.buf = binary.LittleEndian.AppendUint64(a.buf, v) }
func (a *assembler) mark(l label) { a.labels[l] = len(a.buf) }
func (a *assembler) pc() uint64   { return a.base + uint64(len(a.buf)) }

func (a *assembler) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, args...)
	}
}

// stub reserves a label for code emitted behind the function.
func (a *assembler) stub() label {
	a.nstub++
	return label{atStub, a.nstub}
}

// rel emits a 32-bit displacement to a label.
func (a *assembler) rel(l label) {
	a.fixes = append(a.fixes, fix{len(a.buf), l})
	a.d32(0)
}

// relTo emits a 32-bit displacement to a run-time address.
func (a *assembler) relTo(addr uint64) {
	d := int64(addr) - int64(a.pc()+4)
	if d != int64(int32(d)) {
		a.fail("code cache at %#x is out of reach of %#x", a.base, addr)
	}
	a.d32(uint32(d))
}

// jmp and jcc take two bytes where the label lies close behind, as at the end
// of a small loop, which then is not larger than it was.
func (a *assembler) jmp(l label) {
	if d, ok := a.close(l); ok {
		a.b(0xeb, d)
		return
	}
	a.b(0xe9)
	a.rel(l)
}

func (a *assembler) jcc(cc byte, l label) {
	if d, ok := a.close(l); ok {
		a.b(0x70|cc, d)
		return
	}
	a.b(0x0f, 0x80|cc)
	a.rel(l)
}

// close is the displacement of a two-byte jump to a label that is known.
func (a *assembler) close(l label) (byte, bool) {
	t, ok := a.labels[l]
	if !ok {
		return 0, false
	}
	d := t - (len(a.buf) + 2)
	return byte(int8(d)), d >= -128
}

// jmpOriginal jumps to original code.
func (a *assembler) jmpOriginal(addr uint64) { a.b(0xe9); a.relTo(addr + a.bias) }

// incGS counts: incq %gs:off. Changes all flags but CF.
func (a *assembler) incGS(off uint32) {
	a.b(0x65, 0x48, 0xff, 0x04, 0x25)
	a.d32(off)
}

// incGSKeepingFlags counts where flags are live. RAX and the flags go to the
// stack, below the red zone; the count itself is one instruction, so that a
// signal handler that counts in between loses nothing.
func (a *assembler) incGSKeepingFlags(off uint32) {
	a.b(0x48, 0x8d, 0x64, 0x24, 0x80)          // lea -128(%rsp),%rsp
	a.b(0x50)                                  // push %rax
	a.b(0x9f)                                  // lahf
	a.b(0x0f, 0x90, 0xc0)                      // seto %al
	a.incGS(off)                               //
	a.b(0x04, 0x7f)                            // add $127,%al: sets OF again if it was set
	a.b(0x9e)                                  // sahf
	a.b(0x58)                                  // pop %rax
	a.b(0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0) // lea 128(%rsp),%rsp
}

// copyInsn emits an instruction at its new place.
func (a *assembler) copyInsn(in *x86.Insn) {
	at := len(a.buf)
	a.b(in.Bytes...)
	if a.origin != nil {
		a.origin(in.Addr, at, len(a.buf))
	}
	a.reach(in, at+in.RIPOff)
}

// reach lets a RIP-relative operand, whose displacement was just copied to
// pos, name the same address from the end of what was emitted.
func (a *assembler) reach(in *x86.Insn, pos int) {
	if in.RIPOff == 0 {
		return
	}
	d := int64(in.RIPTarget+a.bias) - int64(a.pc())
	if d != int64(int32(d)) {
		a.fail("code cache at %#x is out of reach of %#x", a.base, in.RIPTarget)
	}
	binary.LittleEndian.PutUint32(a.buf[pos:], uint32(d))
}

// nops emits n bytes of long no-ops.
func (a *assembler) nops(n int) {
	long := [...][]byte{{0x90}, {0x66, 0x90}, {0x0f, 0x1f, 0}, {0x0f, 0x1f, 0x40, 0}, {0x0f, 0x1f, 0x44, 0, 0}, {0x66, 0x0f, 0x1f, 0x44, 0, 0},
		{0x0f, 0x1f, 0x80, 0, 0, 0, 0}, {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}}
	for n > 0 {
		k := min(n, len(long))
		a.b(long[k-1]...)
		n -= k
	}
}

// loadTarget emits mov <operand of an indirect call or jump>, %r11. It
// reports false for operands that it does not rewrite (fs, gs).
func (a *assembler) loadTarget(in *x86.Insn) bool {
	i := 0
	for i < len(in.Bytes) && in.Bytes[i] != 0xff {
		switch in.Bytes[i] {
		case 0x64, 0x65, 0x66, 0x67:
			return false
		}
		i++
	}
	if i+1 >= len(in.Bytes) || !in.HasModRM {
		return false
	}
	rex := byte(0x4c) | in.Rex&3 // W, R for r11; X and B as they were
	at := len(a.buf)
	a.b(rex, 0x8b, in.ModRM&^0x38|3<<3)
	a.b(in.Bytes[i+2:]...)
	a.reach(in, at+3)
	return true
}

// resolve fills in the displacements to labels.
func (a *assembler) resolve() {
	for _, x := range a.fixes {
		t, ok := a.labels[x.l]
		if !ok {
			a.fail("no code for label %d at %#x", x.l.kind, x.l.at)
			return
		}
		binary.LittleEndian.PutUint32(a.buf[x.pos:], uint32(int32(t-(x.pos+4))))
	}
}

// addr is the run-time address of a label.
func (a *assembler) addr(l label) uint64 {
	t, ok := a.labels[l]
	if !ok {
		a.fail("no code for label %d at %#x", l.kind, l.at)
	}
	return a.base + uint64(t)
}
