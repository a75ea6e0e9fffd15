package solve

import "github.com/skewlens/skewlens/profiler/internal/record"

// Where very many threads do the same, what they counted is added up and solved once:
// solving is linear. But that something is impossible in one of them may not show in a
// sum. So each is checked, as far as it has counted something new: mostly it has
// executed most functions in ways in which others have.

// ways are those in which functions have counted what was possible, each at the place
// that its last bits say: a way that was displaced by another one is checked again.
type ways [1 << 16]uint64

func (w *ways) has(way uint64) bool { return w[way%uint64(len(w))] == way }

func (w *ways) add(way uint64) { w[way%uint64(len(w))] = way }

// Check notes which functions' counts are impossible in a list of resolved deltas that
// has no active frames, as Solve would.
func (v *Solver) Check(d []record.Delta) {
	if v.checked == nil {
		v.checked = new(ways)
	}
	for i := 0; i < len(d) && int(d[i].Counter) < v.chords; {
		fi, to := v.together(d, i)
		way := uint64(len(d[i:to]))
		for _, x := range d[i:to] {
			way = mixed(mixed(way, uint64(x.Counter)), x.N)
		}
		if !v.checked.has(way) {
			if _, _, ok := v.values(fi, d[i:to], nil); ok {
				v.checked.add(way)
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
