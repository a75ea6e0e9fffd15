package dwarfmap

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// splitTwins builds a program twice in one directory, the second time with its functions in
// .dwo files.
func splitTwins(t *testing.T, compiler string, flags ...string) (whole, split string) {
	dir := source(t)
	for _, c := range []struct {
		name string
		args []string
	}{{"whole", []string{"-gno-split-dwarf"}}, {"split", nil}} {
		for _, src := range []string{"work", "other"} {
			run(t, dir, append(append([]string{compiler, "-g", "-gsplit-dwarf", "-I", "include", "-c", src + ".c", "-o", src + ".o"}, flags...), c.args...)...)
		}
		run(t, dir, compiler, "-o", c.name, "work.o", "other.o", "-lm")
	}
	return filepath.Join(dir, "whole"), filepath.Join(dir, "split")
}

// sameAnswers compares all that two maps say of a program.
func sameAnswers(t *testing.T, want, got *Map) {
	t.Helper()
	deep := false
	for _, a := range everyByte(want, 1) {
		w, g := want.Locate(profile.Addr(a)), got.Locate(profile.Addr(a))
		if deep = deep || len(g.InlinedAt) > 1; !reflect.DeepEqual(w, g) {
			t.Fatalf("%#x: got %+v, want %+v (%v)", a, g, w, got.Warnings())
		}
	}
	if !deep || len(got.Warnings()) > 0 {
		t.Errorf("inlined calls: %v, warnings: %v", deep, got.Warnings())
	}
}

// TestSplitDwarf: what is in .dwo files is as good as what is in the program.
func TestSplitDwarf(t *testing.T) {
	for _, flags := range [][]string{{"gcc"}, {"clang"}, {"gcc", "-ffunction-sections"}, {"gcc", "-gz"}, {"clang", "-gz"}, {"gcc", "-fdebug-types-section"}, {"clang", "-gsplit-dwarf=single"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			compiler := need(t, "gcc")
			if flags[0] == "clang" {
				compiler = clang(t)
			}
			whole, split := splitTwins(t, compiler, append([]string{"-O2", "-gdwarf-5"}, flags[1:]...)...)
			sameAnswers(t, open(t, whole), open(t, split))
		})
	}
}

// TestSplitDwarfOfTypes: each type has a section of its own.
func TestSplitDwarfOfTypes(t *testing.T) {
	dir := source(t)
	for name, flag := range map[string]string{"whole": "-gno-split-dwarf", "split": "-gsplit-dwarf"} {
		run(t, dir, need(t, "g++"), "-O2", "-gdwarf-5", "-fdebug-types-section", flag, "work.cc", "-o", name)
	}
	sameAnswers(t, open(t, filepath.Join(dir, "whole")), open(t, filepath.Join(dir, "split")))
}

// TestSplitDwarfOneRange: where the code of a unit is in one piece, ranges count from where
// that begins, which the skeleton alone says.
func TestSplitDwarfOneRange(t *testing.T) {
	need(t, "ld.lld")
	dir := source(t)
	for _, flags := range [][]string{{"-o", "whole"}, {"-gsplit-dwarf", "-o", "split"}} {
		run(t, dir, append([]string{clang(t), "-O2", "-gdwarf-5", "-flto", "-fuse-ld=lld", "-I", "include", "work.c", "other.c", "-lm"}, flags...)...)
	}
	sameAnswers(t, open(t, filepath.Join(dir, "whole")), open(t, filepath.Join(dir, "split")))
}

// TestSplitDwarfElsewhere: .dwo files that came along with the program, or were packed.
func TestSplitDwarfElsewhere(t *testing.T) {
	whole, split := splitTwins(t, clang(t), "-O2", "-gdwarf-5") // GCC's are not for what packs them
	want := open(t, whole)
	dwos := []string{"work.dwo", "other.dwo"}
	move := func(dir string) string {
		for _, name := range append(dwos, "split") {
			if err := os.Rename(filepath.Join(filepath.Dir(split), name), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		split = filepath.Join(dir, "split")
		return split
	}
	sameAnswers(t, want, open(t, move(t.TempDir())))
	dir := filepath.Dir(split)
	run(t, dir, need(t, "llvm-dwp"), "-o", "split.dwp", dwos[0], dwos[1])
	for _, name := range dwos {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	sameAnswers(t, want, open(t, split))
}

// TestSplitDwarfMissing: without .dwo files of use the lines are what they were, and a
// warning says why there is no more.
func TestSplitDwarfMissing(t *testing.T) {
	for _, c := range []struct{ why, flag string }{
		{"not there", "-gdwarf-5"},
		{"of another build", "-gdwarf-5"},
		{"no sound ELF file", "-gdwarf-5"},
		{"made by the rules before DWARF 5", "-gdwarf-4"},
	} {
		whole, split := splitTwins(t, need(t, "gcc"), "-O2", c.flag)
		dwo := filepath.Join(filepath.Dir(split), "work.dwo")
		switch c.why {
		case "not there":
			run(t, filepath.Dir(split), "rm", "work.dwo", "other.dwo")
		case "of another build":
			run(t, filepath.Dir(split), "cp", "other.dwo", "work.dwo")
		case "no sound ELF file":
			if err := os.WriteFile(dwo, []byte("no ELF"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, got := open(t, whole), open(t, split)
		for _, a := range everyByte(want, 1) {
			w, g := want.Locate(profile.Addr(a)), got.Locate(profile.Addr(a))
			if w.File != g.File || w.Line != g.Line || w.Column != g.Column {
				t.Fatalf("%s: %#x: got %+v, want %+v", c.why, a, g, w)
			}
		}
		if ws := got.Warnings(); len(ws) != 1 || ws[0].Code != "split-debug-info" || !strings.Contains(ws[0].Message, c.why) || !strings.Contains(ws[0].Message, ".dwo, in which") {
			t.Errorf("%s: warnings %v", c.why, ws)
		}
	}
}

// FuzzRangeList: a list that is damaged has no answer, or some answer, and never more than its
// bytes can hold.
func FuzzRangeList(f *testing.F) {
	f.Add([]byte{1, 0, 4, 3, 9, 3, 1, 8, 0}, make([]byte, 24), uint64(0))
	f.Add([]byte{2, 0, 1, 5, 1, 2, 3, 4, 5, 6, 7, 8, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0}, make([]byte, 24), uint64(0))
	f.Fuzz(func(t *testing.T, b, addrs []byte, at uint64) {
		l := rangeLists{b: b, addrs: addrs, order: binary.LittleEndian}
		if list, err := l.at(at); len(list) > len(b) || err == nil && len(b) == 0 {
			t.Errorf("%d ranges in %d bytes, %v", len(list), len(b), err)
		}
	})
}
