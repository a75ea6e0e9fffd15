package solve

import "github.com/skewlens/skewlens/profiler/internal/record"

// Where very many threads do the same, what they counted is added up and solved once:
// solving is linear. But that something is impossible in one of them may not show in a
// sum. So each is checked, as far as it has counted something new: mostly it has
// executed most functions in ways in which others have.

// manyChecked is how many ways of functions are known, at most.
const manyChecked = 1 << 17

// Check notes which functions' counts are impossible in a list of resolved deltas that
// has no active frames, as Solve would.
func (v *Solver) Check(d []record.Delta) {
	for i := 0; i < len(d) && int(d[i].Counter) < v.chords; {
		fi, to := v.together(d, i)
		way := uint64(len(d[i:to]))
		for _, x := range d[i:to] {
			way = mixed(mixed(way, uint64(x.Counter)), x.N)
		}
		if !v.checked[way] {
			if _, _, ok := v.values(fi, d[i:to], nil); ok && len(v.checked) < manyChecked {
				v.checked[way] = true
			}
		}
		i = to
	}
}

// mixed is a hash of two words: two of all that a run has are surely different.
func mixed(h, x uint64) uint64 {
	h = (h ^ x) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}
