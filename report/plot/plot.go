// Package plot draws the factored speedups of a program into a file by themselves, for
// papers and slides, as an SVG, PNG or PDF picture; the page of package html has the
// same curves beside all else.
package plot

import (
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/skewlens/skewlens/report/scaling"
)

var formats = []string{"svg", "png", "pdf"}

// Format is the format that a file's name asks for; an error names those that there are.
func Format(file string) (string, error) {
	f := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	if !slices.Contains(formats, f) {
		return "", fmt.Errorf("plot %s: its name must end in .%s", file, strings.Join(formats, ", ."))
	}
	return f, nil
}

// curve is one of figure 2 of the paper that the factored speedups are of. Colours are
// those of Okabe and Ito, which colour-blind people can tell apart, on white: a file
// does not know what it will be shown on.
type curve struct {
	name   string
	colour color.RGBA
	dashes []vg.Length
	of     func(*scaling.Speedups) *float64
}

var curves = []curve{
	{"linear", color.RGBA{120, 120, 120, 255}, []vg.Length{2, 4}, func(s *scaling.Speedups) *float64 { return &s.Linear }},
	{"elision", color.RGBA{0, 158, 115, 255}, nil, func(s *scaling.Speedups) *float64 { return s.Elision }},
	{"maximal", color.RGBA{0, 0, 0, 255}, nil, func(s *scaling.Speedups) *float64 { return s.Maximal }},
	{"idle-specific", color.RGBA{230, 159, 0, 255}, []vg.Length{7, 3}, func(s *scaling.Speedups) *float64 { return s.IdleSpecific }},
	{"inflation-specific", color.RGBA{204, 121, 167, 255}, []vg.Length{3, 2}, func(s *scaling.Speedups) *float64 { return s.InflationSpecific }},
	{"forecast", color.RGBA{86, 180, 233, 255}, []vg.Length{1, 3}, func(s *scaling.Speedups) *float64 { return s.Forecast }},
	{"actual", color.RGBA{0, 114, 178, 255}, nil, func(s *scaling.Speedups) *float64 { return s.Actual }},
}

// Width and Height of a picture, at 96 points to an inch in PNG.
const (
	width  = 6 * vg.Inch
	height = 4.5 * vg.Inch
)

// Write draws the factored speedups in a format of Format. Bars on the actual one are
// intervals of 99 %.
func Write(w io.Writer, r *scaling.Report, format string) error {
	p := plot.New()
	p.BackgroundColor = color.White
	p.X.Label.Text, p.Y.Label.Text = "cores", "speedup"
	p.X.Min, p.Y.Min = 0, 0
	p.Legend.Top, p.Legend.Left = true, true
	p.X.Tick.Marker = cores(r)
	for _, c := range curves {
		if err := c.draw(p, r); err != nil {
			return fmt.Errorf("plot speedups: %w", err)
		}
	}
	to, err := p.WriterTo(width, height, format)
	if err == nil {
		_, err = to.WriteTo(w)
	}
	if err != nil {
		return fmt.Errorf("plot speedups: %w", err)
	}
	return nil
}

// cores marks the points that were measured.
func cores(r *scaling.Report) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i := range r.Points {
		ticks = append(ticks, plot.Tick{Value: float64(r.Points[i].P), Label: fmt.Sprint(r.Points[i].P)})
	}
	return ticks
}

// intervals are points with what lies below and above them.
type intervals struct {
	plotter.XYs
	plotter.YErrors
}

// draw draws a curve; where a point is not known, it is broken.
func (c *curve) draw(p *plot.Plot, r *scaling.Report) error {
	var bars intervals
	named := false
	pieces := []plotter.XYs{nil}
	for i := range r.Points {
		x := &r.Points[i]
		v := c.of(&x.Speedup)
		if v == nil {
			pieces = append(pieces, nil)
			continue
		}
		at := plotter.XY{X: float64(x.P), Y: *v}
		last := &pieces[len(pieces)-1]
		*last = append(*last, at)
		if c.name == "actual" && x.Low != nil && x.High != nil && x.Low.Actual != nil && x.High.Actual != nil {
			bars.XYs = append(bars.XYs, at)
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{at.Y - *x.Low.Actual, *x.High.Actual - at.Y})
		}
	}
	for _, piece := range pieces {
		if piece == nil {
			continue
		}
		line, dots, err := plotter.NewLinePoints(piece)
		if err != nil {
			return err
		}
		line.Color, line.Dashes, line.Width = c.colour, c.dashes, vg.Points(1.5)
		dots.Color, dots.Shape, dots.Radius = c.colour, draw.CircleGlyph{}, vg.Points(2)
		p.Add(line, dots)
		if !named {
			p.Legend.Add(c.name, line)
			named = true
		}
	}
	if len(bars.XYs) == 0 {
		return nil
	}
	e, err := plotter.NewYErrorBars(bars)
	if err != nil {
		return err
	}
	e.Color = c.colour
	p.Add(e)
	return nil
}
