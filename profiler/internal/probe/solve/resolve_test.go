package solve

import "testing"

// TestPairs: each target of a call site keeps its number, however many there are, and
// those of other sites are others.
func TestPairs(t *testing.T) {
	ps := pairs{make([][]pair, 2), map[farPair]int32{}}
	const targets = 3 * fewTargets
	for n := range int32(2 * targets) {
		site, target := int(n%2), uint64(n/2)
		if _, ok := ps.find(site, target); ok {
			t.Fatalf("site %d has target %d before it was added", site, target)
		}
		ps.add(site, target, n)
	}
	for n := range int32(2 * targets) {
		if got, ok := ps.find(int(n%2), uint64(n/2)); !ok || got != n {
			t.Errorf("site %d, target %d: %d, %v, want %d", n%2, n/2, got, ok, n)
		}
	}
	if len(ps.many) != 2*(targets-fewTargets) {
		t.Errorf("%d pairs are beside the first of their sites", len(ps.many))
	}
}

// TestWays: a way that another one displaces is only checked again.
func TestWays(t *testing.T) {
	w := new(ways)
	a, b := uint64(7), uint64(7+len(w))
	if w.add(a); !w.has(a) || w.has(b) {
		t.Error("one way is not known, or another one is")
	}
	if w.add(b); w.has(a) || !w.has(b) {
		t.Error("a way that was displaced is still known, or the one in its place is not")
	}
}
