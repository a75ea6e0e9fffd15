package threadarea

import "testing"

// TestCaches: misses are counted behind all that is known of calls, in whole eights,
// and what a thread simulates is empty when it begins.
func TestCaches(t *testing.T) {
	l := NewLayout([]Function{{Chords: 5, Sites: 3, Always: true}}, 2).WithCaches(4096)
	if l.Misses()%MissClasses != 0 || l.Misses() < l.Chords+2*l.Sites || l.Fixed() != l.Misses()+2*MissClasses {
		t.Fatalf("%d chords, misses from %d, %d in all", l.Chords, l.Misses(), l.Fixed())
	}
	if NewLayout([]Function{{Chords: 5, Sites: 3}}, 0).Fixed() != 11 {
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
	for i, want := range []uint64{0x1234, p.area.base + l.counters + 8*uint64(l.Misses()), p.area.common.base + l.live, uint64(l.Misses() / 8), 0, nobody} {
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
