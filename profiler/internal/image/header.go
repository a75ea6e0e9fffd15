package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// checkHeader tells what is not an x86-64 program from its first bytes, and
// makes sure that the header tables lie in the file before debug/elf reads them.
func checkHeader(path string, r io.ReaderAt, size int64) error {
	refuse := func(reason Reason, what, fix string) error {
		return &Error{reason, path, what, fix, nil}
	}
	if size == 0 {
		return refuse(Empty, "is empty", "build it again")
	}
	head := make([]byte, min(size, 256))
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return &Error{Unreadable, path, "cannot be read", "", plain(err)}
	}
	head = head[:n]
	if bytes.HasPrefix(head, []byte("#!")) {
		return refuse(Script, fmt.Sprintf("is a script for %q", interpreter(head)), "profile that interpreter, or the native program that the script starts")
	}
	if !bytes.HasPrefix(head, []byte(elf.ELFMAG)) {
		return refuse(NotELF, "is not an ELF program", "name the compiled program")
	}
	if len(head) < 20 {
		return refuse(Truncated, "ends within its ELF header", "build or copy it again")
	}
	if err := checkMachine(refuse, head); err != nil {
		return err
	}
	switch elf.Type(binary.LittleEndian.Uint16(head[16:])) {
	case elf.ET_EXEC, elf.ET_DYN:
	case elf.ET_REL:
		return refuse(NotProgram, "is an object file", "link it, and profile the program")
	case elf.ET_CORE:
		return refuse(NotProgram, "is a core dump", "profile the program that left it")
	default:
		return refuse(NotProgram, "is an ELF file but no program", "name a program")
	}
	return checkTables(path, head, size)
}

// interpreter is the program that a script's first line names; that which env
// starts, where it names env.
func interpreter(head []byte) string {
	line, _, _ := strings.Cut(string(head[2:]), "\n")
	words := strings.Fields(line)
	if len(words) == 0 {
		return "an interpreter"
	}
	if !strings.HasSuffix(words[0], "/env") || len(words) == 1 {
		return words[0]
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			return w
		}
	}
	return words[len(words)-1]
}

// checkMachine tells what is for another processor.
func checkMachine(refuse func(reason Reason, what, fix string) error, head []byte) error {
	class, order := elf.Class(head[elf.EI_CLASS]), elf.Data(head[elf.EI_DATA])
	if order == elf.ELFDATA2MSB {
		m := elf.Machine(binary.BigEndian.Uint16(head[18:]))
		return refuse(BigEndian, "is a big-endian program for "+machineName(m), "build it for x86-64")
	}
	m := elf.Machine(binary.LittleEndian.Uint16(head[18:]))
	switch {
	case m == elf.EM_386 || m == elf.EM_X86_64 && class == elf.ELFCLASS32:
		return refuse(Bits32, "is a 32-bit program", "build it with -m64")
	case m != elf.EM_X86_64:
		return refuse(ForeignArch, "is a program for "+machineName(m), "build it for x86-64")
	case class != elf.ELFCLASS64 || order != elf.ELFDATA2LSB:
		return refuse(Malformed, "has an ELF header that makes no sense", "build it again")
	case len(head) < 64:
		return refuse(Truncated, "ends within its ELF header", "build or copy it again")
	}
	return nil
}

// checkTables compares the header tables with the file's size.
func checkTables(path string, head []byte, size int64) error {
	le := binary.LittleEndian
	inside := func(off uint64, num, entry uint16) bool {
		n := uint64(num) * uint64(entry)
		return num == 0 || n <= uint64(size) && off <= uint64(size)-n
	}
	phoff, shoff := le.Uint64(head[32:]), le.Uint64(head[40:])
	phentsize, phnum := le.Uint16(head[54:]), le.Uint16(head[56:])
	shentsize, shnum := le.Uint16(head[58:]), le.Uint16(head[60:])
	if !inside(phoff, phnum, phentsize) || !inside(shoff, shnum, shentsize) {
		return &Error{Truncated, path, "is shorter than its headers say", "build or copy it again", nil}
	}
	if phnum == 0 {
		return &Error{NotProgram, path, "has nothing to load", "name a program", nil}
	}
	// With no number of sections but a place for them, the number stands in the
	// first: more than 65,279 sections, which no linked program has.
	if shnum == 0 && shoff != 0 {
		return &Error{Malformed, path, "has a section table without a size", "build it again", nil}
	}
	return nil
}

// machineName is a CPU's usual name.
func machineName(m elf.Machine) string {
	names := map[elf.Machine]string{
		elf.EM_AARCH64: "ARM64 (AArch64)", elf.EM_ARM: "32-bit ARM", elf.EM_RISCV: "RISC-V", elf.EM_PPC64: "POWER (ppc64)",
		elf.EM_PPC: "PowerPC", elf.EM_S390: "IBM Z (s390x)", elf.EM_MIPS: "MIPS", elf.EM_SPARCV9: "SPARC", elf.EM_LOONGARCH: "LoongArch",
		elf.EM_IA_64: "Itanium", elf.EM_BPF: "BPF", elf.EM_CUDA: "CUDA", elf.EM_AMDGPU: "AMD GPU",
	}
	if s, ok := names[m]; ok {
		return s
	}
	if s := m.String(); strings.HasPrefix(s, "EM_") && !strings.Contains(s, "+") {
		return strings.TrimPrefix(s, "EM_")
	}
	return fmt.Sprintf("another CPU (ELF machine %d)", uint16(m))
}
