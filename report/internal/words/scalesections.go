package words

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// Recorded says how the runs went that sections are of; "" where there were none.
func Recorded(r *scaling.Report) string {
	if len(r.Recorded) == 0 {
		return ""
	}
	n := r.Recorded[0].Runs
	s := fmt.Sprintf("sections, in %s of each that were recorded", units.Plural(n, "more run"))
	least, most, known := 0.0, 0.0, false
	for _, x := range r.Recorded {
		if x.Slowdown == nil {
			continue
		}
		if !known || *x.Slowdown < least {
			least = *x.Slowdown
		}
		most, known = max(most, *x.Slowdown), true
	}
	if !known {
		return s
	}
	took := fmt.Sprintf("%.2f", least)
	if m := fmt.Sprintf("%.2f", most); m != took {
		took += " to " + m
	}
	return s + " (they took " + took + "× the CPU time of those above)"
}

// ScaledSection names a section, and says what it is.
func (p Paths) ScaledSection(s *scaling.Section) string {
	if s.Kind == scaling.Outside {
		return "outside of sections"
	}
	name := p.Section(&report.Section{ID: s.ID, Location: s.Location}) + Dot + units.Printable(s.Kind)
	switch n := len(s.Points); {
	case n > 0 && s.Points[n-1].Instances > 0:
		name += Dot + units.Plural(s.Points[n-1].Instances, "instance")
	}
	return name
}

// SectionTable is a table: of each point of a section its times and speedups.
func SectionTable(s *scaling.Section) [][]string {
	scale := 0.0
	for _, p := range s.Points {
		scale = max(scale, p.TimeS)
	}
	_, unit, _ := strings.Cut(units.SecondsOf(scale, scale), " ")
	rows := [][]string{{"cores", "time, " + unit, "work", "idle", "inflation", "idle-spec.", "infl.-spec.", "actual"}}
	for i := range s.Points {
		p := &s.Points[i]
		row := []string{cores(&scaling.Point{P: p.P, Disturbed: p.Disturbed}), amount(&p.TimeS, p.TimeSD, scale), amount(p.WorkS, p.WorkSD, scale), amount(p.IdleS, p.IdleSD, scale),
			amount(p.InflationS, p.InflationSD, scale), factor(p.Speedup.IdleSpecific), factor(p.Speedup.InflationSpecific), factor(p.Speedup.Actual)}
		rows = append(rows, row)
	}
	return rows
}

// interval is that of a speedup; "" where it is not known.
func interval(p *scaling.SectionPoint) string {
	if p.Low == nil || p.Low.Actual == nil || p.High == nil || p.High.Actual == nil {
		return ""
	}
	return fmt.Sprintf(" (99 %%: %s to %s)", units.Digits(*p.Low.Actual), units.Digits(*p.High.Actual))
}

// SectionStack says what the speedup of a section on the most cores is short of, the
// components from the bottom to the top; "" where that is not known.
func SectionStack(s *scaling.Section) string {
	for i := len(s.Points) - 1; i >= 0; i-- {
		p := &s.Points[i]
		if len(p.Stack) == 0 || p.P == 1 {
			continue
		}
		var list []string
		whole := ""
		for _, w := range componentWords {
			h := HeightOf(p.Stack, w.name)
			switch {
			case w.name == "speedup" && h > 0:
				whole = fmt.Sprintf("speedup %s of %d%s", units.Digits(h), p.P, interval(p))
				if s.Against == "turns" {
					whole += " over its threads by turns on 1 core"
				}
			case w.name == "work" && h > 0:
				whole = fmt.Sprintf("of %d cores, %s worked", p.P, units.Digits(h))
			case h >= 0.005*float64(p.P):
				list = append(list, w.says+" "+units.Digits(h))
			}
		}
		if len(list) == 0 {
			return whole
		}
		return whole + ": " + strings.Join(list, ", ")
	}
	return ""
}
