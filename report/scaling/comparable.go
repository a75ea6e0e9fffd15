package scaling

import "slices"

// shrunk is by how much less work a section cannot have on more cores: then it is not the
// same piece of the program.
const shrunk = 0.5

// Incomparable reports whether sections cannot be compared with themselves on one core:
// one that takes a good part of the runs was not met there, or only there, or had much
// less to do. What it does is then of another section, or of none, in those runs, whose
// figures would be just as wrong.
func Incomparable(runs []*Recorded) bool {
	unite(runs)
	var one []*Recorded
	many := map[int][]*Recorded{}
	for _, x := range runs {
		switch {
		case x.Turns:
		case x.P == 1:
			one = append(one, x)
		default:
			many[x.P] = append(many[x.P], x)
		}
	}
	for _, on := range many {
		if apart(on, one, func(there, here float64) bool { return there < shrunk*here }) || apart(one, on, func(float64, float64) bool { return false }) {
			return true
		}
	}
	return false
}

// apart reports whether a section that takes a good part of some runs was not met in
// others, or whether its work there and here is too different.
func apart(runs, others []*Recorded, different func(there, here float64) bool) bool {
	keys := map[sectionKey]bool{}
	for _, x := range append(slices.Clone(runs), others...) {
		for i := range x.sections {
			if s := &x.sections[i]; s.key.kind != Outside && float64(s.run.Wall) >= matters*x.TimeS {
				keys[s.key] = true
			}
		}
	}
	work := func(list []*recordedSection) (sum float64) {
		for _, s := range list {
			sum += float64(s.slowest.Work) / float64(len(list))
		}
		return sum
	}
	for k := range keys {
		there, here := met(k, runs), met(k, others)
		if there != nil && (here == nil || different(work(there), work(here))) {
			return true
		}
	}
	return false
}
