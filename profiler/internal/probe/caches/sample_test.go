package caches

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cachesim"
)

// TestNewSample: as many lines as were asked for, the same each time, and whole sets of
// the smallest level; what has too few sets is refused.
func TestNewSample(t *testing.T) {
	m := cachesim.Machine{Name: "m", Line: 64, L1: cachesim.Geometry{Size: 32 << 10, Ways: 8}, L3: cachesim.Geometry{Size: 1 << 20, Ways: 16}}
	for _, of := range []int{2, 4, 8, 16, 32} {
		s, err := NewSample(m, of)
		again, _ := NewSample(m, of)
		if err != nil || s != again || bits.OnesCount64(uint64(s.Lines)) != 64/of || s.groups() != min(groups, 64/of) {
			t.Errorf("1/%d: %+v, %v", of, s, err)
		}
		if s.Lines.Beside()&s.Lines != s.Lines || s.Lines.Beside()&^s.Lines&^(s.Lines<<1|s.Lines>>63) != 0 {
			t.Errorf("1/%d: beside %b is %b", of, s.Lines, s.Lines.Beside())
		}
	}
	if s, err := NewSample(m, 1); err != nil || s != (Sample{}) {
		t.Errorf("all: %+v, %v", s, err)
	}
	m.L1 = cachesim.Geometry{Size: 8 << 10, Ways: 8} // 16 sets
	if s, err := NewSample(m, 4); err != nil || bits.RotateLeft64(uint64(s.Lines), 16) != uint64(s.Lines) || bits.OnesCount64(uint64(s.Lines)) != 16 {
		t.Errorf("of 16 sets: %+v, %v", s, err)
	}
	for _, of := range []int{3, 16, 64} {
		if _, err := NewSample(m, of); err == nil || !strings.Contains(err.Error(), "take 1/2 to 1/8") {
			t.Errorf("1/%d of 16 sets: %v", of, err)
		}
	}
}

// TestDoubt: by how far groups of lines differ; at least that of chance.
func TestDoubt(t *testing.T) {
	m := cachesim.Machine{Name: "m", Line: 64, L1: cachesim.Geometry{Size: 32 << 10, Ways: 8}}
	sample, err := NewSample(m, 16) // four groups
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLayout(m, sample, 3)
	if err != nil {
		t.Fatal(err)
	}
	h := New(l, make([]byte, l.Size()), 0x10000)
	for i, n := range []uint32{90, 110, 80, 120} {
		binary.LittleEndian.PutUint32(h.mem[l.spread+2*spreadSize+4*uint64(groups+i):], n)
	}
	// s = 18.257, t = 3.1824 at 3 degrees of freedom, of 15/16 of the lines: 3.1824 · √(4 · 15/16) · s / 400
	if got := h.Doubt(2, 1); math.Abs(got-0.28128) > 1e-4 {
		t.Errorf("%v", got)
	}
	for i := range 4 {
		binary.LittleEndian.PutUint32(h.mem[l.spread+2*spreadSize+4*uint64(groups+i):], 100)
	}
	if got, want := h.Doubt(2, 1), 1.96*math.Sqrt(15./16)/20; math.Abs(got-want) > 1e-12 {
		t.Errorf("all alike: %v, want %v", got, want)
	}
	if h.Doubt(2, 0) != 0 || h.Doubt(1, 1) != 0 {
		t.Error("what never missed is doubted")
	}
}
