package threadarea

import (
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestCaches: misses are counted behind all that is known of calls, in whole eights,
// and what a thread simulates is empty when it begins.
func TestCaches(t *testing.T) {
	l := NewLayout([]Function{{Chords: 5, Sites: 3, Always: true}}, 2).WithCaches(4096)
	if l.Misses()%MissClasses != 0 || l.Misses() < l.Chords+2*l.Sites || l.Fixed() != l.Misses()+2*MissClasses {
		t.Fatalf("%d chords, misses from %d, %d in all", l.Chords, l.Misses(), l.Fixed())
	}
	if none := NewLayout([]Function{{Chords: 5, Sites: 3}}, 0); none.Fixed() != 11 {
		t.Error("there are counters for misses where nothing is simulated")
	}
	p := newProcessOf(l, 1<<63)
	if p.area.get(OffCaches) != 0 {
		t.Error("a thread without a core simulates")
	}
	at := uint64(l.Front())
	p.area.put(at, 7)
	front := p.area.SetCore(0x1234)
	if front != p.area.base+at || at+4096 > l.Size() || p.area.get(at) != 0 {
		t.Errorf("the lines used last lie at %#x, of %#x", front, p.area.base+l.Size())
	}
	x := p.area.get(OffCaches) - p.area.base
	for i, want := range []uint64{0x1234, p.area.base + l.counters + 8*uint64(l.Misses()), p.area.common.base + l.live, uint64(l.Misses() / 8), 0, nobody, p.area.base + l.live} {
		if got := p.area.get(x + 8*uint64(i)); got != want {
			t.Errorf("word %d is %#x, want %#x", i, got, want)
		}
	}
	for _, inside := range []uint64{0, 1} {
		p.area.put(l.caches+cachesInside, inside)
		if got := p.area.Simulates(); got != (inside != 0) {
			t.Errorf("inside %d: simulates %v", inside, got)
		}
	}
	if newProcessOf(NewLayout(nil, 0), 1<<62).area.Simulates() {
		t.Error("who has no caches simulates")
	}
	p.area.Clear()
	if p.area.get(OffCaches) != 0 {
		t.Error("a cleared area has a core")
	}
}

// TestChanged: of the misses a record has those that the simulator said have changed since
// the one before; the rest, as long as nobody has said so, is there at the end.
func TestChanged(t *testing.T) {
	l := NewLayout([]Function{{Chords: 5, Sites: 3, Always: true}}, 200).WithCaches(4096)
	p := newProcessOf(l, 1<<63)
	p.area.SetCore(0x1234)
	miss := func(op int32) int32 { return int32(l.Misses()) + op*MissClasses }
	says := func(op int32) {
		n := uint64(miss(op)) / 8
		*p.area.word(l.live + n/64*8) |= 1 << (n % 64)
		*p.area.live.word(l.live + n/64*8) |= 1 << (n % 64)
	}
	for _, op := range []int32{3, 100, 150} { // the first stands in a word with others
		says(op)
	}
	for _, op := range []int32{3, 100, 120} {
		p.increment(miss(op), 2)
	}
	p.record(7 | ScanBit)
	p.increment(miss(100), 1) // nobody says so
	p.increment(miss(3), 1)
	p.record(8 | ScanBit)
	if sig := p.run(t); sig != 0 {
		t.Fatal(sig)
	}
	says(120)
	got := p.records()
	if len(got) != 2 || !reflect.DeepEqual(got[0].Delta, []record.Delta{{Counter: miss(3), N: 2}, {Counter: miss(100), N: 2}}) || !reflect.DeepEqual(got[1].Delta, []record.Delta{{Counter: miss(3), N: 1}}) {
		t.Errorf("recorded %+v", got)
	}
	if _, rest, _ := p.area.Ends(new([]record.Delta)); !reflect.DeepEqual(rest, []record.Delta{{Counter: miss(100), N: 1}, {Counter: miss(120), N: 2}}) {
		t.Errorf("the rest is %v", rest)
	}
	p.area.Tells(0x5678)
	if p.area.get(offChanged) != noChanged<<32 {
		t.Error("who tells of its accesses says what has changed")
	}
}
