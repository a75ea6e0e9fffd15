package cfg

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/pack"
)

// Where FuzzBuild puts code and data.
const (
	fuzzCode = 0x1000
	fuzzData = 0x8000
)

// piece is a function of FuzzBuild's programs: where it is and what it is.
type piece struct {
	off, size uint16
	what      uint8
}

const (
	isCold = 1 << iota
	isExit
	isSetJmp
	isNameless
	hasPad // in its middle
)

func (x piece) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, x.off)
	return append(binary.LittleEndian.AppendUint16(b, x.size), x.what)
}

func pieces(b []byte) (list []piece) {
	for ; len(b) >= 5 && len(list) < 64; b = b[5:] {
		list = append(list, piece{binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:]), b[4]})
	}
	return list
}

// FuzzBuild makes programs of any code, any data and any functions in it, and
// checks of what Build makes of them all that their users rely on.
func FuzzBuild(f *testing.F) {
	for _, file := range sources(f) {
		if code, data, funcs := seed(f, file); len(code) > 0 {
			if im := fuzzImage(f, code, data, pieces(funcs)); im == nil || len(im.Funcs) == 0 {
				f.Fatalf("%s: the program made of it has no functions", file)
			}
			f.Add(code, data, funcs, false)
			f.Add(code, data, funcs, true)
		}
	}
	f.Fuzz(func(t *testing.T, code, data, funcs []byte, shared bool) {
		if len(code) > fuzzData-fuzzCode || len(data) > 1<<16 {
			return
		}
		im := fuzzImage(t, code, data, pieces(funcs))
		if im == nil {
			return
		}
		im.Relocatable = shared
		checkProgram(t, im)
	})
}

// FuzzProgram builds the graphs of damaged files.
func FuzzProgram(f *testing.F) {
	for _, file := range sources(f) {
		b, err := os.ReadFile(readSource(f, file).link(f))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if im := openBytes(t, b); im != nil {
			checkProgram(t, im)
		}
	})
}

// FuzzUnpack reads any facts: of a program or not, they end in an error or a program.
func FuzzUnpack(f *testing.F) {
	none := func(string) bool { return false }
	code := []byte{0x85, 0xff, 0x74, 0x01, 0xc3, 0x31, 0xc0, 0xc3} // test; je; ret; xor; ret
	im := fuzzImage(f, code, nil, []piece{{0, 5, 0}, {5, 3, 0}})
	var w pack.Writer
	Build(im, none).Pack(&w)
	f.Add(w.B)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Unpack(&pack.Reader{B: b}, im, none)
		if err == nil {
			p.Summary()
		}
	})
}

func sources(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly in testdata: %v", err)
	}
	return files
}

// seed is the code, data and functions of a source, at FuzzBuild's places.
func seed(t testing.TB, file string) (code, data, funcs []byte) {
	s := readSource(t, file)
	s.ld = []string{"-static", "-e", "0", "--unresolved-symbols=ignore-all", "-Ttext=0x1000",
		"--section-start=.rodata=0x8000", "--section-start=.data.rel.ro=0x9000", "--section-start=.data=0xa000"}
	im := open(t, s.link(t))
	for i := range im.Sections {
		x := &im.Sections[i]
		switch {
		case x.Name == ".text":
			code = x.Data
		case x.Addr >= fuzzData && x.Addr < fuzzData+0x4000:
			data = append(data, make([]byte, int(x.Addr-fuzzData)-len(data))...)
			data = append(data, x.Data...)
		}
	}
	for _, x := range im.Funcs {
		p := piece{uint16(x.Addr - fuzzCode), uint16(x.Size), 0}
		if x.Cold {
			p.what |= isCold
		}
		funcs = p.append(funcs)
	}
	return code, data, funcs
}

