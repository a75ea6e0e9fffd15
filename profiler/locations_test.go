package profiler

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// Addresses are told once each, in order, however often they came; those of many
// parts take no more memory than they need.
func TestAddressesOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all addrs
	want := map[profile.Addr]bool{}
	for range 100_000 {
		a, b := profile.Addr(r.Uint64N(1000)), profile.Addr(r.Uint64N(100))
		all.add(a, b)
		want[a], want[b] = true, true
	}
	if n := cap(all); n > 10_000 {
		t.Errorf("room for %d of %d", n, len(want))
	}
	all.unite()
	if !slices.IsSorted(all) || len(all) != len(want) || slices.ContainsFunc(all, func(a profile.Addr) bool { return !want[a] }) {
		t.Errorf("%d addresses, want %d in order", len(all), len(want))
	}
}

// What is not known has no location.
func TestAddressesKnown(t *testing.T) {
	p := &profile.Profile{Threads: []profile.Thread{{Start: 7}, {}, {Start: 3}, {Start: 7}}}
	if got, _ := addresses(p); !slices.Equal(got, []profile.Addr{3, 7}) {
		t.Errorf("%v, want 3 and 7", got)
	}
}

// Where blocks begin is put among the others, in order.
func TestAddressesBegun(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 200 {
		var all, want addrs
		var list []begun
		for a := range profile.Addr(n) {
			switch r.IntN(3) {
			case 0:
				all, want = append(all, a), append(want, a)
			case 1:
				list, want = append(list, begun{start: a}), append(want, a)
			}
		}
		if all.addBegun(list); !slices.Equal(all, want) {
			t.Fatalf("%v, want %v", all, want)
		}
	}
}
