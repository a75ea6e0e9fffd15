package words

import (
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/internal/units"
)

// mostRows of a list of threads are shown one by one.
const mostRows = 64

// Shown is how many of n threads are shown one by one.
func Shown(n int) int { return min(n, mostRows) }

// Rest says how many there are more and from what to what they go; "" for none.
func Rest(n []uint64, show func(uint64) string) string {
	if len(n) == 0 {
		return ""
	}
	least, most := show(slices.Min(n)), show(slices.Max(n))
	if least == most {
		return fmt.Sprintf("and %s more, %s each", units.Count(uint64(len(n))), most)
	}
	return fmt.Sprintf("and %s more, from %s to %s", units.Count(uint64(len(n))), least, most)
}
