package dwarfmap

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func move(t testing.TB, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// openWith is Open with another place for /usr/lib/debug.
func openWith(t testing.TB, path, debugDir string) *Map {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMap(f, path, debugDir)
	if err != nil {
		t.Fatal(err)
	}
	m.closers = append(m.closers, f)
	t.Cleanup(func() { m.Close() })
	return m
}

func codes(m *Map) string {
	var cs []string
	for _, w := range m.Warnings() {
		cs = append(cs, w.Code)
	}
	return strings.Join(cs, " ")
}

func TestSeparateDebugFile(t *testing.T) {
	objcopy, strip := need(t, "objcopy"), need(t, "strip")
	for _, c := range []struct {
		name     string
		prepare  func(t *testing.T, dir, root string)
		lines    bool
		warnings string
	}{
		{"stripped", func(t *testing.T, dir, root string) {
			run(t, dir, strip, "work")
		}, false, ""},
		{"beside", func(t *testing.T, dir, root string) {
			run(t, dir, objcopy, "--only-keep-debug", "work", "work.debug")
			run(t, dir, strip, "work")
			run(t, dir, objcopy, "--add-gnu-debuglink=work.debug", "work")
		}, true, ""},
		{"in .debug, compressed", func(t *testing.T, dir, root string) {
			run(t, dir, objcopy, "--only-keep-debug", "--compress-debug-sections", "work", "work.debug")
			run(t, dir, objcopy, "--strip-all", "--add-gnu-debuglink=work.debug", "work")
			move(t, dir+"/work.debug", dir+"/.debug/work.debug")
		}, true, ""},
		{"in the debug directory", func(t *testing.T, dir, root string) {
			run(t, dir, objcopy, "--only-keep-debug", "work", "work.debug")
			run(t, dir, objcopy, "--strip-all", "--add-gnu-debuglink=work.debug", "work")
			move(t, dir+"/work.debug", filepath.Join(root, dir, "work.debug"))
		}, true, ""},
		{"by build id", func(t *testing.T, dir, root string) {
			run(t, dir, objcopy, "--only-keep-debug", "work", "work.debug")
			run(t, dir, strip, "work")
			id := strings.Fields(strings.SplitN(run(t, dir, need(t, "readelf"), "-n", "work"), "Build ID:", 2)[1])[0]
			move(t, dir+"/work.debug", filepath.Join(root, ".build-id", id[:2], id[2:]+".debug"))
		}, true, ""},
		{"of another build", func(t *testing.T, dir, root string) {
			run(t, dir, objcopy, "--only-keep-debug", "work", "work.debug")
			run(t, dir, objcopy, "--strip-all", "--add-gnu-debuglink=work.debug", "work")
			write(t, dir+"/work.debug", "something else")
		}, false, "debug-file-mismatch no-debug-file"},
		{"by the program's own name", func(t *testing.T, dir, root string) {
			run(t, dir, objcopy, "--only-keep-debug", "work", "work.debug")
			move(t, dir+"/work.debug", dir+"/kept/work")
			run(t, dir, objcopy, "--strip-all", "--add-gnu-debuglink=kept/work", "work")
		}, false, "no-debug-file"},
		{"missing", func(t *testing.T, dir, root string) {
			run(t, dir, objcopy, "--only-keep-debug", "work", "work.debug")
			run(t, dir, objcopy, "--strip-all", "--add-gnu-debuglink=work.debug", "work")
			move(t, dir+"/work.debug", dir+"/elsewhere")
		}, false, "no-debug-file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			program := buildC(t, need(t, "gcc"), "-O2", "-rdynamic", "-Wl,--build-id")
			whole := open(t, program)
			at, ok := whole.symbolNamed("work")
			if !ok {
				t.Fatal("no symbol work")
			}
			want := whole.Locate(profile.Addr(at + 4))
			root := t.TempDir()
			c.prepare(t, filepath.Dir(program), root)
			m := openWith(t, program, root)
			got := m.Locate(profile.Addr(at + 4))
			if m.HasLines() != c.lines || codes(m) != c.warnings {
				t.Errorf("lines %v, warnings %v", m.HasLines(), m.Warnings())
			}
			if c.lines && (got.Frame != want.Frame || !got.Known()) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if !c.lines && (got.Function != "work" || got.SymbolOffset != 4 || got.File != "") {
				t.Errorf("got %+v, want work+4", got)
			}
		})
	}
}

