package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/attribution/taskgraph"
	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
)

// whatIf is how long the path would be if the first cause of a section were evened
// out: a part's CPU time changes by its instructions that move, at what one takes
// in its instance.
func (x *pathBuilder) whatIf(c *CriticalPath, r *Report, moved [][][]float64) {
	for s := range r.Sections {
		sec := &r.Sections[s]
		if len(sec.Causes) == 0 || moved[s] == nil || sec.Causes[0].Location == nil {
			continue
		}
		rates := x.rates(s)
		if rates == nil {
			continue
		}
		then := x.g.Longest(func(t *taskgraph.Task) int64 {
			if int(t.Of.Section) != s || moved[s][t.Of.Instance] == nil {
				return t.NS
			}
			q := x.part(t.Of)
			if q.BusyNS == 0 {
				return t.NS
			}
			change := moved[s][t.Of.Instance][t.Of.Part] * rates[t.Of.Instance]
			return t.NS + int64(change*float64(t.BusyNS)/float64(q.BusyNS))
		})
		f := PathIf{Section: sec.ID, Cause: sec.Causes[0].Location, Seconds: round(float64(then.NS) / 1e9), SavedS: round(float64(x.path.NS-then.NS) / 1e9), Gain: sec.Causes[0].Gain}
		if then.NS <= x.path.NS {
			c.WhatIf = append(c.WhatIf, f)
		}
	}
	slices.SortStableFunc(c.WhatIf, func(a, b PathIf) int {
		return cmp.Or(cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Section, b.Section))
	})
}

// rates are how many nanoseconds one of what T is measured in takes, by instance;
// nil: that is not known.
func (x *pathBuilder) rates(s int) []float64 {
	sec, response := &x.b.p.Sections[s], x.b.response()
	rates := make([]float64, len(sec.Instances))
	for i := range sec.Instances {
		in := &sec.Instances[i]
		busy, sum := int64(0), uint64(0)
		for k := range in.Parts {
			q := &in.Parts[k]
			busy += q.BusyNS
			if response == profile.ModelCycles {
				sum += x.b.p.ModelCycles(q.Counts)
			} else {
				sum += x.b.p.Instructions(q.Counts)
			}
		}
		switch {
		case response == profile.BusyTime:
			rates[i] = 1
		case !response.Counted():
			return nil
		case sum > 0:
			rates[i] = float64(busy) / float64(sum)
		}
	}
	return rates
}

// doubts says what there is to doubt about the path.
func (x *pathBuilder) doubts(c *CriticalPath, r *Report) {
	say := func(code, format string, args ...any) {
		c.Warnings = append(c.Warnings, Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	span := float64(x.path.NS)
	if wall := x.b.p.Run.WallNS; c.FromS != nil && wall > 0 {
		say("path-of-the-end", "the critical path is of the last %s: instances before were added up during the run", units.Percent(1-*c.FromS*1e9/float64(wall)))
	}
	if waited := c.Seconds - c.BusyS; waited*1e9 >= pathDoubt*span && r.Run.Cores > 0 && r.Run.Threads > r.Run.Cores {
		say("path-waits", "%s of the critical path are waits for locks and the like as they were on %s: with a core for each of the %d threads these would differ",
			units.Seconds(waited), units.Plural(r.Run.Cores, "core"), r.Run.Threads)
	}
	if float64(x.g.UntimedNS) >= pathDoubt*span {
		say("path-untimed", "the CPU time of %s of the threads' time is not known: the critical path takes it for work", units.Seconds(float64(x.g.UntimedNS)/1e9))
	}
	if float64(x.g.UnplacedNS) >= pathDoubt*float64(x.g.BusyNS) {
		say("path-spinning", "threads were on a core for %s while they waited for each other: where they spun outside of sections, the critical path takes it for work",
			units.Seconds(float64(x.g.UnplacedNS)/1e9))
	}
	if slices.ContainsFunc(x.b.p.Sections, func(s profile.Section) bool { return s.Kind == profile.Threads }) {
		say("path-meetings", "no place is known where the threads meet: where they waited for each other the critical path may be longer")
	}
	switch {
	case c.AtMostS != nil:
		say("path-locks", "the critical path may be as long as %s: who takes a lock after whom is known only where one of them waited for it", units.Seconds(*c.AtMostS))
	case c.AtLeast:
		say("path-syncs", "the critical path may be longer: threads wait for each other by locks or conditions, and that one depends on another is known only where it came early enough to wait")
	}
	if x.g.Rootless > 0 {
		say("path-roots", "it is not known who created %s: the critical path does not lead across their begin", units.Plural(x.g.Rootless, "thread"))
	}
}
