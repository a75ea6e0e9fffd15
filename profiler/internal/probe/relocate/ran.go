package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
)

// Ran is what ran of a program's functions in an earlier run, by their index in Plans:
// see placement.Ran. nil: of none.
type Ran [][]byte

// Passed is how many edges were, about.
func (x Ran) Passed() (n float64) {
	for _, ran := range x {
		n += placement.Passed(ran)
	}
	return n
}

// Ran is what the counters stand by.
func (s *Spec) Ran() Ran {
	x := make(Ran, 0, len(s.plans))
	for _, q := range s.plans {
		x = append(x, q.ran)
	}
	return x
}

// SetRan has the counters of what is assembled from now on stand where x passed least.
func (s *Spec) SetRan(x Ran) {
	for i, q := range s.plans[:min(len(x), len(s.plans))] {
		q.ran = x[i]
	}
}

// Pack writes it.
func (x Ran) Pack(w *pack.Writer) {
	w.Uint(uint64(len(x)))
	for _, ran := range x {
		w.Bytes(ran)
	}
}

// UnpackRan reads what Pack has written; nothing, where that cannot be read.
func UnpackRan(r *pack.Reader) (x Ran) {
	for range r.Len(1) {
		x = append(x, r.Bytes())
	}
	if r.Err != nil {
		return nil
	}
	return x
}
