package lime

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// moved is by how much each part's T changes when a cause, which may be several
// findings of an instance, is evened out, by instance of the section; nil where
// that is not known (rule 10).
func (c *combiner) moved(ids []identity, instances int) [][]float64 {
	out := make([][]float64, instances)
	for _, o := range c.outcomes {
		total, found := make([]float64, len(o.response)), false
		for i := range o.findings {
			f := &o.findings[i]
			if !slices.Contains(ids, f.id) {
				continue
			}
			cost := f.cost.perPart()
			if cost == nil {
				return nil
			}
			floats.Add(total, cost)
			found = true
		}
		if !found {
			continue
		}
		change := o.centre(total)
		floats.Scale(-1, change)
		for i, g := range o.groups {
			o.of[i].moves(change[g.from:g.to], out)
		}
	}
	return out
}

// moves says what changes in an instance; in those that it is the sum of, by rank,
// as much of it as they lost of what all lost.
func (in *instance) moves(change []float64, out [][]float64) {
	if in.summands == nil {
		out[in.index] = change
		return
	}
	for _, s := range in.summands {
		each := make([]float64, len(change))
		for rank, k := range s.order {
			each[k] = change[rank] * s.idle / in.idle
		}
		out[s.index] = each
	}
}
