package native

import (
	"debug/elf"
	"os"
	"slices"
	"testing"
)

// The C library, the dynamic linker's and a program's symbols are as debug/elf reads them;
// what is not there has no name.
func TestDynamic(t *testing.T) {
	for _, file := range []string{"/bin/bash", "/proc/self/exe", "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"} {
		if _, err := os.Stat(file); err != nil {
			continue
		}
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		d, err := readDynamic(f)
		want, errWant := f.DynamicSymbols()
		if (err == nil) != (errWant == nil) {
			t.Fatalf("%s: %v, and of debug/elf: %v", file, err, errWant)
		}
		for i, s := range want {
			if got := string(d.name(uint64(i) + 1)); got != s.Name {
				t.Fatalf("%s: symbol %d is %q, want %q", file, i+1, got, s.Name)
			}
		}
		if n := uint64(len(want)) + 1; d.name(n) != nil || d.name(1<<60) != nil {
			t.Errorf("%s: a symbol behind the last one", file)
		}
		var got, imported []string
		d.imported(func(name string) { got = append(got, name) })
		list, _ := f.ImportedSymbols()
		for _, s := range list {
			imported = append(imported, s.Name)
		}
		if !slices.Equal(got, imported) {
			t.Errorf("%s imports %q, want %q", file, got, imported)
		}
	}
	spoilt := dynamic{syms: slices.Repeat([]byte{0xff}, 2*symbolSize), names: []byte("a")}
	if spoilt.name(1) != nil {
		t.Error("a name outside of the names")
	}
}
