package html

import (
	"bytes"
	"fmt"
	"html/template"
	paint "image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Plots are drawn in stand-in colours, which become the page's CSS variables
// afterwards: so one drawing serves light and dark.
var (
	inkColor   = paint.RGBA{1, 1, 1, 255}
	ruleColor  = paint.RGBA{2, 2, 2, 255}
	workColor  = paint.RGBA{3, 3, 3, 255}
	busyColor  = paint.RGBA{4, 4, 4, 255}
	waitColor  = paint.RGBA{5, 5, 5, 255}
	countColor = paint.RGBA{6, 6, 6, 255}

	themed = strings.NewReplacer(
		"#010101", "var(--soft)", "#020202", "var(--rule)",
		"#030303", "var(--work)", "#040404", "var(--busy)", "#050505", "var(--wait)", "#060606", "var(--count)",
		// The page says which font; without this every label would.
		"font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;", "",
	)
)

const (
	plotWidth  vg.Length = 560 // points
	barsHeight vg.Length = 130
)

// series is one number per thread, drawn in one colour on top of the series before.
type series struct {
	values []float64
	color  paint.Color
}

// barPlot draws one bar per thread. What it shows stands in the page as a table
// too, so for those who cannot see it a sentence is enough.
func barPlot(ids []int, label string, show func(float64) string, ss ...series) (template.HTML, error) {
	p := newPlot()
	most := 0.0
	sums := make([]float64, len(ids))
	var below *plotter.BarChart
	for _, s := range ss {
		bars, err := plotter.NewBarChart(plotter.Values(s.values), barWidth(len(ids)))
		if err != nil {
			return "", fmt.Errorf("draw %s: %w", label, err)
		}
		bars.Color, bars.LineStyle.Width = s.color, 0
		if below != nil {
			bars.StackOn(below)
		}
		below = bars
		p.Add(bars)
		for i, v := range s.values {
			sums[i] += v
			most = max(most, sums[i])
		}
	}
	if most == 0 {
		most = 1
	}
	p.X.Label.Text = "thread"
	p.X.Tick.Marker = plot.ConstantTicks(threadTicks(ids, 1))
	p.X.Min, p.X.Max = -0.6, float64(len(ids))-0.4
	p.Y.Min, p.Y.Max = 0, most
	p.Y.Tick.Marker = plot.ConstantTicks(niceTicks(most, show))
	return rendered(p, plotWidth, barsHeight, label)
}

func barWidth(n int) vg.Length {
	return max(0.7*(plotWidth-60)/vg.Length(max(n, 14)), 0.5)
}

// threadTicks names so many threads as have room.
func threadTicks(ids []int, direction float64) []plot.Tick {
	step := (len(ids) + 23) / 24
	ticks := []plot.Tick{}
	for i, id := range ids {
		if i%step == 0 {
			ticks = append(ticks, plot.Tick{Value: direction * float64(i), Label: fmt.Sprint(id)})
		}
	}
	return ticks
}

// niceTicks are a few round numbers from 0 to most.
func niceTicks(most float64, show func(float64) string) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10(most)))
	switch n := most / step; {
	case n < 1.5:
		step /= 4
	case n < 3:
		step /= 2
	case n >= 6:
		step *= 2
	}
	ticks := []plot.Tick{}
	for i := 0; float64(i)*step <= most*(1+1e-9); i++ {
		label := "0"
		if i > 0 {
			label = show(float64(i) * step)
		}
		ticks = append(ticks, plot.Tick{Value: float64(i) * step, Label: label})
	}
	return ticks
}

// newPlot is an empty plot in the page's style.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	sans := font.Font{Typeface: "Liberation", Variant: "Sans", Size: 9}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans, sans
		a.Label.TextStyle.Color, a.Tick.Label.Color = inkColor, inkColor
		a.LineStyle.Color, a.Tick.LineStyle.Color = ruleColor, ruleColor
		a.Tick.Length = 3
	}
	return p
}

// rendered is the plot as an SVG element for the page.
func rendered(p *plot.Plot, w, h vg.Length, label string) (template.HTML, error) {
	c := vgsvg.New(w, h)
	p.Draw(draw.Crop(draw.New(c), 0, -18, 2, -2)) // the last label may reach beyond its axis
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", fmt.Errorf("draw %s: %w", label, err)
	}
	// What stands before the first group is for a file of its own.
	_, body, _ := strings.Cut(b.String(), "<g ")
	head := fmt.Sprintf(`<svg viewBox="0 0 %g %g" role="img" aria-label="%s">`, w.Points(), h.Points(), template.HTMLEscapeString(label))
	return template.HTML(head + "\n<g " + strings.TrimRight(themed.Replace(body), "\n")), nil
}

// lanes is the timeline: a row per thread, in it what it did before each
// meeting and how long it waited there. All bars of one colour are one path.
type lanes struct {
	bars []bar
}

type bar struct {
	row              int
	from, to, waited float64
}

// Plot implements plot.Plotter.
func (l lanes) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var work, wait vg.Path
	add := func(to *vg.Path, from, until float64, row int) {
		if until <= from {
			return
		}
		low, high := y(-float64(row)-0.36), y(-float64(row)+0.36)
		to.Move(vg.Point{X: x(from), Y: low})
		to.Line(vg.Point{X: x(until), Y: low})
		to.Line(vg.Point{X: x(until), Y: high})
		to.Line(vg.Point{X: x(from), Y: high})
		to.Close()
	}
	for _, b := range l.bars {
		add(&work, b.from, b.to, b.row)
		add(&wait, b.to, b.waited, b.row)
	}
	for _, f := range []struct {
		color paint.Color
		path  vg.Path
	}{{waitColor, wait}, {workColor, work}} {
		if len(f.path) > 0 {
			c.SetColor(f.color)
			c.Fill(f.path)
		}
	}
}

// lanePlot draws a timeline.
func lanePlot(t *timeline, label string) (template.HTML, error) {
	p := newPlot()
	p.Add(lanes{t.bars})
	p.X.Label.Text, p.Y.Label.Text = t.axis, "thread"
	p.X.Min, p.X.Max = t.from, max(t.to, t.from+1e-9)
	p.X.Tick.Marker = plot.ConstantTicks(shifted(niceTicks(p.X.Max-p.X.Min, t.show), t.from))
	p.Y.Min, p.Y.Max = -float64(len(t.ids))+0.4, 0.6
	p.Y.Tick.Marker = plot.ConstantTicks(threadTicks(t.ids, -1))
	height := vg.Length(min(max(len(t.ids)*12, 60), 420) + 40)
	return rendered(p, plotWidth, height, label)
}

func shifted(ticks []plot.Tick, by float64) []plot.Tick {
	for i := range ticks {
		ticks[i].Value += by
	}
	return ticks
}
