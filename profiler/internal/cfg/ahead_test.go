package cfg

import "testing"

// TestAhead: each function's turn comes once, in their order, and what was made for it lies
// in a space in which nothing else has been made since.
func TestAhead(t *testing.T) {
	for _, n := range []int{0, 1, fewFunctions - 1, fewFunctions, 3*fewFunctions + 5} {
		turn := 0
		Ahead(n, func(i int, s *Space) *Space {
			s.used = i
			return s
		}, func(i int, s *Space) {
			if i != turn || s.used != i {
				t.Errorf("of %d functions, in turn %d: %d, in the space of %d", n, turn, i, s.used)
			}
			turn++
		})
		if turn != n {
			t.Errorf("%d of %d functions had their turn", turn, n)
		}
	}
}
