package probe

import (
	"encoding/binary"
	"fmt"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// label is a place in the copy: for atEntry and atHook in any function, else
// in the one that is being emitted.
type label struct {
	kind labelKind
	at   int32
}

type labelKind uint8

const (
	atBlock  labelKind = iota // of a block's number
	atTable                   // counts the arrival from a switch at a block
	atPad                     // counts the arrival of an exception at a block
	atReturn                  // behind a call of that index
	atStub                    // out-of-line code, a running number
	locals                    // how many kinds there are inside of functions
	atEntry                   // of a function's number: counts the entry, then the first block
	atHook                    // of a function's number: records a section event, then enters
)

// assembler writes the copy. All addresses are link-time ones: the copy lies
// as far from the program when it runs.
type assembler struct {
	base   uint64
	buf    []byte
	local  [locals][]int32 // offset of each label; 0: not known
	entry  []int32         // of each function from first on
	first  int32
	hooked map[int32]int32 // function → its hook
	fixes  []fix           // to be filled in at the function's end
	far    []fix           // at the copy's end
	stubs  []func()
	err    error
	origin func(addr uint64, start, end int) // told of every copied instruction, when set
}

type fix struct {
	pos int32
	l   label
}

// begin forgets the labels of the function before.
func (a *assembler) begin(g *cfg.Graph) {
	for k, n := range [locals]int{atBlock: len(g.Blocks), atTable: len(g.Blocks), atPad: len(g.Blocks), atReturn: g.Calls} {
		if cap(a.local[k]) < n {
			a.local[k] = make([]int32, n+n/2)
		}
		a.local[k] = a.local[k][:n]
		clear(a.local[k])
	}
	a.fixes, a.stubs = a.fixes[:0], a.stubs[:0]
}

// end fills in the displacements to the function's labels.
func (a *assembler) end() {
	for _, x := range a.fixes {
		t, ok := a.find(x.l)
		if !ok {
			a.fail("no code for label %d/%d", x.l.kind, x.l.at)
			return
		}
		binary.LittleEndian.PutUint32(a.buf[x.pos:], uint32(t-(x.pos+4)))
	}
}

// find returns a label's offset.
func (a *assembler) find(l label) (int32, bool) {
	t := int32(0)
	switch l.kind {
	case atEntry:
		t = a.entry[l.at-a.first]
	case atHook:
		t = a.hooked[l.at]
	default:
		t = a.local[l.kind][l.at]
	}
	return t, t != 0
}

func (a *assembler) mark(l label) {
	t := int32(len(a.buf))
	switch l.kind {
	case atEntry:
		a.entry[l.at-a.first] = t
	case atHook:
		a.hooked[l.at] = t
	default:
		a.local[l.kind][l.at] = t
	}
}

func (a *assembler) b(x ...byte)  { a.buf = append(a.buf, x...) }
func (a *assembler) d32(v uint32) { a.buf = binary.LittleEndian.AppendUint32(a.buf, v) }
func (a *assembler) d64(v uint64) { a.buf = binary.LittleEndian.AppendUint64(a.buf, v) }
func (a *assembler) pc() uint64   { return a.base + uint64(len(a.buf)) }

func (a *assembler) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, args...)
	}
}

// stub reserves a label for code emitted behind the function.
func (a *assembler) stub() label {
	a.local[atStub] = append(a.local[atStub], 0)
	return label{atStub, int32(len(a.local[atStub]) - 1)}
}

// rel emits a 32-bit displacement to a label.
func (a *assembler) rel(l label) {
	x := fix{int32(len(a.buf)), l}
	if l.kind < locals {
		a.fixes = append(a.fixes, x)
	} else {
		a.far = append(a.far, x)
	}
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
	t, ok := a.find(l)
	if !ok || l.kind > locals {
		return 0, false
	}
	d := int(t) - (len(a.buf) + 2)
	return byte(int8(d)), d >= -128
}

// jmpOriginal jumps to original code.
func (a *assembler) jmpOriginal(addr uint64) { a.b(0xe9); a.relTo(addr) }

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

// copyInsn emits an instruction at its new place. No-ops, which aligned what
// stands behind them at the old one, are left out.
func (a *assembler) copyInsn(in *x86.Insn) {
	if isNop(in) {
		return
	}
	at := len(a.buf)
	a.b(in.Bytes...)
	if a.origin != nil {
		a.origin(in.Addr, at, len(a.buf))
	}
	a.reach(in, at+int(in.RIPOff))
}

// isNop recognises the no-ops that pad code: 90, 66 90 and 0f 1f.
func isNop(in *x86.Insn) bool {
	return in.Vex == 0 && in.Rep == 0 && in.Rex&1 == 0 && (in.Map == 0 && in.Opcode == 0x90 || in.Map == 1 && in.Opcode == 0x1f)
}

// reach lets a RIP-relative operand, whose displacement was just copied to
// pos, name the same address from the end of what was emitted.
func (a *assembler) reach(in *x86.Insn, pos int) {
	if in.RIPOff == 0 {
		return
	}
	d := int64(in.RIPTarget) - int64(a.pc())
	if d != int64(int32(d)) {
		a.fail("code cache at %#x is out of reach of %#x", a.base, in.RIPTarget)
	}
	binary.LittleEndian.PutUint32(a.buf[pos:], uint32(d))
}

// nops emits n bytes of long no-ops.
func (a *assembler) nops(n int) {
	long := [...][]byte{{0x90}, {0x66, 0x90}, {0x0f, 0x1f, 0}, {0x0f, 0x1f, 0x40, 0}, {0x0f, 0x1f, 0x44, 0, 0}, {0x66, 0x0f, 0x1f, 0x44, 0, 0},
		{0x0f, 0x1f, 0x80, 0, 0, 0, 0}, {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
		{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, {0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}}
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

// resolve fills in the displacements to other functions.
func (a *assembler) resolve() {
	for _, x := range a.far {
		t, ok := a.find(x.l)
		if !ok {
			a.fail("no code for label %d/%d", x.l.kind, x.l.at)
			return
		}
		binary.LittleEndian.PutUint32(a.buf[x.pos:], uint32(t-(x.pos+4)))
	}
}

// addr is the address of a label.
func (a *assembler) addr(l label) uint64 {
	t, ok := a.find(l)
	if !ok {
		a.fail("no code for label %d/%d", l.kind, l.at)
	}
	return a.base + uint64(t)
}
