package dwarfmap

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// large makes a program of over 100 MB, most of it debug information, that
// nobody will run: copies of one object file with their symbols renamed.
func large(b *testing.B) string {
	b.Helper()
	dir := source(b)
	run(b, dir, need(b, "g++"), "-g", "-O2", "-c", "work.cc")
	args := []string{need(b, "ld"), "-e", "0", "--unresolved-symbols=ignore-all", "-o", "large"}
	size := int64(0)
	for i := 0; size < 350<<20; i++ {
		name := fmt.Sprintf("copy%d.o", i)
		run(b, dir, need(b, "objcopy"), fmt.Sprintf("--prefix-symbols=c%d_", i), "work.o", name)
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		size += info.Size()
		args = append(args, name)
	}
	run(b, dir, args...)
	info, err := os.Stat(filepath.Join(dir, "large"))
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d files, %d MB", len(args)-5, info.Size()>>20)
	return filepath.Join(dir, "large")
}

func BenchmarkLarge(b *testing.B) {
	program := large(b)
	m := open(b, program)
	addrs := everyByte(m, 5)
	b.Logf("%d units, %d symbols, %d addresses", len(m.units), len(m.symbols), len(addrs))
	b.Run("first", func(b *testing.B) {
		for i := range b.N {
			m, err := Open(program)
			if err != nil {
				b.Fatal(err)
			}
			if l := m.Locate(profile.Addr(addrs[i*7919%len(addrs)])); !l.Known() {
				b.Fatalf("got %+v", l)
			}
			m.Close()
		}
	})
	b.Run("all", func(b *testing.B) {
		for range b.N {
			m := open(b, program)
			for _, a := range addrs {
				m.Locate(profile.Addr(a))
			}
			var mem runtime.MemStats
			runtime.ReadMemStats(&mem)
			b.ReportMetric(float64(mem.HeapAlloc>>20), "MB")
			b.ReportMetric(float64(len(addrs)), "addresses")
		}
	})
	b.Run("lookup", func(b *testing.B) {
		for _, a := range addrs {
			m.Locate(profile.Addr(a))
		}
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			m.Locate(profile.Addr(addrs[i*7919%len(addrs)]))
		}
	})
}
