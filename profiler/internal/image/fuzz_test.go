package image

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// seedPrograms adds small programs of all layouts, where there is a compiler.
func seedPrograms(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Add([]byte("#!/bin/sh\n"))
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		return
	}
	dir := f.TempDir()
	source := filepath.Join(dir, "a.c")
	text := "extern int puts(const char *); int z; int *p = &z; void f(void) { puts(\"x\"); } int _start(void) { f(); return puts(\"y\"); }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
	for _, flags := range [][]string{
		{"-fPIE", "-pie"}, {"-no-pie"}, {"-shared", "-fPIC"}, {"-fPIE", "-pie", "-s", "-Wl,-z,now"}, {"-fPIE", "-pie", "-fcf-protection=full", "-Wl,-z,ibtplt"},
	} {
		out := filepath.Join(dir, "a.out")
		args := append([]string{"-O1", "-nostdlib", "-Wl,-z,noseparate-code", "-Wl,--build-id", "-Wl,--unresolved-symbols=ignore-all", "-fexceptions", "-o", out, source}, flags...)
		if exec.Command(gcc, args...).Run() != nil {
			continue
		}
		if b, err := os.ReadFile(out); err == nil {
			f.Add(b)
		}
	}
}

// FuzzOpen reads ELF files: no panic, and what comes out is what Image promises.
func FuzzOpen(f *testing.F) {
	seedPrograms(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		im, _, err := read("x", bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		contents := 0
		for i, s := range im.Sections {
			contents += len(s.Data)
			if uint64(len(s.Data)) != s.Size || i > 0 && s.Addr < im.Sections[i-1].Addr+im.Sections[i-1].Size {
				t.Fatalf("section %d %s", i, s.Name)
			}
		}
		if contents > 2*len(data) {
			t.Fatalf("%d bytes of contents from a file of %d", contents, len(data))
		}
		last := uint64(0)
		for i, fn := range im.Funcs {
			if i > 0 && fn.Addr <= last || fn.Size == 0 || fn.End() < fn.Addr || !im.Exec(fn.Addr) || !im.Exec(fn.End()-1) {
				t.Fatalf("function %d: %+v", i, fn)
			}
			last = fn.Addr
			if g := im.FuncAt(fn.Addr); g == nil || g.Addr != fn.Addr {
				t.Fatalf("FuncAt(%#x) is %v", fn.Addr, g)
			}
		}
		for i, d := range im.FDEs {
			if d.Size == 0 || d.Start+d.Size <= d.Start || i > 0 && d.Start < im.FDEs[i-1].Start {
				t.Fatalf("FDE %d: %+v", i, d)
			}
		}
		if !slices.IsSorted(im.Pads) || len(slices.Compact(slices.Clone(im.Pads))) != len(im.Pads) {
			t.Fatal("pads are not sorted and unique")
		}
		for addr := range im.PLT {
			if !im.Exec(addr) {
				t.Fatalf("stub at %#x", addr)
			}
		}
	})
}

// FuzzEHFrame reads unwinding tables.
func FuzzEHFrame(f *testing.F) {
	if im, err := Open("/bin/sh"); err == nil {
		for _, s := range im.Sections {
			if s.Name == ".eh_frame" {
				f.Add(s.Data[:min(len(s.Data), 400)], s.Addr)
			}
		}
	}
	f.Add(record(true, append(le(0, 8), 1, 'z', 'R', 0, 1, 0x78, 16, 1, encUdata4)), uint64(0x1000))
	f.Fuzz(func(t *testing.T, data []byte, addr uint64) {
		word := func(a uint64) (uint64, bool) { return ^a, a&1 == 0 }
		fdes, _ := readEHFrame(data, addr, bases{text: 1, data: 2, word: word})
		if 4*len(fdes) > len(data) {
			t.Fatalf("%d FDEs in %d bytes", len(fdes), len(data))
		}
		for _, d := range fdes {
			if d.Size == 0 || d.Start == 0 || d.Start+d.Size <= d.Start {
				t.Fatalf("%+v", d)
			}
		}
	})
}

// FuzzLSDA reads landing pads.
func FuzzLSDA(f *testing.F) {
	f.Add(append([]byte{encOmit, encOmit, encUleb}, sitesLEB()...), uint64(0x1000))
	f.Add([]byte{encUdata4, 0, 1, 0, 0, 0x9b, 5, encUdata2, 7, 0, 0, 0, 0, 1, 0, 0}, uint64(0x1000))
	f.Fuzz(func(t *testing.T, data []byte, addr uint64) {
		pads, _ := readLSDA(data, addr, 0x1000, bases{})
		if 2*len(pads) > len(data) {
			t.Fatalf("%d pads in %d bytes", len(pads), len(data))
		}
	})
}

// FuzzGoTable reads Go's function table.
func FuzzGoTable(f *testing.F) {
	table := slices.Concat(le(goMagic120, 4), []byte{0, 0, 1, 8}, le(2, 8), le(0, 8), le(0, 8), le(72, 8), le(0, 24), le(80, 8), []byte("\x00main.f\x00"),
		le(0, 4), le(20, 4), le(0x10, 4), le(28, 4), le(0x30, 4), le(0, 4), le(1, 4), le(0x10, 4), le(6, 4))
	got, err := readGoTable(table, 0x1000, 0x1030)
	if err != nil || len(got) != 2 || got[0] != (Func{Name: "main.f", Addr: 0x1000, Size: 0x10}) || got[1].Name != "f" || got[1].End() != 0x1030 {
		f.Fatalf("%+v, %v", got, err)
	}
	f.Add(table)
	f.Fuzz(func(t *testing.T, data []byte) {
		funcs, err := readGoTable(data, 0x1000, 0x100000)
		if err != nil {
			return
		}
		if 8*len(funcs) > len(data) {
			t.Fatalf("%d functions in %d bytes", len(funcs), len(data))
		}
		last := uint64(0x1000)
		for _, fn := range funcs {
			if fn.Addr < last || fn.Size == 0 || fn.End() > 0x100000 {
				t.Fatalf("%+v", fn)
			}
			last = fn.End()
		}
	})
}
