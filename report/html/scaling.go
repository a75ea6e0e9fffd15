package html

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
	"github.com/skewlens/skewlens/report/scaling"
)

var (
	//go:embed scaling.tmpl
	scalingText string
	//go:embed scaling.css
	scalingStyle string // beside the page's

	scalingTemplate = sync.OnceValue(func() *template.Template {
		return template.Must(parsePage().New("scaling").Parse(scalingText))
	})
)

// scalingPage is what the template shows.
type scalingPage struct {
	Style           template.CSS
	Command, Facts  string
	Warnings        []report.Warning
	Plots           []pagePlot
	Notes, Idle     []string
	Times, Speedups [][]string // the first row is the head
	Recorded        string     // how the runs went that sections are of
	Sections        []scaledSection
	Lines           []sampledLine
}

// sampledLine is a line where work was sampled.
type sampledLine struct {
	pageCause
	Mark  string
	Plots []pagePlot
}

func (m *maker) sampled(mark string, l *report.Location, says string) sampledLine {
	v := pageCause{Place: m.paths.Work(l), Message: says, Inlined: m.paths.Inlined(l.InlinedAt)}
	m.excerpt(&v, "", &l.Place)
	return sampledLine{pageCause: v, Mark: mark}
}

// workPlot draws the work of a line by cores, and how much of it has grown.
func workPlot(l *scaling.Line) pagePlot {
	var ids []string
	base, more := series{class: "busy"}, series{class: "count"}
	most := 0.0
	for _, w := range l.Work {
		ids = append(ids, fmt.Sprint(w.P))
		base.values = append(base.values, min(w.WorkS, l.W1S))
		more.values = append(more.values, max(0, w.WorkS-l.W1S))
		most = max(most, w.WorkS)
	}
	show := func(s float64) string { return units.SecondsOf(s, most) }
	return pagePlot{SVG: barPlot(ids, "cores", "work of the line", show, base, more), Caption: "Work of the line, all threads together, means of runs",
		Keys: []pageKey{{Class: "busy", Name: "as on 1 core"}, {Class: "count", Name: "inflation"}}}
}