// fuzzImage is a program of code, data and functions.
func fuzzImage(t testing.TB, code, data []byte, list []piece) *image.Image {
	im := openBytes(t, fuzzELF(code, data, list))
	if im == nil {
		return nil
	}
	for i := range im.Funcs {
		what := list[0].what
		for _, x := range list {
			if fuzzCode+uint64(x.off) == im.Funcs[i].Addr {
				what = x.what
			}
		}
		im.Funcs[i].Synthetic = what&isNameless != 0
		if what&hasPad != 0 {
			im.Pads = append(im.Pads, im.Funcs[i].Addr+im.Funcs[i].Size/2)
		}
	}
	slices.Sort(im.Pads)
	return im
}

// fuzzELF is the file: a segment, the sections .text and .rodata, and symbols.
func fuzzELF(code, data []byte, list []piece) []byte {
	le := binary.LittleEndian
	names := "\x00.text\x00.rodata\x00.symtab\x00.strtab\x00"
	at := func(name string) uint32 { return uint32(strings.Index(names, name+"\x00")) }
	symtab, strs := make([]byte, 24), []byte{0}
	for i, x := range list {
		name := fmt.Sprintf("f%d", i)
		switch {
		case x.what&isCold != 0:
			name += ".cold"
		case x.what&isExit != 0:
			name = "exit"
		case x.what&isSetJmp != 0:
			name = "setjmp"
		}
		symtab = le.AppendUint32(symtab, uint32(len(strs)))
		symtab = append(symtab, byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0, 1, 0)
		symtab = le.AppendUint64(symtab, fuzzCode+uint64(x.off))
		symtab = le.AppendUint64(symtab, uint64(x.size))
		strs = append(append(strs, name...), 0)
	}
	var b bytes.Buffer
	b.Write(make([]byte, 64+56))
	type section struct {
		head elf.Section64
		data []byte
	}
	list64 := []section{{}, {elf.Section64{Name: at(".text"), Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: fuzzCode}, code},
		{elf.Section64{Name: at(".rodata"), Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC), Addr: fuzzData}, data},
		{elf.Section64{Name: at(".symtab"), Type: uint32(elf.SHT_SYMTAB), Link: 4, Entsize: 24}, symtab},
		{elf.Section64{Name: at(".strtab"), Type: uint32(elf.SHT_STRTAB)}, append(strs, names...)}}
	shift := uint32(len(strs))
	for i := range list64[1:] {
		s := &list64[i+1]
		s.head.Name += shift
		s.head.Off, s.head.Size = uint64(b.Len()), uint64(len(s.data))
		b.Write(s.data)
	}
	shoff := b.Len()
	for _, s := range list64 {
		binary.Write(&b, le, s.head)
	}
	var head bytes.Buffer
	binary.Write(&head, le, elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1,
		Phoff: 64, Shoff: uint64(shoff), Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64, Shnum: uint16(len(list64)), Shstrndx: 4})
	binary.Write(&head, le, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: 5, Vaddr: fuzzCode, Filesz: 0, Memsz: fuzzData - fuzzCode + 1<<16})
	out := b.Bytes()
	copy(out, head.Bytes())
	return out
}

// openBytes is the program of a file's contents, nil if they are none.
func openBytes(t testing.TB, b []byte) *image.Image {
	file, err := os.CreateTemp("", "fuzz")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if _, err := file.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := file.Chmod(0o755); err != nil {
		t.Fatal(err)
	}
	im, err := image.OpenLibrary(file.Name())
	if err != nil {
		im, _ = image.Open(file.Name())
	}
	return im
}

