package html

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

func (m *maker) section(s *report.Section, of *profile.Section, n int) pageSection {
	v := pageSection{Row: row(s),
		Anchor: fmt.Sprintf("s%d", n), ID: units.Printable(s.ID), Title: m.paths.Section(s), Kind: s.Kind, Instances: s.Instances,
		Warnings: printableWarnings(words.Warnings(s)),
	}
	facts := []string{s.Kind, units.Plural(s.Instances, "instance")}
	if s.TimeS != nil {
		v.Time = units.Seconds(*s.TimeS)
		facts = append(facts, v.Time)
	}
	if s.IdleS != nil {
		v.Waited = units.Seconds(*s.IdleS)
		facts = append(facts, words.Waited(s))
	}
	v.Facts = strings.Join(facts, words.Dot)
	if words.Brief(s) {
		v.Verdict = words.Verdict(s)
		return v
	}
	v.Imbalance = words.Imbalance(s)
	if len(s.Causes) > 0 {
		v.First = units.Printable(s.Causes[0].Location.Short()) + " (" + units.Percent(s.Causes[0].Share) + ")"
	}
	v.Numbers, v.Threads, v.Plots = m.sectionNumbers(s), threadRows(s), m.sectionPlots(s, of)
	v.MoreThreads = moreThreads(s, func(t report.Thread) uint64 { return t.Instructions })
	for i := range s.Causes {
		v.Causes = append(v.Causes, m.cause(s, &s.Causes[i], v.Anchor))
	}
	return v
}

func threadRows(s *report.Section) []pageThread {
	most := uint64(1)
	for _, t := range s.Threads {
		most = max(most, t.Instructions)
	}
	rows := []pageThread{}
	for _, t := range s.Threads[:words.Shown(len(s.Threads))] {
		row := pageThread{ID: t.Number(), Instructions: units.Count(t.Instructions), Part: units.Percent(float64(t.Instructions) / float64(most))}
		if t.Uncounted() {
			row.Instructions, row.Part = "?", "?"
		}
		if t.BusyS != nil {
			row.Busy = units.Seconds(*t.BusyS)
		}
		if t.WaitS != nil {
			row.Wait = units.Seconds(*t.WaitS)
		}
		rows = append(rows, row)
	}
	return rows
}

// moreThreads sums up the threads that are not shown one by one.
func moreThreads(s *report.Section, of func(report.Thread) uint64) string {
	rest := []uint64{}
	for _, t := range s.Threads[words.Shown(len(s.Threads)):] {
		rest = append(rest, of(t))
	}
	return words.Rest(rest, units.Compact)
}

func (m *maker) sectionPlots(s *report.Section, of *profile.Section) []pagePlot {
	n := words.Shown(len(s.Threads))
	if n == 0 {
		return nil
	}
	ids, work, busy, wait := make([]string, n), make([]float64, n), make([]float64, n), make([]float64, n)
	timed, most := true, 0.0
	for i, t := range s.Threads[:n] {
		ids[i], work[i] = t.Number(), float64(t.Instructions)
		if timed = timed && t.BusyS != nil && t.WaitS != nil; timed {
			busy[i], wait[i] = *t.BusyS, *t.WaitS
			most = max(most, busy[i]+wait[i])
		}
	}
	what, show := workOf(s, work)
	plots := []pagePlot{{
		SVG:     barPlot(ids, row(s), "work of each "+row(s)+" in "+what, func(x float64) string { return show(uint64(x)) }, series{work, "work"}),
		Caption: caption(strings.ToUpper(what[:1])+what[1:]+" of each "+row(s)+", all instances together", s), Keys: []pageKey{{"work", "work"}},
	}}
	if timed {
		plots = append(plots, pagePlot{
			SVG:     barPlot(ids, row(s), "processor and waiting time of each "+row(s), func(x float64) string { return units.SecondsOf(x, most) }, series{busy, "busy"}, series{wait, "wait"}),
			Caption: caption("Time of each "+row(s)+", as measured", s), Keys: []pageKey{{"busy", "on a processor"}, {"wait", "waiting for the last to arrive"}},
		})
	}
	for _, virtual := range []bool{false, true}[:1+min(1, m.r.Run.Virtual)] {
		if t := newTimeline(m.opt.Profile, of, virtual, m.track(), 1); t != nil {
			label := "timeline of the section's instances"
			if virtual {
				label += " in virtual cycles"
			}
			keys := []pageKey{{"work", "up to its arrival"}, {"wait", "waiting for the last"}}
			if len(t.path) > 0 {
				keys = append(keys, pageKey{"path", "on the critical path"})
			}
			plot, _ := lanePlot(t, label)
			p := pagePlot{SVG: plot, Caption: t.caption(), Keys: keys}
			if z := newTimeline(m.opt.Profile, of, virtual, m.track(), zoom); t.together > 1 || len(of.Instances) > crowded {
				p.Zoomed, p.Names = lanePlot(z, label+", zoomed")
				p.Zoom = fmt.Sprintf("Zoom in: %d× as wide", zoom)
				if z.together < t.together {
					p.Zoom += ", " + each(z.together)
				}
			}
			plots = append(plots, p)
		}
	}
	plots = append(plots, sizesPlot(s.CacheSizes)...)
	if s.Units != nil {
		plots = append(plots, m.unitsPlot(s.Units))
	}
	return plots
}

