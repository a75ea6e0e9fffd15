package report

// Comparison is two runs of a program side by side.
type Comparison struct {
	Before, After *Report
	// Sections are those of the run before, in its order, then those that
	// only the run after has, in its own.
	Sections []Pair
}

// Pair is a section in two runs, matched by its id; nil in the run that has no
// such section: one that moved to another line stands there twice.
type Pair struct{ Before, After *Section }

// Compare matches the sections of two runs.
func Compare(before, after *Report) *Comparison {
	c := &Comparison{Before: before, After: after}
	later := map[string]*Section{}
	for i := range after.Sections {
		later[after.Sections[i].ID] = &after.Sections[i]
	}
	for i := range before.Sections {
		s := &before.Sections[i]
		c.Sections = append(c.Sections, Pair{s, later[s.ID]})
		delete(later, s.ID)
	}
	for i := range after.Sections {
		if s := &after.Sections[i]; later[s.ID] != nil {
			c.Sections = append(c.Sections, Pair{nil, s})
		}
	}
	return c
}

// Worst is the section that lost most in the run before. What was changed may
// have moved it: then it is the one that loses most in the run after. False
// where one of the runs has no section at all.
func (c *Comparison) Worst() (Pair, bool) {
	if len(c.Before.Sections) == 0 || len(c.After.Sections) == 0 {
		return Pair{}, false
	}
	worst := c.Sections[0]
	if worst.After == nil {
		worst.After = &c.After.Sections[0]
	}
	return worst, true
}

// SharedCores reports whether the threads of the run before shared cores, so
// that a section's seconds show little of what its busiest thread saved.
func (c *Comparison) SharedCores() bool {
	r := c.Before.Run
	return r.Cores > 0 && r.Threads > r.Cores
}

// Saving is what was predicted that balancing a section would save beside what
// was saved, as fractions of what it took before; nil is not known.
type Saving struct {
	Predicted *float64 // at most, of all causes together
	Work      *float64 // instructions of the busiest thread, instance by instance
	CPU       *float64 // its CPU time
	Time      *float64 // the section's own
}

// Saving compares a pair of which both runs have a section.
func (p Pair) Saving() Saving {
	s := Saving{CPU: saved(p.Before.CriticalBusyS, p.After.CriticalBusyS), Time: saved(p.Before.TimeS, p.After.TimeS)}
	if p.Before.Critical > 0 {
		work := 1 - float64(p.After.Critical)/float64(p.Before.Critical)
		s.Work = &work
	}
	g := p.Before.JointGain
	if g == nil && len(p.Before.Causes) > 0 {
		g = p.Before.Causes[0].Gain
	}
	if g != nil {
		s.Predicted = &g.Fraction
	}
	return s
}

func saved(before, after *float64) *float64 {
	if before == nil || after == nil {
		return nil
	}
	x := 1 - *after / *before
	return &x
}