// checkProgram builds a program, and checks every graph.
func checkProgram(t *testing.T, im *image.Image) {
	p := Build(im, func(name string) bool { return name == "held" })
	var w pack.Writer
	p.Pack(&w)
	q, err := Unpack(&pack.Reader{B: w.B}, im, p.catches)
	if err != nil || len(q.Funcs) != len(p.Funcs) {
		t.Fatalf("unpacked: %v", err)
	}
	for i, f := range p.Funcs {
		if f.Skip != q.Funcs[i].Skip || f.Skip != "" {
			continue
		}
		g := p.Graph(f, nil)
		checkBlocks(t, g)
		checkEdges(t, g)
		checkLoops(t, g)
		if x := q.Graph(q.Funcs[i], nil); len(x.Blocks) != len(g.Blocks) || len(x.Edges) != len(g.Edges) {
			t.Errorf("%s unpacked has another graph", f.Name)
		}
	}
}

// checkBlocks: blocks are sorted, disjoint, of the function, and hold all its instructions.
func checkBlocks(t *testing.T, g *Graph) {
	n := 0
	for i, b := range g.Blocks {
		if b.ID != i || len(b.Insns) == 0 || b.Start != b.Insns[0].Addr || b.End != b.Last().End() || i > 0 && g.Blocks[i-1].End > b.Start {
			t.Errorf("%s: block %d, %#x … %#x, is out of order", g.Name, i, b.Start, b.End)
		}
		for k := range b.Insns {
			if in := &b.Insns[k]; !g.In(in.Addr) || k > 0 && b.Insns[k-1].End() != in.Addr || g.InsnAt(in.Addr) != in {
				t.Errorf("%s: instruction at %#x is out of order", g.Name, in.Addr)
			}
		}
		n += len(b.Insns)
	}
	if n != len(g.Code) || n != g.Insns || g.Entry == nil || g.Entry.Start != g.Ranges[0].Lo {
		t.Errorf("%s: %d instructions in blocks, %d in the graph, %d counted; entry %v", g.Name, n, len(g.Code), g.Insns, g.Entry)
	}
}

// checkEdges: edges lead from a block's end to the start of one of the same
// function, or out, and both ends know them.
func checkEdges(t *testing.T, g *Graph) {
	for i, e := range g.Edges {
		starts, out := e.Kind == Entry || e.Kind == Pad || e.Kind == Resumed, e.To == nil
		switch {
		case e.ID != i, starts != (e.From == nil), math.IsNaN(e.Freq), e.Freq < 0,
			e.From != nil && (g.Blocks[e.From.ID] != e.From || !slices.Contains(e.From.Succ, e)),
			e.To != nil && (g.Blocks[e.To.ID] != e.To || !slices.Contains(e.To.Pred, e)):
			t.Errorf("%s: edge %d, %s, is not one of its blocks", g.Name, i, kindNames[e.Kind])
		case out && (starts || e.Kind == Table || e.Kind == Jump || e.Kind == Fall && g.Torn == 0),
			!out && (e.Kind == Exit || e.Kind == Caught):
			t.Errorf("%s: edge %d, %s, leads nowhere or too far", g.Name, i, kindNames[e.Kind])
		case e.Kind == Fall && !out && e.From.End != e.To.Start,
			e.Kind == Taken && !out && e.From.Last().Target != e.To.Start,
			e.Kind == Jump && e.From.Last().Target != e.To.Start:
			t.Errorf("%s: edge %d, %s, leads to %#x", g.Name, i, kindNames[e.Kind], e.To.Start)
		}
	}
	for _, b := range g.Blocks {
		if len(b.Succ) == 0 {
			t.Errorf("%s: block %#x leads nowhere", g.Name, b.Start)
		}
	}
}

// checkLoops: a loop holds its head, and lies in its parent.
func checkLoops(t *testing.T, g *Graph) {
	for _, l := range g.Loops {
		if !l.Has(l.Head) || !slices.Contains(l.Blocks, l.Head) {
			t.Errorf("%s: loop without its head %#x", g.Name, l.Head.Start)
		}
		for _, b := range l.Blocks {
			if !l.Has(b) || l.Parent != nil && !l.Parent.Has(b) {
				t.Errorf("%s: block %#x of the loop at %#x is outside of its parent", g.Name, b.Start, l.Head.Start)
			}
		}
	}
}
