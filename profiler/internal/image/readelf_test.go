package image

import (
	"bufio"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func number(t testing.TB, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// plainName takes the version off a symbol.
func plainName(s string) string {
	name, _, _ := strings.Cut(s, "@")
	return name
}

// TestFDEs compares the unwind table's ranges with readelf's.
func TestFDEs(t *testing.T) {
	line := regexp.MustCompile(` FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)\n((?:  .*\n)*)`)
	set := regexp.MustCompile(`DW_CFA_(def_cfa|offset|expression|val_expression)`)
	everyProgram(t, func(t *testing.T, path string, im *Image) {
		var want, got []string
		for _, m := range line.FindAllStringSubmatch(output(t, "readelf", "-wf", path), -1) {
			from, to := number(t, m[1]), number(t, m[2])
			if from != 0 && from < to {
				first, _, _ := strings.Cut(m[3], "DW_CFA_advance")
				want = append(want, fmt.Sprintf("%016x %016x %v", from, to, set.MatchString(first)))
			}
		}
		for _, f := range im.FDEs {
			got = append(got, fmt.Sprintf("%016x %016x %v", f.Start, f.Start+f.Size, f.Midway))
		}
		slices.Sort(want)
		compareLists(t, got, want)
		if len(want) == 0 {
			t.Error("no FDEs")
		}
		for _, p := range im.Pads {
			if im.FuncAt(p) == nil {
				t.Errorf("the landing pad %#x is in no function", p)
			}
		}
	})
}

func compareLists(t *testing.T, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	shown := 0
	show := func(what string, from, in []string) {
		for _, s := range from {
			if _, ok := slices.BinarySearch(in, s); !ok && shown < 10 {
				shown++
				t.Errorf("%s: %s", what, s)
			}
		}
	}
	show("missing", want, got)
	show("too many", got, want)
	if shown == 0 {
		t.Errorf("%d, want %d", len(got), len(want))
	}
}

// A readelfSymbol is a line of readelf -s.
type readelfSymbol struct {
	addr, size uint64
	typ, bind  string
	section    string
	name       string
}

func readelfSymbols(t *testing.T, path, table string) (out []readelfSymbol) {
	in := false
	s := bufio.NewScanner(strings.NewReader(output(t, "readelf", "-sW", path)))
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		// What readelf calls IFUNC only if the file says that it is of GNU.
		f := strings.Fields(strings.Replace(s.Text(), "<OS specific>: 10", "IFUNC", 1))
		if len(f) > 2 && f[0] == "Symbol" {
			in = f[2] == "'"+table+"'"
		}
		if !in || len(f) < 8 || !strings.HasSuffix(f[0], ":") || f[0] == "Num:" {
			continue
		}
		size, err := strconv.ParseUint(f[2], 0, 64) // in hex from 100000 on
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, readelfSymbol{number(t, f[1]), size, f[3], f[4], f[6], plainName(f[7])})
	}
	return out
}

// TestSymbols compares functions with readelf's symbols: each is there, with
// its size, under one of its names.
func TestSymbols(t *testing.T) {
	everyProgram(t, func(t *testing.T, path string, im *Image) {
		table := ".symtab"
		if im.Stripped {
			table = ".dynsym"
		}
		names := map[uint64][]string{}
		sizes := map[uint64]uint64{}
		global := map[string]bool{}
		imports := 0
		for _, s := range readelfSymbols(t, path, table) {
			if s.typ != "FUNC" && s.typ != "IFUNC" || s.section == "UND" || s.section == "ABS" {
				continue
			}
			names[s.addr] = append(names[s.addr], s.name)
			sizes[s.addr] = max(sizes[s.addr], s.size)
			if s.bind != "LOCAL" {
				global[fmt.Sprint(s.addr, s.name)] = true
			}
		}
		for _, s := range readelfSymbols(t, path, ".dynsym") {
			if s.section == "UND" && s.name != "" {
				imports++
				if !im.Imports[s.name] {
					t.Errorf("import %s is missing", s.name)
				}
			}
		}
		if len(im.Imports) > imports {
			t.Errorf("%d imports, want at most %d", len(im.Imports), imports)
		}
		last := uint64(0)
		found := 0
		for _, f := range im.Funcs {
			if f.Addr < last || f.Size == 0 || !im.Exec(f.Addr) || !im.Exec(f.End()-1) {
				t.Errorf("%s at %#x, %d bytes", f.Name, f.Addr, f.Size)
			}
			last = f.Addr + 1
			if im.FuncAt(f.Addr).Addr != f.Addr {
				t.Errorf("FuncAt(%#x) is not %s", f.Addr, f.Name)
			}
			if f.Synthetic {
				if names[f.Addr] != nil && sizes[f.Addr] != 0 {
					t.Errorf("%#x has the symbol %s", f.Addr, names[f.Addr])
				}
				continue
			}
			found++
			if !slices.Contains(names[f.Addr], f.Name) || f.Size != sizes[f.Addr] && sizes[f.Addr] != 0 {
				t.Errorf("%s at %#x, %d bytes; want one of %s, %d bytes", f.Name, f.Addr, f.Size, names[f.Addr], sizes[f.Addr])
			}
			if !global[fmt.Sprint(f.Addr, f.Name)] {
				for _, n := range names[f.Addr] {
					if global[fmt.Sprint(f.Addr, n)] && !strings.Contains(n, ".") {
						t.Errorf("%s rather than %s, which is global", f.Name, n)
					}
				}
			}
		}
		for addr, size := range sizes {
			if size != 0 && im.Exec(addr) {
				found--
			}
		}
		for _, f := range im.Funcs {
			if !f.Synthetic && sizes[f.Addr] == 0 {
				found--
			}
		}
		if found != 0 {
			t.Errorf("%d functions too many", found)
		}
	})
}

