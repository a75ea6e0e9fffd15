package x86

import (
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// programs are those that any Debian has, as far as they are here, and this one.
func programs() []string {
	files := []string{os.Args[0]}
	for _, pattern := range []string{
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6", "/bin/bash", "/usr/bin/perl",
		"/usr/lib/gcc/x86_64-linux-gnu/*/cc1", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	} {
		found, _ := filepath.Glob(pattern)
		files = append(files, found...)
	}
	return files
}

// TestObjdump compares the decoder with objdump on programs that any Debian
// has, up to some hundred thousand instructions of each.
func TestObjdump(t *testing.T) {
	need(t, "objdump")
	y := newTally(t)
	limit := 400_000
	if testing.Short() {
		limit = 50_000
	}
	for _, f := range programs() {
		before := y.compared
		clear(y.refused)
		if err := y.listing(before+limit, "-d", "-w", "-z", f); err != nil {
			t.Errorf("objdump %s: %v", f, err)
		}
		t.Logf("%s: %d instructions, refused %s", f, y.compared-before, y.refusals())
		for m := range y.refused {
			// OpenSSL's assembly has tables between its functions.
			if !inPrograms[m] && !strings.Contains(f, "crypto") {
				t.Errorf("%s: refuses %s: %s", f, m, y.examples[m])
			}
		}
	}
	y.report()
}

// TestObjdumpAll does the same with every program and library under the
// directories of SKEWLENS_X86_ALL, separated by colons, and all their
// instructions. Run by hand; a whole system takes an hour:
//
//	SKEWLENS_X86_ALL=/usr:/opt go test -run ObjdumpAll -timeout 5h -v ./profiler/internal/x86
func TestObjdumpAll(t *testing.T) {
	dirs := os.Getenv("SKEWLENS_X86_ALL")
	if dirs == "" {
		t.Skip("set SKEWLENS_X86_ALL to the directories to search")
	}
	need(t, "objdump")
	y := newTally(t)
	n := 0
	for _, dir := range filepath.SplitList(dirs) {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || !isProgram(path) {
				return nil
			}
			n++
			before := y.compared
			if err := y.listing(0, "-d", "-w", "-z", path); err != nil {
				fmt.Printf("%s: %v\n", path, err)
			}
			if y.compared-before > 2_000_000 {
				fmt.Printf("%s: %d instructions\n", path, y.compared-before)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d files, refused %s", n, y.refusals())
	y.report()
}

func isProgram(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Machine == elf.EM_X86_64 && f.Class == elf.ELFCLASS64 && (f.Type == elf.ET_DYN || f.Type == elf.ET_EXEC)
}

// inPrograms are the refused instructions that system libraries do contain:
// transactional memory, and the detection of its parts.
var inPrograms = words("xbegin xend xabort")

// refusals lists what was refused, by mnemonic.
func (y *tally) refusals() string {
	n := 0
	var names []string
	for m, k := range y.refused {
		n += k
		names = append(names, fmt.Sprintf("%s %d", m, k))
	}
	slices.Sort(names)
	return fmt.Sprintf("%d: %s", n, strings.Join(names, ", "))
}

// report logs the figures.
func (y *tally) report() {
	y.t.Helper()
	y.t.Logf("%d instructions of %d mnemonics compared, %d wrong, %d not decoded by objdump", y.compared, len(y.mnemonics), y.wrong, y.bad)
}
