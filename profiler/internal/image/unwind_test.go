package image

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPads compares landing pads with the assembler's labels: in the compiler's
// own output, the third entry of each call-site record names the pad.
func TestPads(t *testing.T) {
	record := regexp.MustCompile(`(?m)^\s*\.uleb128 \.LEHB\S*\n\s*\.uleb128 \.LEHE\S*\n\s*\.uleb128 (\.L\w+)-\.L\w+`)
	for _, flags := range []string{"-O2", "-O0", "-O2 -fcf-protection=full", "-O2 -fno-reorder-blocks-and-partition", "-O2 -no-pie -fno-pie", "-O2 -static"} {
		t.Run(flags, func(t *testing.T) {
			gxx := need(t, "g++")
			dir := t.TempDir()
			asm, program := filepath.Join(dir, "a.s"), filepath.Join(dir, "a")
			run := func(args ...string) {
				t.Helper()
				if out, err := exec.Command(gxx, append(strings.Fields(flags), args...)...).CombinedOutput(); err != nil {
					t.Fatalf("%s", out)
				}
			}
			run("-S", "-o", asm, filepath.Join("testdata", "throws.cc"))
			run("-Wa,-L", "-o", program, asm) // -L keeps the labels as symbols
			text, err := os.ReadFile(asm)
			if err != nil {
				t.Fatal(err)
			}
			labels := map[string]bool{}
			for _, m := range record.FindAllSubmatch(text, -1) {
				labels[string(m[1])] = true
			}
			im := load(t, program)
			var want []uint64
			for _, s := range readelfSymbols(t, program, ".symtab") {
				if labels[s.name] && im.Exec(s.addr) {
					// Libraries linked in have labels of these names too.
					if f := im.FuncAt(s.addr); f != nil && ours(f.Name) {
						want = append(want, s.addr)
					}
				}
			}
			slices.Sort(want)
			var got []uint64
			for _, p := range im.Pads {
				if f := im.FuncAt(p); f != nil && ours(f.Name) {
					got = append(got, p)
				}
			}
			if !slices.Equal(got, want) || len(want) < 4 {
				t.Errorf("pads %x, want %x", got, want)
			}
			if strings.Contains(flags, "cf-protection") {
				for _, p := range got {
					if b := im.Bytes(p); string(b[:4]) != "\xf3\x0f\x1e\xfa" {
						t.Errorf("no endbr64 at the pad %#x", p)
					}
				}
			}
		})
	}
}

func ours(name string) bool {
	return strings.HasPrefix(name, "_Z4deep") || strings.HasPrefix(name, "_Z6middle") || name == "main" || name == "main.cold"
}

// TestRelocatedContents reads a table of absolute code addresses, which in a
// position-independent program are zero or not in the file, by the way the
// linker wrote its relocations.
func TestRelocatedContents(t *testing.T) {
	for _, v := range variants {
		if v.name == "stripped" {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			path := build(t, "throws.cc", v)
			im := load(t, path)
			pick := -1
			for i, f := range im.Funcs {
				if strings.Contains(f.Name, "pick") {
					pick = i
				}
			}
			for _, s := range readelfSymbols(t, path, ".symtab") {
				if s.typ != "OBJECT" || !strings.Contains(s.name, "pick") {
					continue
				}
				if pick < 0 { // inlined: the table points into main
					t.Skip("pick was inlined")
				}
				f := im.Funcs[pick]
				for i := range uint64(4) {
					w, ok := im.Word(s.addr + 8*i)
					if !ok || w < f.Addr || w >= f.End() {
						t.Errorf("entry %d is %#x, not in %s [%#x, %#x)", i, w, f.Name, f.Addr, f.End())
					}
				}
				return
			}
			t.Skip("the compiler made no table")
		})
	}
}

