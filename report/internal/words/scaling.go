package words

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// unknown stands in a table for a number that is not known.
const unknown = "?"

// Scaling says how the runs were made, a fact to an item.
func Scaling(r *scaling.Report) []string {
	cores := units.Plural(r.Setting.Cores, "core")
	if r.Setting.Whole < r.Setting.Cores {
		cores = fmt.Sprintf("%d hardware threads of %s", r.Setting.Cores, units.Plural(r.Setting.Whole, "core"))
	}
	base := "baseline: the program itself on 1 core, " + units.Seconds(r.BaselineS)
	if r.Baseline != "" {
		base = "baseline: " + Cut(units.Printable(r.Baseline), 60) + ", " + units.Seconds(r.BaselineS) + spread(r.BaselineSD, r.BaselineS)
	}
	facts := []string{base}
	if r.ElisionS != nil {
		facts = append(facts, "elision: "+Cut(units.Printable(r.Elision), 60)+", "+units.Seconds(*r.ElisionS)+spread(r.ElisionSD, *r.ElisionS))
	}
	facts = append(facts, units.Plural(r.Points[0].Runs, "run")+" of each", cores)
	if r.Setting.Pinned {
		facts = append(facts, "pinned")
	}
	if len(r.Setting.Environment) > 0 {
		facts = append(facts, "set for it: "+strings.Join(r.Setting.Environment, " "))
	}
	return facts
}

// spread is " ± 0.02", in the unit that suits scale.
func spread(sd *float64, scale float64) string {
	if sd == nil {
		return ""
	}
	number, _, _ := strings.Cut(units.SecondsOf(*sd, scale), " ")
	return " ± " + number
}

// Times is a table: of each point its times, with the spread of one run.
func Times(r *scaling.Report) [][]string {
	scale := r.BaselineS
	for _, p := range r.Points {
		scale = max(scale, p.WallS)
	}
	_, unit, _ := strings.Cut(units.SecondsOf(scale, scale), " ")
	rows := [][]string{{"cores", "time, " + unit, "work", "idle", "inflation", "waited for cores"}}
	for _, p := range r.Points {
		rows = append(rows, []string{cores(&p), amount(&p.TimeS, p.TimeSD, scale), amount(p.WorkS, p.WorkSD, scale), amount(p.IdleS, p.IdleSD, scale),
			amount(p.InflationS, p.InflationSD, scale), amount(p.QueueS, nil, scale)})
	}
	return rows
}

// cores names a point; what was not measured with a core for each thread, or beside
// others, is marked.
func cores(p *scaling.Point) string {
	s := fmt.Sprint(p.P)
	if p.Oversubscribed {
		s = "oversubscribed " + s
	}
	if p.Disturbed {
		s = "disturbed " + s
	}
	return s
}

func amount(mean, sd *float64, scale float64) string {
	if mean == nil {
		return unknown
	}
	number, _, _ := strings.Cut(units.SecondsOf(math.Abs(*mean), scale), " ")
	if *mean < 0 && strings.Trim(number, "0.") != "" {
		number = "−" + number
	}
	return number + spread(sd, scale)
}

// Speedups is a table: of each point its factored speedups, from the top of the plot
// to its bottom, and the actual one with its interval. The linear one is the number
// of cores.
func Speedups(r *scaling.Report) [][]string {
	head := []string{"speedup on"}
	if r.ElisionS != nil {
		head = append(head, "elision")
	}
	// With both it would be too wide for a terminal; it is said in words, too.
	foreseen := r.Forecast != nil && r.ElisionS == nil
	if foreseen {
		head = append(head, "forecast")
	}
	rows := [][]string{append(head, "maximal", "idle-specific", "inflation-specific", "actual", "99 % interval")}
	for _, p := range r.Points {
		row := []string{cores(&p)}
		if r.ElisionS != nil {
			row = append(row, factor(p.Speedup.Elision))
		}
		if foreseen {
			row = append(row, factor(p.Speedup.Forecast))
		}
		row = append(row, factor(p.Speedup.Maximal), factor(p.Speedup.IdleSpecific), factor(p.Speedup.InflationSpecific), factor(p.Speedup.Actual))
		if p.Low != nil && (p.P > 1 || r.Baseline != "") {
			row = append(row, factor(p.Low.Actual)+" … "+factor(p.High.Actual))
		} else {
			row = append(row, "")
		}
		rows = append(rows, row)
	}
	return rows
}

func factor(x *float64) string {
	if x == nil {
		return unknown
	}
	return units.Digits(*x)
}

// Work names the place where work was sampled.
func (p Paths) Work(at *report.Location) string {
	s := p.Place(at.Place)
	if at.Library != "" && at.Function != "" {
		s += " of " + units.Printable(filepath.Base(at.Library))
	}
	return s
}

// Idle says what threads waited for in the run that was profiled, the longest first; nil: that is
// not known.
func Idle(r *scaling.Report) []string {
	w := r.Waits
	if w == nil {
		return nil
	}
	head := fmt.Sprintf("threads waited %s in all, on %s, in recorded runs", units.Seconds(w.Total), units.Plural(w.P, "core"))
	if w.TimeS != nil {
		head += " of " + units.Seconds(*w.TimeS)
	}
	if w.SpinS != nil {
		head += fmt.Sprintf("; for %s of it at least they spun, which is work in the figures above", units.Seconds(*w.SpinS))
	}
	out := []string{head}
	for _, x := range w.Lines {
		if x.Seconds >= w.Total/100 {
			out = append(out, units.SecondsOf(x.Seconds, w.Total)+" "+waitedFor(x)+until(x))
		}
	}
	return out
}

// Alone says for how long a line ran alone.
func Alone(r *scaling.Report, l *scaling.Serial) string {
	idle := "the other core idles"
	if l.P > 2 {
		idle = fmt.Sprintf("the other %d cores idle", l.P-1)
	}
	whole := 0.0
	for _, p := range r.Points {
		if p.P == l.P {
			whole = p.TimeS
		}
	}
	return fmt.Sprintf("on %d cores it runs alone for %s (99 %%: %s to %s) of %s: %s meanwhile", l.P, units.SecondsOf(l.AloneS, whole),
		units.SecondsOf(l.LowS, whole), units.SecondsOf(l.HighS, whole), units.SecondsOf(whole, whole), idle)
}

// Grows says how much a line's work grows.
func Grows(l *scaling.Line) string {
	grown := "where there was none on 1 core"
	if l.W1S > 0 {
		grown = fmt.Sprintf("%s× that on 1 core", units.Digits(l.WPS/l.W1S))
	}
	return fmt.Sprintf("work on %d cores is %s, %s: %s more (99 %%: %s to %s), %s of all that grows", l.P, units.SecondsOf(l.WPS, l.WPS), grown,
		units.SecondsOf(l.InflationS, l.WPS), units.SecondsOf(l.LowS, l.WPS), units.SecondsOf(l.HighS, l.WPS), units.Percent(l.Share)) + byTurns(l)
}
