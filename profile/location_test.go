package profile

import (
	"sort"
	"testing"
)

// TestSearchNear: from wherever it begins, it finds what sort.Search does.
func TestSearchNear(t *testing.T) {
	for n := range 20 {
		for at := range n + 1 {
			from := func(i int) bool {
				if i < 0 || i >= n {
					t.Fatalf("asked for %d of %d", i, n)
				}
				return i >= at
			}
			for near := range n + 3 {
				if got, want := SearchNear(n, near, from), sort.Search(n, from); got != want {
					t.Fatalf("%d of %d, from %d on: %d, want %d", at, n, near, got, want)
				}
			}
		}
	}
}