// leb is a number in LEB128.
func leb(v uint64) []byte {
	var out []byte
	for {
		b := byte(v & 0x7f)
		if v >>= 7; v == 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

func le(v uint64, n int) (out []byte) {
	for i := range n {
		out = append(out, byte(v>>(8*i)))
	}
	return out
}

// TestEncodedPointers reads each encoding, what no single compiler writes.
func TestEncodedPointers(t *testing.T) {
	word := func(addr uint64) (uint64, bool) { return addr + 0x1000, addr < 0x100000 }
	b := bases{text: 0x1000, data: 0x2000, fun: 0x3000, word: word}
	minus := uint64(0xfffffffffffffff0)
	for _, c := range []struct {
		enc  byte
		data []byte
		want uint64
	}{
		{encAbsptr, le(0x1234567890, 8), 0x1234567890},
		{encUleb, leb(300), 300},
		{encUleb, []byte{0x80, 0x80, 0x00}, 0}, // padded zero
		{encSleb, []byte{0x70}, minus},
		{encUdata2, le(0xfff0, 2), 0xfff0},
		{encSdata2, le(0xfff0, 2), minus},
		{encUdata4, le(0xfffffff0, 4), 0xfffffff0},
		{encSdata4, le(0xfffffff0, 4), minus},
		{encUdata8, le(7, 8), 7},
		{encSdata8, le(minus, 8), minus},
		{encPcrel | encSdata4, le(0x10, 4), 0x8010},
		{encPcrel | encSdata4, le(0, 4), 0}, // null stays null
		{encPcrel | encSdata4 | encIndirect, le(0x10, 4), 0x9010},
		{encTextrel | encUdata2, le(0x10, 2), 0x1010},
		{encDatarel | encSdata4, le(0x10, 4), 0x2010},
		{encFuncrel | encUdata2, le(0x10, 2), 0x3010},
		{encAligned, le(0x77, 8), 0x77},
	} {
		cur := cursor{data: c.data, addr: 0x8000}
		if got := cur.pointer(c.enc, b); got != c.want || cur.err != nil || cur.left() != 0 {
			t.Errorf("encoding %#x: %#x, want %#x; %v, %d bytes left", c.enc, got, c.want, cur.err, cur.left())
		}
		cur = cursor{data: c.data[:len(c.data)-1], addr: 0x8000}
		if cur.pointer(c.enc, b); cur.err == nil {
			t.Errorf("encoding %#x: no error for a short pointer", c.enc)
		}
	}
	for _, enc := range []byte{0x05, 0x0d, 0x60, 0x70 | encUdata4} {
		cur := cursor{data: le(1, 8)}
		if cur.pointer(enc, b); cur.err == nil {
			t.Errorf("encoding %#x: no error", enc)
		}
	}
	cur := cursor{data: le(0x7fffffff, 4)}
	if cur.pointer(encUdata4|encIndirect, b); cur.err == nil {
		t.Error("no error for an indirect pointer to nowhere")
	}
}

// record makes one of .eh_frame's, with a 4-byte or an 8-byte length.
func record(wide bool, body []byte) []byte {
	if wide {
		return append(le(0xffffffff, 4), append(le(uint64(len(body)), 8), body...)...)
	}
	return append(le(uint64(len(body)), 4), body...)
}

// TestEHFrameForms reads forms that linkers may write and compilers here do not.
func TestEHFrameForms(t *testing.T) {
	common := func(wide bool, version byte, aug string, data []byte) []byte {
		id := le(0, 4)
		if wide {
			id = le(0, 8)
		}
		body := append(id, version)
		body = append(body, aug...)
		body = append(body, 0)
		if aug == "eh" {
			body = append(body, le(0, 8)...)
		}
		if version == 4 {
			body = append(body, 8, 0)
		}
		body = append(body, 1, 0x78, 16)
		if strings.HasPrefix(aug, "z") {
			body = append(append(body, leb(uint64(len(data)))...), data...)
		}
		return record(wide, body)
	}
	var frame []byte
	cieAt := 0
	cie := func(wide bool, version byte, aug string, data ...byte) {
		cieAt = len(frame)
		frame = append(frame, common(wide, version, aug, data)...)
	}
	fde := func(wide bool, body ...[]byte) {
		n := 4
		if wide {
			n = 12
		}
		id := le(uint64(len(frame)+n-cieAt), 4)
		if wide {
			id = le(uint64(len(frame)+n-cieAt), 8)
		}
		frame = append(frame, record(wide, append(id, slices.Concat(body...)...))...)
	}
	cie(false, 1, "")
	fde(false, le(0x1000, 8), le(0x10, 8))
	frame = append(frame, 0, 0, 0, 0) // one file's end is not the section's
	cie(true, 1, "zR", encUdata4)
	fde(true, le(0x2000, 4), le(0x20, 4), leb(0), []byte{0x0a, 0x86, 2}) // after remember_state, offset
	cie(false, 3, "zPLR", append([]byte{encUdata8}, append(le(0x9999, 8), encUdata4, encUdata4)...)...)
	fde(false, le(0x3000, 4), le(0x30, 4), leb(4), le(0x5555, 4))
	fde(false, le(0x3100, 4), le(0x31, 4), leb(4), le(0, 4), []byte{0, 0x0e, 16}) // no LSDA after all; def_cfa_offset
	fde(false, le(0, 4), le(0x31, 4), leb(4), le(0x5555, 4))                      // its function was thrown away
	cie(false, 1, "zRS", encPcrel|encSdata4)                                      // a signal frame
	at := uint64(0x100000 + len(frame) + 8)
	fde(false, le(0x4000-at, 4), le(0x40, 4), leb(0))
	cie(false, 4, "zLR", encOmit, encUdata2)
	fde(false, le(0x5000, 2), le(0x50, 2), leb(0), []byte{0x41, 0x0e, 16}) // advance_loc first
	cie(false, 1, "eh")
	fde(false, le(0x6000, 8), le(0x60, 8))
	frame = append(frame, 0, 0, 0, 0, 0, 0, 0, 0)
	got, err := readEHFrame(frame, 0x100000, bases{})
	want := []FDE{{0x1000, 0x10, 0, false}, {0x2000, 0x20, 0, true}, {0x3000, 0x30, 0x5555, false}, {0x3100, 0x31, 0, true}, {0x4000, 0x40, 0, false}, {0x5000, 0x50, 0, false}, {0x6000, 0x60, 0, false}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for n := range frame { // cut short anywhere
		part, err := readEHFrame(frame[:n], 0x100000, bases{})
		if len(part) > len(want) || !slices.Equal(part, want[:len(part)]) {
			t.Errorf("%d bytes: %+v, %v", n, part, err)
		}
	}
	for name, bad := range map[string][]byte{
		"augmentation": common(false, 1, "zQ", []byte{1}),
		"version":      common(false, 9, "", nil),
		"no CIE":       record(false, append(le(0x100, 4), le(1, 16)...)),
		"length":       {0xf0, 0xff, 0xff, 0x7f, 0, 0, 0, 0},
	} {
		if _, err := readEHFrame(bad, 0, bases{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestLSDAForms does the same for landing pads.
func TestLSDAForms(t *testing.T) {
	sites := func(n int) []byte {
		s := slices.Concat(le(0, n), le(8, n), le(0x20, n), leb(1), le(8, n), le(8, n), le(0, n), leb(0), le(16, n), le(8, n), le(0x30, n), leb(3))
		return append(leb(uint64(len(s))), s...)
	}
	tail := []byte{1, 2, 3} // action and type tables
	im := Image{Landings: []Landing{{0x1000, 0x1008, 0x1020}, {0x1010, 0x1018, 0x1030}}}
	for addr, want := range map[uint64]uint64{0xfff: 0, 0x1007: 0x1020, 0x1008: 0, 0x1017: 0x1030, 0x1018: 0} {
		if got := im.LandingOf(addr); got != want {
			t.Errorf("at %#x: %#x, want %#x", addr, got, want)
		}
	}
	for name, data := range map[string][]byte{
		"uleb":    slices.Concat([]byte{encOmit, encOmit, encUleb}, sitesLEB(), tail),
		"udata4":  slices.Concat([]byte{encOmit, encPcrel | encSdata4, 0x85, 0x01, encUdata4}, sites(4), tail),
		"udata2":  slices.Concat([]byte{encOmit, encOmit, encUdata2}, sites(2)),
		"lpstart": slices.Concat([]byte{encUdata4}, le(0x1000, 4), []byte{encOmit, encUdata8}, sites(8)),
	} {
		got, err := readLSDA(data, 0x8000, 0x1000, bases{})
		if err != nil || fmt.Sprintf("%x", got) != "[{1000 1008 1020} {1010 1018 1030}]" {
			t.Errorf("%s: %x, %v", name, got, err)
		}
		for n := range data[:len(data)-len(tail)-1] {
			if pads, err := readLSDA(data[:n], 0x8000, 0x1000, bases{}); err == nil || len(pads) > 2 {
				t.Errorf("%s cut to %d bytes: %x, %v", name, n, pads, err)
			}
		}
	}
}

func sitesLEB() []byte {
	s := []byte{0, 8, 0x20, 1, 8, 8, 0, 0, 16, 8, 0x30, 3}
	return append(leb(uint64(len(s))), s...)
}

// TestStripped compares the functions found in a stripped program with those
// that its symbols named before: all that unwinding knows are there, with their
// size, and the entry has its name.
func TestStripped(t *testing.T) {
	for _, source := range []string{"plain.c", "throws.cc"} {
		for _, v := range []variant{variants[0], {name: "static", flags: "-O2 -static"}} {
			path := build(t, source, v)
			stripped := path + "-stripped"
			if out, err := exec.Command(need(t, "strip"), "-o", stripped, path).CombinedOutput(); err != nil {
				t.Fatalf("strip: %s", out)
			}
			whole, im := load(t, path), load(t, stripped)
			if !im.Stripped || whole.Stripped {
				t.Fatal("not stripped, or stripped before")
			}
			unwound := map[uint64]uint64{}
			for _, d := range im.FDEs {
				unwound[d.Start] = d.Size
			}
			found := 0
			for _, f := range whole.Funcs {
				size, ok := unwound[f.Addr]
				if !ok || strings.HasPrefix(f.Name, "_dl_relocate_static_pie") {
					continue
				}
				g := im.FuncAt(f.Addr)
				if g == nil || g.Addr != f.Addr || g.Size > max(size, f.Size) {
					t.Errorf("%s %s: %s [%#x, %#x) is %+v", source, v.name, f.Name, f.Addr, f.End(), g)
					continue
				}
				found++
				if f.Addr == im.Entry && g.Name != "_start" {
					t.Errorf("the entry is %s", g.Name)
				}
			}
			if found < 4 {
				t.Errorf("%d functions", found)
			}
			if !slices.Equal(im.Pads, whole.Pads) || len(im.PLT) == 0 && len(whole.PLT) != 0 && v.name != "static" {
				t.Error("landing pads or stubs differ")
			}
		}
	}
}
