package caches

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cachesim"
)

// TestLayout: what cannot be simulated in a process is refused; what can has room
// for all that it may need, and nothing lies in anything else.
func TestLayout(t *testing.T) {
	host := cachesim.Machine{Name: "m", Line: 64, L1: cachesim.Geometry{Size: 32 << 10, Ways: 8}, L2: cachesim.Geometry{Size: 1 << 20, Ways: 16}, L3: cachesim.Geometry{Size: 32 << 20, Ways: 16}}
	wide, wrong := host, host
	wide.Line, wrong.L1.Ways = 128, 7
	for m, want := range map[cachesim.Machine]string{wide: "at most 64", wrong: "power of two"} {
		if _, err := NewLayout(m, Sample{}, 10); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", m, err, want)
		}
	}
	if _, err := NewLayout(host, Sample{}, 1<<24); err == nil || !strings.Contains(err.Error(), "16777214 can be told apart") {
		t.Errorf("more accesses than there are numbers: %v", err)
	}
	l, err := NewLayout(host, Sample{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	at := uint64(8*headerWords + 8*coreWords*Cores + shardSize*shards)
	for _, next := range []uint64{l.cores, l.three.heads, l.three.tags, l.table, l.more, l.contended, l.seen, l.partners, l.size} {
		if next < at {
			t.Errorf("%#x lies before %#x", next, at)
		}
		at = next
	}
	if dense := l.Dense(); dense < l.table+entrySize*tableEntries || dense > l.contended {
		t.Errorf("used all over are %#x bytes: %+v", dense, l)
	}
	if l.used < l.ways+(32<<10/64+maxOrder)*waySize || l.two.heads < l.last+8*64 || l.two.tags < l.two.heads+headSize<<20/16/64 || l.coreSize < l.two.tags+1<<20/64*8 {
		t.Errorf("a core's rows: %+v", l)
	}
}

// TestHierarchy: what the profiler says to the simulator, and hears from it.
func TestHierarchy(t *testing.T) {
	m := cachesim.Machine{Name: "m", Line: 64, L1: cachesim.Geometry{Size: 1 << 10, Ways: 2}, L3: cachesim.Geometry{Size: 4 << 10, Ways: 4}}
	l, err := NewLayout(m, Sample{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	h := New(l, make([]byte, l.Size()), 0x10000)
	h.Settle(3, 0x77)
	if got := h.word(h.core(3)/8 + 2); got != 0x77 || h.Core(3) != 0x10000+h.core(3) {
		t.Errorf("core 3, at %#x, is told at %#x", h.Core(3), got)
	}
	if h.Trouble() != "" || h.LeftOut() != 0 {
		t.Error("trouble before anything ran")
	}
	for bits, want := range map[uint64]string{1: "more lines", 2: "more memory", 4: "midst", 7: "midst"} {
		if h.put(8*trouble, bits); !strings.Contains(h.Trouble(), want) {
			t.Errorf("%d is %q", bits, h.Trouble())
		}
	}
	if h.put(8*leftOut, 9); h.LeftOut() != 9 {
		t.Error("what was left out")
	}
	if _, _, ok := h.Partner(3); ok {
		t.Error("a partner of nobody")
	}
	// A first thread that was alone holds lines that collide in the directory. Those of the
	// second set were used one after the other.
	row := h.cores + h.ways
	front := make([]byte, 64*l.sets1())
	put := func(set, word int, line uint64) { binary.LittleEndian.PutUint64(front[64*set+8*word:], line) }
	put(0, 0, 5)
	for word, line := range []uint64{5 + 2*tableEntries, 5 + 2*tableEntries, 5 + tableEntries} {
		put(1, word, line)
	}
	h.Many(front)
	h.Many(nil)
	for i, want := range []uint64{5<<2 | 3, 0, (5+2*tableEntries)<<2 | 3, (5+tableEntries)<<2 | 3} {
		if got := h.word(row/8 + uint64(i)); got != want {
			t.Errorf("word %d of the ways is %#x, want %#x", i, got, want)
		}
	}
	if !bytes.Equal(front[64+16:128], make([]byte, 48)) {
		t.Errorf("there still is a list: %v", front[64:128])
	}
	// A thread that ends has exchanged the two lines of a set, as moved code does, and perhaps
	// lost the first one since; another set's row is not used.
	used := (h.cores + h.used) / 8
	for _, lost := range []uint64{0, marked} {
		put(1, 0, 5+tableEntries|lost)
		put(1, order, inOrder)
		put(1, setAt, 0x10000+row+2*waySize)
		for range 2 { // what is right stays
			h.Leave(0, front)
			if a, b := h.word(used), h.word(used+2); a != 0 || b != 0x11 {
				t.Errorf("the orders are %#x, %#x; want none, and the first two exchanged", a, b)
			}
		}
	}
	put(1, 0, 5+2*tableEntries)
	if h.Leave(0, front); h.word(used+2) != 0 {
		t.Errorf("the order is %#x, want none", h.word(used+2))
	}

	first := h.table + entrySize*5
	tag := func(at uint64) uint64 { return h.word(at/8) & (1<<tagBits - 1) }
	if tag(first) != 1 || h.word(first/8+1) != 1 {
		t.Errorf("line 5 is %d, held by %b", tag(first), h.word(first/8+1))
	}
	var more []uint64
	for n := h.word(first/8) >> tagBits; n != 0; {
		at := h.more + entrySize*((5&(h.shardCount-1))*h.perShard+n-1)
		more = append(more, tag(at))
		n = h.word(at/8) >> tagBits
	}
	if len(more) != 2 || more[0] != 2 || more[1] != 3 {
		t.Errorf("the others are %v", more)
	}
}
