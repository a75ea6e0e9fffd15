package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
)

// A number without its denominator is a riddle: each stands beside what it is
// a part of.
func (h *htmlPage) sectionNumbers(s *Section) []pageNumber {
	n := []pageNumber{{"imbalance", units.Percent(*s.Imbalance), "how much less than the busiest thread the others had to do, on average over threads and instances, in " + strings.ReplaceAll(h.r.Run.Response, "-", " ")}}
	if s.IdleS != nil {
		n = append(n, pageNumber{"waited", units.SecondsOf(*s.IdleS, *s.IdleS), "from each thread's arrival to the last one's, all threads and instances together"})
	}
	if s.R2 != nil {
		n = append(n, pageNumber{"R²", decimals(*s.R2), "the part of the differences between the threads that all causes below account for together, from 0 to 1"})
	}
	if g := s.JointGain; g != nil {
		n = append(n, pageNumber{"joint gain", "up to " + h.t.gain(s, g), "of the section's time, if all causes below were balanced"})
	}
	return n
}

func (h *htmlPage) cause(s *Section, c *Cause, anchor string) (pageCause, error) {
	v := pageCause{
		Anchor: fmt.Sprintf("%sc%d", anchor, c.Rank), Rank: c.Rank, Share: units.Percent(c.Share), Place: h.t.place(c.Location.Place),
		Kind: c.Leader, Message: printable(c.Message), Inlined: h.t.inlined(c.Location.InlinedAt), Numbers: h.causeNumbers(s, c),
	}
	if v.Kind == "" {
		v.Kind = printable(c.Kind)
	}
	h.excerpt(&v, "", &c.Location.Place)
	if c.To != nil && c.To.Known() && (c.To.File != c.Location.File || c.To.Line < c.Location.Line-around2 || c.To.Line > c.Location.Line+around2) {
		h.excerpt(&v, "It leads to "+h.t.place(*c.To), c.To)
	}
	v.Way = strings.Join(h.t.way(c.Path), " · ")
	v.Members = h.members(c)
	v.MembersTitle = count(len(v.Members), "line") + " whose counts go with it: what it steers"
	if len(v.Members) == 1 {
		v.MembersTitle = "1 line whose counts go with it: what it steers"
	}
	if len(c.Counts) == 0 || len(c.Counts) != len(s.Threads) {
		return v, nil
	}
	ids, counts := make([]int, len(c.Counts)), make([]float64, len(c.Counts))
	for i, n := range c.Counts {
		ids[i], counts[i] = s.Threads[i].ID, float64(n)
	}
	what := counted(c) + " by each thread"
	svg, err := barPlot(ids, what, decimalCount, series{counts, countColor})
	if err != nil {
		return v, err
	}
	v.Plots = []pagePlot{{svg, "How often, thread by thread:", []pageKey{{"count", counted(c)}}}}
	return v, nil
}

// decimalCount labels an axis of counts: a tick between two of them has no name.
func decimalCount(x float64) string {
	if x != float64(uint64(x)) {
		return ""
	}
	return units.Compact(uint64(x))
}

func (h *htmlPage) causeNumbers(s *Section, c *Cause) []pageNumber {
	n := []pageNumber{{"share", units.Percent(c.Share), "of the differences between this section's threads; the causes are ranked by it"}}
	add := func(name string, x *float64, means string) {
		if x != nil {
			n = append(n, pageNumber{name, decimals(*x), means})
		}
	}
	if g := c.Gain; g != nil {
		n = append(n, pageNumber{"gain", "up to " + h.t.gain(s, g), "of the section's time, if every thread did the same amount of this"})
		if g.WholeUnits != nil {
			n = append(n, pageNumber{"gain in whole units", "up to " + units.Percent(*g.WholeUnits), "of the section's time, if the same work were dealt out anew in the pieces it comes in"})
		}
	}
	means := "β × leader score, from 0 to 1"
	if c.LeaderScore == nil {
		means = "β, from 0 to 1"
	}
	add("score", c.Score, means)
	add("β", c.Beta, "how strongly a thread's time follows it: standard deviations of the one per standard deviation of the other")
	add("leader score", c.LeaderScore, "how much of that begins at this decision: its correlation with the threads' time, less that of what leads to it")
	add("p", c.P, "the probability that chance alone fits as well (F test, in the instance that lost most)")
	return n
}

func decimals(x float64) string {
	if x != 0 && x < 0.001 && x > -0.001 {
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

// around2 is how many lines an excerpt shows before and after the one it is about.
const around2 = 2

func (h *htmlPage) excerpt(v *pageCause, title string, p *Place) {
	if h.opt.Source == nil || !p.Known() {
		return
	}
	e := pageExcerpt{Title: title}
	for n := max(p.Line-around2, 1); n <= p.Line+around2; n++ {
		line, stale, ok := h.opt.Source.Line(p.File, n)
		if !ok {
			continue
		}
		if stale {
			e.Stale = &Warning{Code: "stale-source", Message: "this file is newer than the program: the lines may be others"}
		}
		text := cut(printable(strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " \r")), 400)
		e.Lines = append(e.Lines, pageLine{n, text, n == p.Line})
	}
	if len(e.Lines) > 0 {
		v.Excerpts = append(v.Excerpts, e)
	}
}

// members is the cluster as a table, a row for each line and kind of event:
// many events share a line.
func (h *htmlPage) members(c *Cause) []pageMember {
	rows, at := []pageMember{}, map[[2]string]int{}
	for _, m := range c.Members {
		place := m.Place
		place.Function, place.Column = "", 0
		line := h.t.place(place)
		if !m.Place.Known() {
			line = printable(m.Place.Short())
		}
		key := [2]string{line, m.Kind}
		corr := ""
		if m.Corr != nil {
			corr = decimals(*m.Corr)
		}
		i, seen := at[key]
		if !seen {
			i, at[key] = len(rows), len(rows)
			rows = append(rows, pageMember{Line: line, Function: symbol(m.Place.Function), Kind: printable(m.Kind), Corr: corr})
		}
		rows[i].Events++
		if m.Corr != nil && rows[i].Corr != "" && corr < rows[i].Corr {
			rows[i].Corr = corr // the weakest: the others go with it more closely
		}
	}
	return rows
}