// TestDwz: what dwz shares between units (partial units) and between programs
// (.gnu_debugaltlink) must not change an answer.
func TestDwz(t *testing.T) {
	dwz := need(t, "dwz")
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		for _, shared := range []string{"", "beside", "by build id"} {
			t.Run(version+" "+shared, func(t *testing.T) {
				program := buildCC(t, need(t, "g++"), "-O2", version)
				dir, root := filepath.Dir(program), t.TempDir()
				whole := open(t, program)
				want := map[uint64]profile.Location{}
				for _, a := range everyByte(whole, 1) {
					want[a] = whole.Locate(profile.Addr(a))
				}
				run(t, dir, "cp", "work", "other")
				if shared == "" {
					run(t, dir, dwz, "work")
				} else {
					run(t, dir, dwz, "-m", "shared.dwz", "-r", "work", "other")
				}
				if shared == "by build id" {
					id := strings.Fields(strings.SplitN(run(t, dir, need(t, "readelf"), "-n", "shared.dwz"), "Build ID:", 2)[1])[0]
					move(t, dir+"/shared.dwz", filepath.Join(root, ".build-id", id[:2], id[2:]+".debug"))
				}
				m := openWith(t, program, root)
				if ws := m.Warnings(); len(ws) > 0 {
					t.Error(ws)
				}
				for a, w := range want {
					if got := m.Locate(profile.Addr(a)); !reflect.DeepEqual(got, w) {
						t.Fatalf("%#x: got %+v, want %+v", a, got, w)
					}
				}
			})
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/script", "#!/bin/sh\necho hello\n")
	write(t, dir+"/empty", "")
	for _, path := range []string{"/script", "/empty", "/missing", ""} {
		if _, err := Open(dir + path); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestDamaged overwrites whole debug sections: symbols remain, and the doubt is told.
func TestDamaged(t *testing.T) {
	program := buildC(t, need(t, "gcc"), "-O1")
	good, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".debug_info", ".debug_abbrev", ".debug_line", ".debug_line_str", ".debug_str", ".debug_rnglists"} {
		for _, with := range []byte{0, 0xff, 0x7f, 1} {
			b := bytes.Clone(good)
			s := f.Section(name)
			if s == nil {
				continue
			}
			for i := s.Offset; i < s.Offset+s.Size; i++ {
				b[i] = with
			}
			m, err := newMap(bytes.NewReader(b), program, "/nonexistent")
			if err != nil {
				t.Fatal(err)
			}
			at, ok := m.symbolNamed("work")
			if !ok {
				t.Fatal("no symbol work")
			}
			l := m.Locate(profile.Addr(at))
			if name != ".debug_rnglists" && name != ".debug_str" && l.Known() {
				t.Errorf("%s of %#x: got %+v", name, with, l)
			}
			if !l.Known() && l.Function != "work" {
				t.Errorf("%s of %#x: got %+v, want the symbol", name, with, l)
			}
			for _, w := range m.Warnings() {
				if w.Code != "damaged-debug-info" || strings.Contains(w.Message, "\n") {
					t.Errorf("%s of %#x: %+v", name, with, w)
				}
			}
			t.Logf("%s of %#x: %v", name, with, m.Warnings())
		}
	}
}

// TestEviction looks up with a cache that holds one unit at a time, from many goroutines.
func TestEviction(t *testing.T) {
	program := buildC(t, need(t, "gcc"), "-O2")
	want := map[uint64]profile.Location{}
	m := open(t, program)
	addrs := everyByte(m, 3)
	for _, a := range addrs {
		want[a] = m.Locate(profile.Addr(a))
	}
	m = open(t, program)
	m.budget = 1
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range addrs {
				a := addrs[(i*7+g*31)%len(addrs)]
				if got, w := m.Locate(profile.Addr(a)), want[a]; got.Frame != w.Frame || len(got.InlinedAt) != len(w.InlinedAt) {
					t.Errorf("%#x: got %+v, want %+v", a, got, w)
					return
				}
			}
			m.Addresses("/nowhere.c", g)
		})
	}
	wg.Wait()
	held := 0
	for _, u := range m.units {
		if u.tables.Load() != nil {
			held++
		}
	}
	if held > 1 {
		t.Errorf("%d units are held", held)
	}
}

func TestReadable(t *testing.T) {
	m := &Map{demangled: map[string]string{}}
	for in, want := range map[string]string{
		"main":                               "main",
		"work.part.0":                        "work.part.0",
		"main._omp_fn.0":                     "main._omp_fn.0",
		"_ZN4grid4CellIdE5relaxERKd":         "grid::Cell::relax",
		"_ZN4grid3runEi.cold":                "grid::run.cold",
		"_ZN3foo3bar17h05af221e174051e9E":    "foo::bar",
		"_RNvC6_123foo3bar":                  "123foo::bar",
		"main.(*grid).relax":                 "main.(*grid).relax",
		"__sort<int*, std::less<int> >":      "__sort",
		"operator< <int>":                    "operator< <int>",
		"_ZNSt6vectorIiSaIiEE9push_backERKi": "std::vector::push_back",
		"_ZZN4grid6hiddenERSt6vectorIPiSaIS1_EEENKUlPKiS5_E_clES5_S5_": "grid::hidden()::{lambda(int const*, int const)#1}::operator()",
		"_Zgarbage":     "_Zgarbage",
		"_start":        "_start",
		"<lambda(int)>": "<lambda(int)>",
	} {
		if got := m.readable(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
