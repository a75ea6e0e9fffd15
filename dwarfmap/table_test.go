package dwarfmap

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// readelfRow is one row as readelf prints it: the file without its directory.
var readelfRow = regexp.MustCompile(`(?m)^(\S+) +(\d+) +(0x[0-9a-f]+)(\[\d+\])?(?: +(\d+))?( +x)?(?: +END)?\s*$`)

// TestAgainstReadelf compares the whole line table of a program.
func TestAgainstReadelf(t *testing.T) {
	for _, flags := range []string{"-O0", "-O2", "-O3 -gdwarf-4", "-O2 -flto", "-O2 -gno-variable-location-views", "-O2 -ffunction-sections -Wl,--gc-sections", "clang -O2", "clang -O0 -gdwarf-4"} {
		t.Run(flags, func(t *testing.T) {
			compiler := "gcc"
			rest, llvm := strings.CutPrefix(flags, "clang ")
			if llvm {
				compiler = clang(t)
			}
			program := buildC(t, need(t, compiler), strings.Fields(rest)...)
			out := run(t, ".", need(t, "readelf"), "-W", "--debug-dump=decodedline", program)
			m := open(t, program)
			var got, want []string
			for _, f := range readelfRow.FindAllStringSubmatch(out, -1) {
				a, err := strconv.ParseUint(f[3], 0, 64)
				if err != nil {
					t.Fatal(err)
				}
				if m.isCode(a) {
					want = append(want, fmt.Sprintf("%#x %s:%s%s", a, path.Base(f[1]), f[2], strings.TrimSpace(f[6])))
				}
			}
			for _, u := range m.units {
				table := m.load(u)
				for _, r := range table.rows {
					stmt := ""
					if r.stmt {
						stmt = "x"
					}
					got = append(got, fmt.Sprintf("%#x %s:%d%s", r.addr, path.Base(table.files[r.file]), r.line, stmt))
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if len(got) < 100 {
				t.Errorf("only %d rows", len(got))
			}
			if !slices.Equal(got, want) {
				t.Errorf("rows differ: %d, want %d", len(got), len(want))
				for i := range min(len(got), len(want)) {
					if got[i] != want[i] {
						t.Fatalf("first: %s, want %s", got[i], want[i])
					}
				}
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	program := buildC(t, need(t, "gcc"), "-O1")
	dir := path.Dir(program)
	m := open(t, program)
	for _, c := range []struct {
		file string
		line int
		any  bool
	}{
		{dir + "/work.c", 33, true},
		{dir + "/./include/../work.c", 33, true},
		{dir + "/include/step.h", 5, true},
		{"work.c", 33, false},
		{dir + "/work.c", 1, false},
		{dir + "/work.c", 0, false},
		{"", 0, false},
	} {
		got := m.Addresses(c.file, c.line)
		if (len(got) > 0) != c.any || !slices.IsSorted(got) {
			t.Errorf("%s:%d: %#x", c.file, c.line, got)
		}
		for _, a := range got {
			// Of several rows at one address Locate shows the last, such as the
			// first line of a function inlined at this one.
			l := m.Locate(a)
			here := false
			for _, f := range append(l.InlinedAt, l.Frame) {
				here = here || f.File == path.Clean(c.file)
			}
			if !here {
				t.Errorf("%s:%d: %#x is at %+v", c.file, c.line, a, l)
			}
		}
	}
	// step.h is compiled into both units.
	units, found := map[*unit]bool{}, [maxOverlap]unitRange{}
	for _, a := range m.Addresses(dir+"/include/step.h", 5) {
		units[m.unitsAt(uint64(a), &found)[0].unit] = true
	}
	if len(units) != 2 {
		t.Errorf("step.h:5 in %d units, want 2", len(units))
	}
}

// TestLineZero: rows without a place in the middle of a function, at its
// start, and in an inlined call. Assemblers drop such rows, so the tables are
// made by hand.
func TestLineZero(t *testing.T) {
	m := &Map{code: []span{{0x10, 0x20}}, budget: maxCached}
	for i, name := range []string{"f", "g", "h"} {
		m.symbols = append(m.symbols, symbol{span: span{0x10 + 4*uint64(i), 0x14 + 4*uint64(i)}, name: name})
	}
	tab := &tables{files: []string{"", "/f.c"}, sequences: []sequence{{0x10, 0x1e, 0, 7}}, callFiles: []int32{1}}
	tab.rows = []row{
		{0x10, 1, 7, 3, true}, {0x11, 1, 0, 0, true}, {0x13, 1, 9, 0, true},
		{0x14, 1, 0, 0, true}, {0x15, 1, 20, 0, true}, // g
		{0x18, 1, 30, 0, true}, {0x1a, 0, 0, 0, false}, // h, without debug information of its own
	}
	tab.scopes = []scope{{parent: -1}, {parent: 0, inlined: true, callLine: 2}, {parent: -1}}
	tab.segments = []segment{{0x10, 0}, {0x11, 1}, {0x13, 0}, {0x14, 2}, {0x18, -1}}
	tab.names = make([]atomic.Pointer[string], len(tab.scopes))
	for i, name := range []string{"f", "in", "g"} {
		tab.names[i].Store(&name)
	}
	u := &unit{}
	u.tables.Store(tab)
	m.ranges = []unitRange{{span: span{0x10, 0x1e}, unit: u}}
	m.publish()
	for _, c := range []struct {
		at   profile.Addr
		want string
	}{
		{0x10, "/f.c:7 f"},
		{0x11, "/f.c:7 f"}, // in an inlined call of no place: that of the row before it, with its function
		{0x12, "/f.c:7 f"},
		{0x13, "/f.c:9 f"},
		{0x14, ":0 g+0"}, // the row before belongs to another function
		{0x15, "/f.c:20 g"},
		{0x17, "/f.c:20 g"},
		{0x18, "/f.c:30 h"},
		{0x1b, "/f.c:30 h"},
		{0x1e, ":0 +0"}, // past the end of the sequence, and of all symbols
		{0x40, ":0 +0"},
	} {
		l := m.Locate(c.at)
		got := fmt.Sprintf("%s:%d %s", l.File, l.Line, l.Function)
		if l.File == "" {
			got += fmt.Sprintf("+%d", l.SymbolOffset)
		}
		if got != c.want || len(l.InlinedAt) > 0 {
			t.Errorf("%#x: %s %v, want %s", c.at, got, l.InlinedAt, c.want)
		}
	}
}

func (m *Map) symbolNamed(name string) (uint64, bool) {
	for _, s := range m.symbols {
		if s.name == name {
			return s.lo, true
		}
	}
	return 0, false
}

// TestStatement: what stands before a block's first statement is of the line before.
func TestStatement(t *testing.T) {
	m := &Map{budget: maxCached}
	tab := &tables{files: []string{"", "/f.c"}, sequences: []sequence{{0x10, 0x20, 0, 5}}}
	tab.rows = []row{
		{0x10, 1, 7, 3, true}, {0x12, 1, 7, 9, false}, {0x16, 1, 0, 0, true}, {0x18, 1, 8, 5, true}, {0x1c, 1, 7, 9, false},
	}
	u := &unit{}
	u.tables.Store(tab)
	m.ranges = []unitRange{{span: span{0x10, 0x20}, unit: u}}
	m.publish()
	for _, c := range []struct{ from, to, want profile.Addr }{
		{0x10, 0x20, 0x10}, // it begins with one
		{0x12, 0x20, 0x18}, // what has no place is none
		{0x14, 0x20, 0x18}, // in the middle of a row
		{0x14, 0x18, 0x14}, // the next one is behind it
		{0x1c, 0x20, 0x1c}, // there is none,
		{0x1c, 0x40, 0x1c}, // nor behind the end of the table
		{0x30, 0x40, 0x30}, // of no table
	} {
		if got := m.Statement(c.from, c.to); got != c.want {
			t.Errorf("from %#x to %#x: %#x, want %#x", c.from, c.to, got, c.want)
		}
	}
}
