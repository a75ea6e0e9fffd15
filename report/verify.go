package report

import (
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
)

// Verified is what was seen of causes that are misses when they were erased (rule
// 25): the program ran once more, and all accesses of their instructions were hits.
type Verified struct {
	Erased float64 `json:"erased"` // of the section's imbalance; below 0: there was more
	Causes int     `json:"causes"` // how many were erased
}

// Erasable are the instructions of all causes that are misses, ascending: what a run
// has to turn into hits.
func (r *Report) Erasable() (list []profile.Addr) {
	for i := range r.Sections {
		if r.Sections[i].Negligible {
			continue
		}
		for k := range r.Sections[i].Causes {
			list = append(list, r.Sections[i].Causes[k].Instructions...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Verify adds to a report of p what q shows, a run with what is Erasable erased.
func (r *Report) Verify(p, q *profile.Profile) error {
	all, err := r.SectionsOf(p)
	if err != nil {
		return err
	}
	again := map[string]*profile.Section{}
	for i, id := range sectionIDs(q) {
		again[id] = &q.Sections[i]
	}
	for i := range r.Sections {
		s, n := &r.Sections[i], 0
		for k := range s.Causes {
			if len(s.Causes[k].Instructions) > 0 {
				n++
			}
		}
		if n == 0 || s.Negligible {
			continue
		}
		if t := again[s.ID]; t != nil {
			if gone, ok := lime.Erasure(p, all[i], q, t); ok {
				s.Verified = &Verified{gone, n}
				continue
			}
		}
		s.Warnings = append(s.Warnings, Warning{Code: "verify", Message: "the run with the misses erased did not execute the same in this section: whether they are its imbalance is not verified"})
	}
	return nil
}

// NotVerified says why there is nothing to say.
func (r *Report) NotVerified(err error) {
	r.Warnings = append(r.Warnings, Warning{Code: "verify", Message: fmt.Sprintf("the causes were not verified: %v", err)})
}