// TestStubs compares the procedure linkage table with objdump's names for its
// stubs.
func TestStubs(t *testing.T) {
	label := regexp.MustCompile(`(?m)^([0-9a-f]+) <([^>]+)@plt>:$`)
	everyProgram(t, func(t *testing.T, path string, im *Image) {
		var want, got []string
		var sections []string
		for _, s := range im.Sections {
			if strings.HasPrefix(s.Name, ".plt") {
				sections = append(sections, "-j", s.Name)
			}
		}
		if sections == nil {
			if len(im.PLT) > 0 {
				t.Errorf("%d stubs without a section", len(im.PLT))
			}
			return
		}
		text := output(t, "objdump", append(sections, "-d", path)...)
		for _, m := range label.FindAllStringSubmatch(text, -1) {
			if name := plainName(m[2]); !strings.HasPrefix(name, "*ABS*") {
				want = append(want, fmt.Sprintf("%016x %s", number(t, m[1]), name))
			}
		}
		slots := map[string]bool{}
		for _, name := range im.GOT {
			slots[name] = true
		}
		for addr, name := range im.PLT {
			if slots[name] { // the others are ifuncs of this image, which objdump does not name
				got = append(got, fmt.Sprintf("%016x %s", addr, name))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		compareLists(t, got, want)
	})
}

// TestSlots compares the imported functions' slots with readelf's relocations.
func TestSlots(t *testing.T) {
	line := regexp.MustCompile(`(?m)^([0-9a-f]+)\s+[0-9a-f]+ R_X86_64_(?:JUMP_SLOT|GLOB_DAT)\s+[0-9a-f]+ (\S+)`)
	everyProgram(t, func(t *testing.T, path string, im *Image) {
		var want, got []string
		for _, m := range line.FindAllStringSubmatch(output(t, "readelf", "-rW", path), -1) {
			want = append(want, fmt.Sprintf("%016x %s", number(t, m[1]), plainName(m[2])))
		}
		for addr, name := range im.GOT {
			got = append(got, fmt.Sprintf("%016x %s", addr, name))
		}
		slices.Sort(got)
		slices.Sort(want)
		compareLists(t, got, want)
	})
}

// TestHeaders compares what kind of program it is.
func TestHeaders(t *testing.T) {
	everyProgram(t, func(t *testing.T, path string, im *Image) {
		text := output(t, "readelf", "-hlnW", path)
		has := func(s string) bool { return strings.Contains(text, s) }
		if im.Relocatable != has("DYN (") {
			t.Errorf("Relocatable %v", im.Relocatable)
		}
		if im.Static != (!has("Requesting program interpreter") && !strings.Contains(output(t, "readelf", "-dW", path), "(NEEDED)")) {
			t.Errorf("Static %v", im.Static)
		}
		if m := regexp.MustCompile(`Entry point address:\s+(\S+)`).FindStringSubmatch(text); number(t, m[1]) != im.Entry {
			t.Errorf("Entry %#x, want %s", im.Entry, m[1])
		}
		if m := regexp.MustCompile(`interpreter: (\S+)\]`).FindStringSubmatch(text); m != nil && m[1] != im.Interp {
			t.Errorf("Interp %q, want %q", im.Interp, m[1])
		}
		if m := regexp.MustCompile(`Build ID: (\S+)`).FindStringSubmatch(text); m != nil && m[1] != im.BuildID {
			t.Errorf("BuildID %q, want %q", im.BuildID, m[1])
		}
		if low, high := im.Lowest, im.Highest; low >= high || im.Entry != 0 && (im.Entry < low || im.Entry >= high) {
			t.Errorf("[%#x, %#x), entry %#x", low, high, im.Entry)
		}
	})
}
