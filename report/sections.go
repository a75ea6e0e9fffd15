package report

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profile"
)

// sectionIDs gives each section of a profile its id, "file:line". Where two
// share one (a loop that the compiler copied, two barriers in one macro), the
// later address gets a number. They depend on the profile alone, so that
// whoever has the report and the profile finds the one in the other.
func sectionIDs(p *profile.Profile) []string {
	order := make([]int, len(p.Sections))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return p.Sections[order[i]].Site < p.Sections[order[j]].Site })
	ids, used := make([]string, len(p.Sections)), map[string]bool{}
	for _, i := range order {
		base := string(p.Sections[i].Kind)
		if s := &p.Sections[i]; s.Site != 0 {
			base = sectionPlace(p, s).Short()
		}
		id := base
		for n := 2; used[id]; n++ {
			id = fmt.Sprintf("%s#%d", base, n)
		}
		used[id], ids[i] = true, id
	}
	return ids
}

// SectionsOf returns the sections of the profile that the report was made of,
// in the report's order. It fails when the report is of another profile.
func (r *Report) SectionsOf(p *profile.Profile) ([]*profile.Section, error) {
	at := map[string]*profile.Section{}
	for i, id := range sectionIDs(p) {
		at[id] = &p.Sections[i]
	}
	out := make([]*profile.Section, len(r.Sections))
	for i := range r.Sections {
		if out[i] = at[r.Sections[i].ID]; out[i] == nil {
			return nil, fmt.Errorf("find section %s in the profile: it is not there; give the profile that the report was made of", r.Sections[i].ID)
		}
	}
	return out, nil
}

// negligible is the part of the run's executed instructions that a section
// must lose to waiting before anything follows from it: the few instructions
// between a last barrier and a thread's end differ between threads by any
// factor, and matter to nobody.
const negligible = 0.001

// littleBusy is the part of the run's busy time that a section's busiest threads
// must take: by their instructions, however slow; or, where most work was not
// counted, by what they took.
const littleBusy = 0.01

func markNegligible(ss []Section) {
	total, busy, doubted := uint64(0), 0.0, false
	for i := range ss {
		doubted = doubted || ss[i].BusyCounted != nil && *ss[i].BusyCounted < mostCounted
		for _, t := range ss[i].Threads {
			total += t.Instructions
			if t.BusyS != nil {
				busy += *t.BusyS
			}
		}
		total += ss[i].IdleInstructions
	}
	for i := range ss {
		apart := ss[i].BusyApart() && !ss[i].brief(busy)
		ss[i].Negligible = float64(ss[i].IdleInstructions) < negligible*float64(total) && !ss[i].waiting() && !apart
		if ss[i].CriticalBusyS != nil && ss[i].took(doubted) < littleBusy*busy {
			ss[i].Negligible = true
		}
	}
}

// brief reports whether all of a section's threads together, each as busy as the busiest,
// took next to nothing of the time that the run's threads were busy for: then it is the
// runtime's doing, or chance, whose times are uneven.
func (s *Section) brief(busy float64) bool {
	return s.CriticalBusyS != nil && float64(len(s.Threads))**s.CriticalBusyS < littleBusy*busy
}

// took is how many seconds a section's busiest threads took at most, the machine's
// doing left out; +Inf where it is more than its work that counts. It is doubted
// where much of the run's work was not counted.
func (s *Section) took(doubted bool) float64 {
	took := math.Inf(1)
	if doubted {
		took = *s.CriticalBusyS
	}
	event := slices.ContainsFunc(s.Causes, func(c Cause) bool { return c.Leader == "" })
	if c := s.BusyCounted; (c == nil || *c >= mostCounted) && (doubted || !event && !s.waiting() && !s.BusyApart()) {
		took = min(took, farAbove*slowest*1e-9*float64(s.Critical))
	}
	return took
}

// sortSections puts the sections that lost most first: in idle thread-seconds
// where all were timed, else in idle instructions, for the two cannot be
// compared. Balanced ones and those too short to matter come last: what their
// threads waited is the machine's doing, not the program's.
func sortSections(ss []Section) {
	timed := true
	for i := range ss {
		timed = timed && ss[i].IdleS != nil
	}
	lost := func(s *Section) float64 {
		if s.Balanced && !s.waiting() { // nothing is lost: the longest first
			return float64(s.Critical)
		}
		if timed {
			return *s.IdleS
		}
		return float64(s.IdleInstructions)
	}
	class := func(s *Section) int {
		switch {
		case s.Imbalance == nil:
			return 3
		case s.waiting():
			return 0
		case s.Balanced:
			return 1
		case s.Negligible:
			return 2
		}
		return 0
	}
	sort.SliceStable(ss, func(i, j int) bool {
		a, b := &ss[i], &ss[j]
		if class(a) != class(b) {
			return class(a) < class(b)
		}
		if lost(a) != lost(b) {
			return lost(a) > lost(b)
		}
		return a.ID < b.ID
	})
}

// Worst is the largest imbalance of the sections that matter.
func (r *Report) Worst() (imbalance float64, section string) {
	for i := range r.Sections {
		s := &r.Sections[i]
		if s.Imbalance != nil && !s.Negligible && *s.Imbalance > imbalance {
			imbalance, section = *s.Imbalance, s.ID
		}
	}
	return imbalance, section
}