// unitsPlot shows at a glance where the dear units are.
func (m *maker) unitsPlot(u *report.Units) pagePlot {
	ids := make([]string, len(u.Costs))
	for i := range ids {
		ids[i] = units.Compact(uint64(i) * u.Count / uint64(max(1, len(ids)*u.Instances)))
	}
	return pagePlot{
		SVG:     barPlot(ids, "unit", "work of each unit in executed instructions", func(x float64) string { return units.Compact(uint64(x)) }, series{u.Costs, "count"}),
		Caption: "Work of each unit, from the first to the last" + averaged(u) + ". " + units.Printable(u.Message) + ".", Keys: []pageKey{{"count", "mean instructions"}},
	}
}

func averaged(u *report.Units) string {
	if u.Count > uint64(len(u.Costs)) {
		return ", means of those that follow each other or are of several instances"
	}
	return ""
}

// row is what a row of a section stands for.
func row(s *report.Section) string {
	if s.Kind == string(profile.MPI) {
		return "rank"
	}
	return "thread"
}

// caption says above a plot what a row is, where that is no thread, and that
// there are more of them.
func caption(what string, s *report.Section) string {
	if slices.ContainsFunc(s.Threads, func(t report.Thread) bool { return t.ID == nil && t.Rank == nil }) {
		what += "; #3 is the 3rd thread of each round"
	}
	if n := words.Shown(len(s.Threads)); n < len(s.Threads) {
		what += fmt.Sprintf("; the first %d of %s", n, units.Count(uint64(len(s.Threads))))
	}
	return what + ":"
}

// each says how many instances share a bar.
func each(n int) string {
	if n == 1 {
		return "a bar for each"
	}
	return fmt.Sprintf("%d to a bar", n)
}

// A timeline that can be zoomed is so many times as wide as the page; it is offered
// where more instances than crowded stand side by side.
const (
	zoom    = 8
	crowded = 20
)

func (t *timeline) caption() string {
	c := "The instances one after the other"
	if t.together > 1 {
		c += ", " + each(t.together)
	}
	if t.more > 0 {
		c += fmt.Sprintf("; %s more threads are not drawn", units.Count(uint64(t.more)))
	}
	if t.left > 0 {
		c += fmt.Sprintf("; the first %s are not drawn, they were added up during the run", units.Count(uint64(t.left)))
	}
	return c + ":"
}

// A number without its denominator is a riddle: each stands beside what it is
// a part of.
func (m *maker) sectionNumbers(s *report.Section) []pageNumber {
	n := []pageNumber{{"imbalance", units.Percent(*s.Imbalance), "how much less than the busiest thread the others had to do, on average over threads and instances, in " + strings.ReplaceAll(m.r.Run.Response, "-", " ")}}
	if s.IdleS != nil {
		n = append(n, pageNumber{"waited", units.Seconds(*s.IdleS), "from each thread's arrival to the last one's, all threads and instances together"})
	}
	if v := s.Virtual; v != nil {
		n = append(n, pageNumber{"virtual cycles", units.Compact(v.Span), fmt.Sprintf("what the section takes on %s, one cycle for an instruction; threads waited %s in all", units.Plural(v.Cores, "core"), units.Compact(v.Wait))})
		if v.Gain != nil {
			n = append(n, pageNumber{"virtual gain", "up to " + units.Compact(*v.Gain), "of these cycles, if all causes below were balanced"})
		}
	}
	if s.Memory != nil {
		n = append(append(n, pageNumber{"accesses", units.Compact(s.Memory.Accesses), "to memory, whose caches were simulated"}), levels(s.Memory.Levels)...)
	}
	if s.R2 != nil {
		n = append(n, pageNumber{"R²", decimals(*s.R2), "the part of the differences between the threads that all causes below account for together, from 0 to 1"})
	}
	if v := s.Verified; v != nil {
		n = append(n, pageNumber{"verified", units.Percent(max(0, v.Erased)), words.Verified(s)})
	}
	if g := s.JointGain; g != nil {
		n = append(n, pageNumber{"joint gain", "up to " + words.Gain(s, g), "of the section's time, if all causes below were balanced"})
	}
	return n
}

// workOf is what the work of a section's threads is in, and how that is shown; where no
// instructions were counted, work becomes that of those of them that it has.
func workOf(s *report.Section, work []float64) (what string, show func(uint64) string) {
	counted, in, unit, known := words.CountedOf(s)
	if !known {
		return "executed instructions", units.Compact
	}
	for i := range work {
		work[i] = float64(counted[i])
	}
	return strings.TrimPrefix(strings.TrimPrefix(unit, " "), "of "), in
}
