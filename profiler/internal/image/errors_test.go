package image

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// header is an ELF header of the given kind and nothing else.
func header(class elf.Class, data elf.Data, typ elf.Type, m elf.Machine) []byte {
	h := make([]byte, 64)
	copy(h, elf.ELFMAG)
	h[elf.EI_CLASS], h[elf.EI_DATA], h[elf.EI_VERSION] = byte(class), byte(data), 1
	var order binary.ByteOrder = binary.LittleEndian
	if data == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	order.PutUint16(h[16:], uint16(typ))
	order.PutUint16(h[18:], uint16(m))
	return h
}

// TestErrors names, for everything a user may mistake for a program, the reason
// and what the message must hold.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	le64 := func(typ elf.Type, m elf.Machine) string {
		return string(header(elf.ELFCLASS64, elf.ELFDATA2LSB, typ, m))
	}
	for name, c := range map[string]struct {
		content string
		mode    fs.FileMode
		reason  Reason
		says    string
	}{
		"empty":      {"", 0o755, Empty, "is empty"},
		"script.sh":  {"#!/bin/sh -e\nexec true\n", 0o755, Script, `script for "/bin/sh"; profile that interpreter`},
		"script.py":  {"#!/usr/bin/env -S VAR=1 python3\n", 0o755, Script, `"python3"`},
		"script":     {"#!", 0o755, Script, "an interpreter"},
		"main.c":     {"int main(void) { return 0; }\n", 0o644, NotELF, "compiled program"},
		"short":      {"\x7fELF\x02\x01", 0o755, Truncated, "ends within"},
		"shorter":    {le64(elf.ET_EXEC, elf.EM_X86_64)[:40], 0o755, Truncated, "ends within"},
		"i386":       {string(header(elf.ELFCLASS32, elf.ELFDATA2LSB, elf.ET_EXEC, elf.EM_386)), 0o755, Bits32, "-m64"},
		"x32":        {string(header(elf.ELFCLASS32, elf.ELFDATA2LSB, elf.ET_EXEC, elf.EM_X86_64)), 0o755, Bits32, "32-bit"},
		"arm64":      {le64(elf.ET_EXEC, elf.EM_AARCH64), 0o755, ForeignArch, "ARM64"},
		"riscv":      {le64(elf.ET_EXEC, elf.EM_RISCV), 0o755, ForeignArch, "RISC-V"},
		"unknown":    {le64(elf.ET_EXEC, elf.Machine(61234)), 0o755, ForeignArch, "61234"},
		"s390x":      {string(header(elf.ELFCLASS64, elf.ELFDATA2MSB, elf.ET_EXEC, elf.EM_S390)), 0o755, BigEndian, "s390x"},
		"object.o":   {le64(elf.ET_REL, elf.EM_X86_64), 0o644, NotProgram, "link it"},
		"core":       {le64(elf.ET_CORE, elf.EM_X86_64), 0o600, NotProgram, "core dump"},
		"none":       {le64(elf.ET_NONE, elf.EM_X86_64), 0o755, NotProgram, "no program"},
		"unloadable": {le64(elf.ET_EXEC, elf.EM_X86_64), 0o755, NotProgram, "nothing to load"},
		"cut":        {string(self[:len(self)/2]), 0o755, Truncated, "shorter than"},
		"cut-head":   {string(self[:100]), 0o755, Truncated, "shorter than"},
		"no-x":       {string(self), 0o644, NotExecutable, "chmod +x"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.content), c.mode); err != nil {
			t.Fatal(err)
		}
		im, err := Open(path)
		var e *Error
		if !errors.As(err, &e) || e.Reason != c.reason || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
			continue
		}
		if im != nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: %q", name, err)
		}
	}
	check := func(path string, reason Reason) {
		t.Helper()
		_, err := Open(path)
		var e *Error
		if !errors.As(err, &e) || e.Reason != reason {
			t.Errorf("%s: %v", path, err)
		}
	}
	check(filepath.Join(dir, "missing"), NotFound)
	if _, err := Open(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	check(dir, IsDirectory)
	check("/dev/null", IsDirectory)
	check(filepath.Join(dir, "main.c", "x"), Unreadable)
	if paths, _ := filepath.Glob("/usr/lib/x86_64-linux-gnu/libstdc++.so.6"); paths != nil {
		check(paths[0], NotProgram)
	}
	if os.Getuid() != 0 {
		os.Chmod(filepath.Join(dir, "empty"), 0)
		check(filepath.Join(dir, "empty"), Unreadable)
	}
}

// TestTooHigh: what is linked where profiles keep libraries is refused.
func TestTooHigh(t *testing.T) {
	proctest.Need(t, "gcc")
	src := proctest.Source(t, "high.c", "int main(void) { return 0; }\n")
	for _, c := range []struct {
		at string
		ok bool
	}{{"0xff00000000", true}, {"0x10000000000", false}, {"0x7f0000000000", false}} {
		_, err := Open(proctest.Build(t, "gcc", "-pie", "-fPIE", "-Wl,-Ttext-segment="+c.at, src))
		var e *Error
		if c.ok != (err == nil) || !c.ok && (!errors.As(err, &e) || e.Reason != TooHigh || !strings.Contains(err.Error(), "link it lower")) {
			t.Errorf("linked at %s: %v", c.at, err)
		}
	}
}
