package plot

import (
	"errors"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/skewlens/skewlens/report/scaling"
)

// linesShown are drawn at most, those that inflate most.
const linesShown = 8

// WriteLines draws the lines whose work grows, in a format of Format: of each its work on
// one core, and what there is more of it on the most.
func WriteLines(w io.Writer, r *scaling.Report, format string) error {
	lines := r.Lines[:min(len(r.Lines), linesShown)]
	if len(lines) == 0 {
		return errors.New("plot lines: no line's work certainly grows with the cores: leave it out")
	}
	base, more := make(plotter.Values, len(lines)), make(plotter.Values, len(lines))
	names := make([]string, len(lines))
	for i := range lines {
		// Bars are drawn from the bottom to the top.
		k := len(lines) - 1 - i
		l := &lines[i]
		base[k], more[k], names[k] = l.W1S, l.InflationS, l.Location.Short()
	}
	p := plot.New()
	p.BackgroundColor = color.White
	p.X.Label.Text = "work of the line, all threads together, s"
	p.X.Min = 0
	p.Legend.Top = true
	var below *plotter.BarChart
	for _, b := range []struct {
		says   string
		values plotter.Values
		colour color.RGBA
	}{{"on 1 core", base, color.RGBA{0, 114, 178, 255}}, {fmt.Sprintf("more on %d", lines[0].P), more, color.RGBA{204, 121, 167, 255}}} {
		bars, err := plotter.NewBarChart(b.values, vg.Points(14))
		if err != nil {
			return fmt.Errorf("plot lines: %w", err)
		}
		bars.Color, bars.LineStyle.Width, bars.Horizontal = b.colour, 0, true
		if below != nil {
			bars.StackOn(below)
		}
		below = bars
		p.Add(bars)
		p.Legend.Add(b.says, bars)
	}
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(lines))+0.6 // room for the legend
	to, err := p.WriterTo(width, height, format)
	if err == nil {
		_, err = to.WriteTo(w)
	}
	if err != nil {
		return fmt.Errorf("plot lines: %w", err)
	}
	return nil
}
