package html

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

func (m *maker) cause(s *report.Section, c *report.Cause, anchor string) pageCause {
	v := pageCause{
		Anchor: fmt.Sprintf("%sc%d", anchor, c.Rank), Rank: c.Rank, Share: units.Percent(c.Share), Place: m.paths.Place(c.Location.Place),
		Kind: words.Kind(c), Message: units.Printable(c.Message), Inlined: m.paths.Inlined(c.Location.InlinedAt), Numbers: m.causeNumbers(s, c),
	}
	v.Href = m.link(c.Location.Place)
	m.excerpt(&v, "", &c.Location.Place)
	if c.To != nil && c.To.Known() && (c.To.File != c.Location.File || c.To.Line < c.Location.Line-context || c.To.Line > c.Location.Line+context) {
		m.excerpt(&v, "It leads to "+m.paths.Place(*c.To), c.To)
	}
	v.Way = strings.Join(words.Callers(c.Path), words.Dot)
	v.Members = m.members(c)
	v.MembersTitle = units.Plural(len(v.Members), "line") + " whose counts go with it: what it steers"
	if len(c.Counts) == 0 || len(c.Counts) != len(s.Threads) {
		return v
	}
	shown := words.Shown(len(c.Counts))
	ids, counts := make([]string, shown), make([]float64, shown)
	for i, n := range c.Counts[:shown] {
		ids[i], counts[i] = s.Threads[i].Number(), float64(n)
	}
	what := words.Counted(c)
	v.Plots = []pagePlot{{SVG: barPlot(ids, row(s), what+" by each "+row(s), decimalCount, series{counts, "count"}),
		Caption: caption("How often, "+row(s)+" by "+row(s), s), Keys: []pageKey{{"count", what}}}}
	return v
}

// decimalCount labels an axis of counts: a tick between two of them has no name.
func decimalCount(x float64) string {
	if x != float64(uint64(x)) {
		return ""
	}
	return units.Compact(uint64(x))
}

func (m *maker) causeNumbers(s *report.Section, c *report.Cause) []pageNumber {
	n := []pageNumber{{"share", units.Percent(c.Share), "of the differences between this section's threads; the causes are ranked by it"}}
	add := func(name string, x *float64, means string) {
		if x != nil {
			n = append(n, pageNumber{name, decimals(*x), means})
		}
	}
	if g := c.Gain; g != nil {
		n = append(n, pageNumber{"gain", "up to " + words.Gain(s, g), "of the section's time, if every thread did the same amount of this"})
		if g.WholeUnits != nil {
			n = append(n, pageNumber{"gain in whole units", "up to " + units.Percent(*g.WholeUnits), "of the section's time, if the same work were dealt out anew in the pieces it comes in"})
		}
	}
	if l := s.Memory.OfLine(c.Location.Place); l != nil && len(c.Misses) > 0 {
		if l.Accesses != nil && l.Share != nil {
			n = append(n, pageNumber{"accesses", units.Compact(*l.Accesses), "of this line, " + units.Percent(*l.Share) + " of the section's"})
		}
		n = append(n, levels(l.Levels)...)
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

// context is how many lines an excerpt shows before and after the one it is about.
const context = 2

// link is where a click on a place leads; empty: nowhere.
func (m *maker) link(p report.Place) template.URL {
	if m.opt.Link == nil || !p.Known() {
		return ""
	}
	return template.URL(m.opt.Link(p))
}

func (m *maker) excerpt(v *pageCause, title string, p *report.Place) {
	if m.opt.Source == nil || !p.Known() {
		return
	}
	e := pageExcerpt{Title: title}
	for n := max(p.Line-context, 1); n <= p.Line+context; n++ {
		line, stale, ok := m.opt.Source.Line(p.File, n)
		if !ok {
			continue
		}
		if stale {
			e.Stale = &report.Warning{Code: "stale-source", Message: "this file is newer than the program: the lines may be others"}
		}
		text := words.Cut(units.Printable(strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " \r")), 400)
		e.Lines = append(e.Lines, pageLine{n, text, n == p.Line, m.link(report.Place{File: p.File, Line: n})})
	}
	if len(e.Lines) > 0 {
		v.Excerpts = append(v.Excerpts, e)
	}
}

// members is the cluster as a table, a row for each line and kind of event:
// many events share a line.
func (m *maker) members(c *report.Cause) []pageMember {
	rows, at := []pageMember{}, map[[2]string]int{}
	var weakest []*float64 // by row: the others go with the cause more closely
	for _, event := range c.Members {
		place := event.Place
		place.Function, place.Column = "", 0
		line := m.paths.Place(place)
		if !event.Place.Known() {
			line = units.Printable(event.Place.Short())
		}
		key := [2]string{line, event.Kind}
		i, seen := at[key]
		if !seen {
			i, at[key] = len(rows), len(rows)
			rows = append(rows, pageMember{Line: line, Function: words.Symbol(event.Place.Function), Kind: units.Printable(event.Kind), Href: m.link(event.Place)})
			weakest = append(weakest, event.Corr)
		}
		rows[i].Events++
		if corr := event.Corr; corr != nil && weakest[i] != nil && *corr < *weakest[i] {
			weakest[i] = corr
		}
	}
	for i, corr := range weakest {
		if corr != nil {
			rows[i].Corr = decimals(*corr)
		}
	}
	return rows
}