// WriteScaling writes where a program's speedup goes as a page. An error is the
// writer's.
func WriteScaling(w io.Writer, r *scaling.Report, opt Options) error {
	m := maker{opt: opt, paths: words.Paths{Dir: opt.Dir}}
	p := scalingPage{
		Style: template.CSS(pageStyle + scalingStyle), Command: m.paths.Command(&report.Report{Program: r.Program}),
		Facts: strings.Join(words.Scaling(r), words.Dot), Warnings: printableWarnings(r.Warnings),
		Times: words.Times(r), Speedups: words.Speedups(r), Idle: words.Idle(r),
	}
	if len(r.Points) > 1 {
		p.Plots = append(p.Plots, pagePlot{SVG: speedupPlot(r), Caption: gaps(r), Keys: curveKeys(r)})
	}
	if s := stackPlot(r); s != nil && len(r.Points) > 1 {
		p.Plots = append(p.Plots, *s)
	}
	for _, n := range r.Notes {
		p.Notes = append(p.Notes, units.Printable(n.Message))
	}
	for _, s := range []string{words.Together(r), words.Caches(r), words.Stack(r)} {
		if s != "" {
			p.Notes = append(p.Notes, s)
		}
	}
	p.Notes = append(p.Notes, words.Foreseen(r)...)
	if len(r.Sections) > 0 {
		p.Recorded = words.Recorded(r)
	}
	for i := range r.Sections {
		p.Sections = append(p.Sections, m.scaledSection(&r.Sections[i]))
	}
	for i := range r.Lines {
		v := m.sampled(fmt.Sprintf("#%d", i+1), r.Lines[i].Location, words.Grows(&r.Lines[i]))
		if l := &r.Lines[i]; len(l.Work) > 1 {
			v.Plots = append(v.Plots, workPlot(l))
		}
		p.Lines = append(p.Lines, v)
	}
	for i := range r.Serial {
		p.Lines = append(p.Lines, m.sampled("alone", r.Serial[i].Location, words.Alone(r, &r.Serial[i])))
	}
	if err := scalingTemplate().Execute(w, p); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// curve is one of the factored speedups.
type curve struct {
	class, name string
	of          func(*scaling.Speedups) *float64
}

// curves are in the order of figure 2 of the paper, from the top to the bottom.
var curves = []curve{
	{"linear", "linear", func(s *scaling.Speedups) *float64 { return &s.Linear }},
	{"elision", "elision", func(s *scaling.Speedups) *float64 { return s.Elision }},
	{"maximal", "maximal", func(s *scaling.Speedups) *float64 { return s.Maximal }},
	{"idle", "idle-specific", func(s *scaling.Speedups) *float64 { return s.IdleSpecific }},
	{"inflation", "inflation-specific", func(s *scaling.Speedups) *float64 { return s.InflationSpecific }},
	{"forecast", "forecast", func(s *scaling.Speedups) *float64 { return s.Forecast }},
	{"actual", "actual", func(s *scaling.Speedups) *float64 { return s.Actual }},
}

// drawn are the curves that have a point.
func drawn(r *scaling.Report) (cs []curve) {
	for _, c := range curves {
		for i := range r.Points {
			if c.of(&r.Points[i].Speedup) != nil {
				cs = append(cs, c)
				break
			}
		}
	}
	return cs
}

func curveKeys(r *scaling.Report) (keys []pageKey) {
	for _, c := range drawn(r) {
		keys = append(keys, pageKey{Class: c.class, Name: c.name})
	}
	return keys
}

// gaps says what the marks of the plot are.
func gaps(r *scaling.Report) string {
	s := fmt.Sprintf("Factored speedups; bars on the actual one are intervals of 99 %%. On %s, what is lost to A overhead of being parallel, B idle time, C inflation of work, D idle time and inflation together",
		units.Plural(marked(r).P, "core"))
	if marked(r) != &r.Points[len(r.Points)-1] {
		s += fmt.Sprintf("; beyond %d, threads were more than cores", r.Setting.Cores)
	}
	return s
}

// marked is the point whose gaps are drawn: the last with a core for each thread.
func marked(r *scaling.Report) *scaling.Point {
	n := 1
	for n < len(r.Points) && !r.Points[n].Oversubscribed {
		n++
	}
	return &r.Points[n-1]
}

const (
	plotHeight = 320
	gapWidth   = 22 // between the marks of the gaps
)

// speedupPlot draws the factored speedup plot.
func speedupPlot(r *scaling.Report) template.HTML {
	last := &r.Points[len(r.Points)-1]
	most := 0.0
	var ps []tick
	for i := range r.Points {
		for _, c := range curves {
			if v := c.of(&r.Points[i].Speedup); v != nil {
				most = max(most, *v)
			}
		}
		ps = append(ps, tick{float64(r.Points[i].P), fmt.Sprint(r.Points[i].P)})
	}
	ticks := niceTicks(most, units.Digits)
	d := newDrawing(gap+plotHeight+2*lineHeight+gap, fmt.Sprintf("factored speedups on 1 to %d cores", last.P))
	left := lineHeight + gap + room(ticks) + gap
	right := d.width - 5*gapWidth
	x := scale{0, float64(last.P), left, right}
	y := scale{0, most, gap + plotHeight, gap}
	for _, t := range ticks {
		d.line("grid", left, y.at(t.at), right, y.at(t.at))
	}
	d.beside(y, left, ticks)
	d.turned("tick", lineHeight/2, gap+plotHeight/2, "speedup")
	for _, c := range drawn(r) {
		d.curve(r, c, x, y)
	}
	d.gapMarks(marked(r), x, y)
	d.line("axis", left, y.at(0), right, y.at(0))
	d.below(x, y.at(0), ps, "cores")
	return d.done()
}

// curve draws one of the curves; where a point is not known, it is broken.
func (d *drawing) curve(r *scaling.Report, c curve, x, y scale) {
	var path strings.Builder
	pen := "M"
	for i := range r.Points {
		p := &r.Points[i]
		v := c.of(&p.Speedup)
		if v == nil {
			pen = "M"
			continue
		}
		at := x.at(float64(p.P))
		fmt.Fprintf(&path, "%s%s %s", pen, number(at), number(y.at(*v)))
		pen = "L"
		if c.class == "actual" && p.Low != nil && p.Low.Actual != nil {
			d.line("curve actual", at, y.at(*p.Low.Actual), at, y.at(*p.High.Actual))
		}
	}
	fmt.Fprintf(&d.b, "<path class=\"curve %s\" d=\"%s\" />\n", c.class, path.String())
}

// gapMarks draws what figure 2 calls A to D, at the right.
func (d *drawing) gapMarks(p *scaling.Point, x, y scale) {
	s := &p.Speedup
	for i, g := range []struct {
		name     string
		from, to *float64
	}{{"A", &s.Linear, s.Maximal}, {"B", s.Maximal, s.IdleSpecific}, {"C", s.Maximal, s.InflationSpecific}, {"D", s.Maximal, s.Actual}} {
		at := x.end + float64(i+1)*gapWidth
		d.text("tick", at, y.start+lineHeight, g.name)
		if g.from == nil || g.to == nil {
			continue
		}
		const half = 4
		from, to := y.at(*g.from), y.at(*g.to)
		d.line("gap", at, from, at, to)
		d.line("gap", at-half, from, at+half, from)
		d.line("gap", at-half, to, at+half, to)
	}
}
