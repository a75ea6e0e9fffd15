package solve

// Functions is how many functions were moved; their chords are numbered on.
func (v *Solver) Functions() int { return len(v.plans) }

// Chords are the counters of a function, from the first to behind its last.
func (v *Solver) Chords(fi int) (first, after int32) {
	if fi > 0 {
		first = v.plans[fi-1].After
	}
	return first, v.plans[fi].After
}

// Worths tells of each chord of a function how many instructions it stands for,
// by what it counts by: see Work.
func (v *Solver) Worths(fi int, each func(counter int32, worth, step int64)) {
	v.load(int32(fi))
	first, after := v.Chords(fi)
	for c := first; c < after; c++ {
		if w := v.weight[c]; w.step != 0 && w.worth != 0 {
			each(c, w.worth, w.step)
		}
	}
}
