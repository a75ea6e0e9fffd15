package x86

import (
	"debug/elf"
	"os"
	"testing"
)

// text is the code of the test program itself.
func text(t testing.TB) ([]byte, uint64) {
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".text")
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return data, s.Addr
}

func BenchmarkDecode(b *testing.B) {
	path := os.Getenv("SKEWLENS_X86_BENCH") // another program's code
	code, addr := text(b)
	if path != "" {
		f, err := elf.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		s := f.Section(".text")
		if code, err = s.Data(); err != nil {
			b.Fatal(err)
		}
		addr = s.Addr
	}
	b.ReportAllocs()
	at, n := 0, 0
	for b.Loop() {
		in, err := Decode(code[at:], addr+uint64(at))
		if err != nil {
			at++
			n++
		} else {
			at += in.Len()
		}
		if at >= len(code)-16 {
			at = 0
		}
	}
}
