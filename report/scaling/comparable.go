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
	var one, many []*Recorded
	for _, x := range runs {
		switch {
		case x.Turns:
		case x.P == 1:
			one = append(one, x)
		default:
			many = append(many, x)
		}
	}
	if len(one) == 0 {
		return len(many) > 0
	}
	return apart(many, one, func(there, here float64) bool { return there < shrunk*here }) || apart(one, many, func(float64, float64) bool { return false })
}

// apart reports whether a section that takes a good part of some runs was not met in each
// of others, or whether its work there and here is too different.
func apart(runs, others []*Recorded, different func(here, there float64) bool) bool {
	for _, x := range runs {
		for i := range x.sections {
			s := &x.sections[i]
			if !s.timed || s.key.kind == Outside {
				continue
			}
			much := float64(s.run.Wall) >= matters*x.TimeS
			for _, y := range others {
				k := slices.IndexFunc(y.sections, func(o recordedSection) bool { return o.key == s.key && o.timed })
				if k < 0 && much {
					return true
				}
				if k >= 0 && (much || float64(y.sections[k].run.Wall) >= matters*y.TimeS) && different(float64(s.slowest.Work), float64(y.sections[k].slowest.Work)) {
					return true
				}
			}
		}
	}
	return false
}
