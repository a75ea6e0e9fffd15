package solve

import "github.com/skewlens/skewlens/profiler/internal/probe/placement"

// Ran is what ran of a function, by its number, in all threads' lives: see
// placement.Ran. nil: it did not.
func (v *Solver) Ran(fn int32) []byte {
	if x := v.funcs[fn]; x != nil && x.total != nil && !v.broken[fn] {
		return placement.Ran(x.total)
	}
	return nil
}

// Passed is how many edges were passed in all threads' lives.
func (v *Solver) Passed() (n int64) {
	for _, x := range v.funcs {
		if x != nil {
			for _, k := range x.total {
				n += max(0, k)
			}
		}
	}
	return n
}
