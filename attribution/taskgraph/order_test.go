package taskgraph

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestInOrder: events are in the order that comparing them gives, few and many, whether
// many happen at once or they are spread over hours.
func TestInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, few, few + 1, 3 * few} {
		for _, width := range []int64{1, 50, 1 << digit, 1<<(2*digit) + 1, 1 << 45} {
			events := make([]event, n)
			for i := range events {
				events[i] = event{at: r.Int64N(width) - width/3, what: happening(r.IntN(int(window))), meeting: int32(r.IntN(3)), number: int32(i)}
			}
			want := slices.Clone(events)
			slices.SortFunc(want, func(x, y event) int {
				return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.what, y.what), cmp.Compare(x.meeting, y.meeting), cmp.Compare(x.number, y.number))
			})
			order := inOrder(events)
			for i := range want {
				if len(order) != n || events[order[i]] != want[i] {
					t.Fatalf("%d events within %d: another order from the event %d on", n, width, i)
				}
			}
		}
	}
}
