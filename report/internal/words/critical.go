package words

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
)

// CriticalPath is what there is to know of the critical path at first sight.
func CriticalPath(r *report.Report) []string {
	c := r.CriticalPath
	length, parallelism := units.Seconds(c.Seconds), fmt.Sprintf("%.3g", c.Parallelism)
	switch {
	case c.AtLeast && c.AtMostS == nil:
		length, parallelism = "at least "+length, "at most "+parallelism
	case c.AtMostS != nil:
		length = fmt.Sprintf("%s to %s", units.SecondsOf(c.Seconds, *c.AtMostS), units.SecondsOf(*c.AtMostS, *c.AtMostS))
		parallelism = fmt.Sprintf("%.3g to %s", c.WorkS / *c.AtMostS, parallelism)
	}
	facts := []string{"critical path " + length}
	if c.FromS != nil {
		facts[0] += fmt.Sprintf(" from %s on", units.Seconds(*c.FromS))
	} else if r.Run.WallS != nil {
		facts[0] += " of the run's " + units.Seconds(*r.Run.WallS)
	}
	return append(facts, "work "+units.Seconds(c.WorkS), "parallelism "+parallelism)
}

// pathShown is how many sections, lines, waits and changes are named.
const pathShown = 3

// OnPath says what the critical path leads through.
func OnPath(r *report.Report) (list []string) {
	c := r.CriticalPath
	share := func(seconds float64) string { return units.Percent(seconds / c.Seconds) }
	var on []*report.Section
	for i := range r.Sections {
		if s := &r.Sections[i]; s.OnPath != nil && s.OnPath.Share >= 0.01 {
			on = append(on, s)
		}
	}
	for i, s := range on {
		if i == pathShown {
			list = append(list, units.Plural(len(on)-i, "more section"))
			break
		}
		list = append(list, share(s.OnPath.Seconds)+" "+units.Printable(s.ID))
	}
	if c.OutsideS >= 0.01*c.Seconds {
		list = append(list, share(c.OutsideS)+" between sections")
	}
	for i, w := range c.Waits {
		if i == pathShown {
			break
		}
		list = append(list, "waits "+units.SecondsOf(w.Seconds, c.Seconds)+" "+waitedFor(w)+until(w))
	}
	return list
}

// Handed says where the path comes from a thread to the next; "" where it nowhere does.
func Handed(c *report.CriticalPath) string {
	var list []string
	for i, h := range c.Handed {
		if i == pathShown {
			break
		}
		list = append(list, fmt.Sprintf("%d× %s", h.Times, waitedFor(report.Wait{Kind: h.Kind, Location: h.Location})))
	}
	if len(list) == 0 {
		return ""
	}
	return "it goes from a thread to one that waits for it " + strings.Join(list, ", ")
}

// PathLines says on which lines the path's work is; "" where that is not known.
func PathLines(c *report.CriticalPath) string {
	var list []string
	for i, l := range c.Lines {
		if i == pathShown {
			break
		}
		list = append(list, units.Percent(l.Share)+" "+units.Printable(l.Location.Short()))
	}
	if len(list) == 0 {
		return ""
	}
	return "its lines, about, by their instructions: " + strings.Join(list, Dot)
}

// PathIfs say how long the path would be if causes were balanced.
func PathIfs(c *report.CriticalPath) (list []string) {
	for i, f := range c.WhatIf {
		if i == pathShown || f.SavedS < 0.01*c.Seconds {
			break
		}
		s := fmt.Sprintf("if %s (#1 of %s) were balanced: up to %s less, %s", units.Printable(f.Cause.Short()), units.Printable(f.Section), units.SecondsOf(f.SavedS, c.Seconds), units.SecondsOf(f.Seconds, c.Seconds))
		if f.Gain != nil && f.Gain.Seconds != nil && c.FromS == nil {
			s += fmt.Sprintf("; as this run was: up to %s less", units.Seconds(*f.Gain.Seconds))
		}
		list = append(list, s)
	}
	return list
}

// Slack says by how much sections beside the path may take longer.
func Slack(r *report.Report) string {
	var list []string
	for i := range r.Sections {
		s := &r.Sections[i]
		if s.OnPath == nil || s.OnPath.SlackS < 0.01*r.CriticalPath.Seconds || len(list) == pathShown {
			continue
		}
		list = append(list, fmt.Sprintf("%s %s", units.Printable(s.ID), units.SecondsOf(s.OnPath.SlackS, r.CriticalPath.Seconds)))
	}
	if len(list) == 0 {
		return ""
	}
	return "may take longer before the run does: " + strings.Join(list, Dot)
}

// SlackLines says by how much work on lines beside the path may take longer; "" where
// there is none.
func SlackLines(c *report.CriticalPath) string {
	var list []string
	for i, l := range c.Slack {
		if i == pathShown {
			break
		}
		list = append(list, units.Printable(l.Location.Short())+" "+units.SecondsOf(l.SlackS, c.Seconds))
	}
	if len(list) == 0 {
		return ""
	}
	return "lines that are nowhere on it, and by how much what a thread does there may take longer: " + strings.Join(list, Dot)
}
