package lime

import (
	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// ownTrace is the part of an event's variance below which nothing of its own
// is left: what remains then is rounding of whole counts.
const ownTrace = 1e-6

// adjusted returns a hardware event's counts, centred, less what its
// superiors explain (3.1): a miss of the second level needs one of the first,
// which needs the instruction to be executed. The superiors are made
// orthogonal from the top down (Gram–Schmidt), then their components are
// taken out. ok is false when the event keeps no variance of its own.
func (t *table) adjusted(events []profile.Event, e profile.EventID) (v []float64, ok bool) {
	var chain []profile.EventID // nearest superior first
	for s := events[e].Superior; s >= 0; s = events[s].Superior {
		chain = append(chain, s)
	}
	var basis [][]float64
	takeOut := func(v []float64) {
		for _, b := range basis {
			floats.AddScaled(v, -floats.Dot(v, b), b)
		}
	}
	for i := len(chain) - 1; i >= 0; i-- {
		b := t.centre(t.counts(chain[i]))
		before := floats.Norm(b, 2)
		takeOut(b)
		if after := floats.Norm(b, 2); after*after > ownTrace*before*before {
			floats.Scale(1/after, b)
			basis = append(basis, b)
		}
	}
	v = t.centre(t.counts(e))
	before := floats.Norm(v, 2)
	takeOut(v)
	after := floats.Norm(v, 2)
	return v, after*after > ownTrace*before*before
}
