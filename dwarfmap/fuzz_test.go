package dwarfmap

import (
	"bytes"
	"os"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// FuzzLocate damages a small program with debug information: bytes of its
// debug sections are overwritten by what the fuzzer thinks of. Whatever it
// does, there is an answer or an error, and an answer has no line 0.
func FuzzLocate(f *testing.F) {
	type part struct {
		elf   []byte
		addrs []uint64
		dir   string
	}
	var programs []part
	for _, flags := range [][]string{{"-O2", "-gdwarf-5"}, {"-O2", "-gdwarf-4"}, {"-Os", "-gz"}, {"-O1", "-gsplit-dwarf"}} {
		path := buildC(f, need(f, "gcc"), flags...)
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		m := open(f, path)
		programs = append(programs, part{b, everyByte(m, 7), path})
	}
	f.Add(uint8(0), uint32(100), []byte{0xff, 0xff, 0xff, 0xff}, uint32(0), []byte{})
	f.Add(uint8(1), uint32(0), []byte{1}, uint32(5000), []byte{0x80})
	for i := range uint32(40) {
		f.Add(uint8(i), i*400, []byte{0xff, byte(i)}, i*977, []byte{0, 0, 0})
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint32, with []byte, at2 uint32, with2 []byte) {
		p := programs[int(which)%len(programs)]
		b := bytes.Clone(p.elf)
		// The debug sections stand behind the code, and end in the section headers.
		from := bytes.Index(b, []byte("GCC: ("))
		from = max(0, min(from, len(b)-1))
		copy(b[from+int(at)%(len(b)-from):], with)
		copy(b[from+int(at2)%(len(b)-from):], with2)
		m, err := newMap(bytes.NewReader(b), p.dir, "/nonexistent")
		if err != nil {
			return
		}
		defer m.Close()
		for _, a := range append(p.addrs, 0, 1, ^uint64(0)) {
			l := m.Locate(profile.Addr(a))
			if l.File != "" && l.Line <= 0 {
				t.Fatalf("%#x: line 0 is shown: %+v", a, l)
			}
			if l.File != "" {
				m.Addresses(l.File, l.Line)
			}
		}
		q := &profile.Profile{Warnings: m.Warnings()}
		for _, a := range p.addrs {
			if n := len(q.Locations); n == 0 || q.Locations[n-1].Address < profile.Addr(a) {
				q.Locations = append(q.Locations, m.Locate(profile.Addr(a)))
			}
		}
		if err := q.CheckValid(); err != nil {
			t.Fatal(err)
		}
	})
}
