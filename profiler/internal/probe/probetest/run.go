package probetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Where things lie in the program that Run makes.
const (
	MemoryAt = 0x428000 // State.Memory; GS points there
	CodeAt   = 0x410000 // the code
	maxCode  = MemoryAt - CodeAt

	headerAt = 0x400000 // the file's header, the prologue and the epilogue,
	exitAt   = headerAt + 0x800
	regsAt   = headerAt + 0x1000 // then the registers and the flags
	flagsAt  = regsAt + 16*8
	stackAt  = headerAt + 0x2000 // for the prologue and the epilogue
)

// State is what some code starts from, or what it leaves behind.
type State struct {
	Regs   [16]uint64 // by x86.Reg
	Flags  x86.Flags
	Memory []byte
}

// Run runs code in a process of its own, from the byte at start on until it
// ends (falls behind its last byte), and returns what that makes of a state;
// or the signal that ended the process.
//
// The process is a program of four parts in one segment: a prologue that sets
// GS, the flags and all registers; the code; an epilogue that writes them, and
// the memory, to the standard output; the memory.
func Run(t testing.TB, code []byte, start int, in State) (out State, sig syscall.Signal) {
	t.Helper()
	if len(code)+5 > maxCode {
		t.Fatalf("%d bytes of code are too many", len(code))
	}
	image := make([]byte, MemoryAt-headerAt, MemoryAt-headerAt+len(in.Memory))
	put := func(addr uint64, b []byte) { copy(image[addr-headerAt:], b) }
	p := &writer{at: headerAt + 0x100}
	entry := p.at
	p.prologue(CodeAt + uint64(start))
	put(entry, p.b)
	p = &writer{at: exitAt}
	p.epilogue(len(in.Memory))
	put(exitAt, p.b)
	for i, v := range in.Regs {
		binary.LittleEndian.PutUint64(image[regsAt-headerAt+8*i:], v)
	}
	binary.LittleEndian.PutUint64(image[flagsAt-headerAt:], eflags(in.Flags))
	put(CodeAt, code)
	p = &writer{at: CodeAt + uint64(len(code))}
	p.jump(exitAt)
	put(CodeAt+uint64(len(code)), p.b)
	image = append(image, in.Memory...)
	put(headerAt, header(entry, len(image)))

	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, image, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := exec.Command(file).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			return State{}, w.Signal()
		}
	}
	if err != nil || len(b) != 17*8+len(in.Memory) {
		t.Fatalf("the code ends with %d bytes of state: %v", len(b), err)
	}
	for i := range out.Regs {
		out.Regs[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	out.Flags = flags(binary.LittleEndian.Uint64(b[16*8:]))
	out.Memory = b[17*8:]
	return out, 0
}

// flagBits are the arithmetic flags' bits in the flags register.
var flagBits = map[x86.Flags]uint64{x86.CF: 1 << 0, x86.PF: 1 << 2, x86.AF: 1 << 4, x86.ZF: 1 << 6, x86.SF: 1 << 7, x86.OF: 1 << 11}

func eflags(f x86.Flags) (v uint64) {
	for flag, bit := range flagBits {
		if f&flag != 0 {
			v |= bit
		}
	}
	return v
}

func flags(v uint64) (f x86.Flags) {
	for flag, bit := range flagBits {
		if v&bit != 0 {
			f |= flag
		}
	}
	return f
}

// header is an ELF header with one segment that is everything.
func header(entry uint64, size int) []byte {
	var b bytes.Buffer
	b.WriteString("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	for _, v := range []any{uint16(2), uint16(62), uint32(1), entry, uint64(64), uint64(0), uint32(0), uint16(64), uint16(56), uint16(1), uint16(0), uint16(0), uint16(0),
		uint32(1), uint32(7), uint64(0), uint64(headerAt), uint64(headerAt), uint64(size), uint64(size), uint64(0x1000)} {
		binary.Write(&b, binary.LittleEndian, v)
	}
	return b.Bytes()
}

// writer writes the prologue and the epilogue. Its encodings are its own: what
// package asm writes is what is to be tested.
type writer struct {
	at uint64
	b  []byte
}

func (w *writer) put(v32 uint32, op ...byte) {
	w.b = binary.LittleEndian.AppendUint32(append(w.b, op...), v32)
}

func (w *writer) jump(to uint64) { w.put(uint32(to-(w.at+uint64(len(w.b))+5)), 0xe9) }

func (w *writer) syscall() { w.b = append(w.b, 0x0f, 0x05) }

// absolute is an instruction with a register and an absolute address.
func (w *writer) absolute(op byte, reg int, addr uint64) {
	w.put(uint32(addr), 0x48|byte(reg>>3)<<2, op, byte(reg&7)<<3|4, 0x25)
}

func (w *writer) prologue(start uint64) {
	const archPrctl, setGS = 158, 0x1001
	w.put(archPrctl, 0xb8)       // mov ..., %eax
	w.put(setGS, 0xbf)           // mov ..., %edi
	w.put(MemoryAt, 0xbe)        // mov ..., %esi
	w.syscall()                  //
	w.put(stackAt, 0xbc)         // mov ..., %esp
	w.absolute(0xff, 6, flagsAt) // push
	w.b = append(w.b, 0x9d)      // popf
	for r := range 16 {
		w.absolute(0x8b, r, regsAt+8*uint64(r)) // mov ..., %reg
	}
	w.jump(start)
}

func (w *writer) epilogue(memory int) {
	const exit = 60
	for r := range 16 {
		w.absolute(0x89, r, regsAt+8*uint64(r)) // mov %reg, ...
	}
	w.put(stackAt, 0xbc)         // mov ..., %esp
	w.b = append(w.b, 0x9c)      // pushf
	w.absolute(0x8f, 0, flagsAt) // pop
	w.write(regsAt, 17*8)
	w.write(MemoryAt, memory)
	w.put(exit, 0xb8)
	w.put(0, 0xbf)
	w.syscall()
}

func (w *writer) write(addr uint64, n int) {
	const write = 1
	w.put(write, 0xb8)        // mov ..., %eax
	w.put(1, 0xbf)            // mov ..., %edi
	w.put(uint32(addr), 0xbe) // mov ..., %esi
	w.put(uint32(n), 0xba)    // mov ..., %edx
	w.syscall()
}
