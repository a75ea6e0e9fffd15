package plot

import (
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/skewlens/skewlens/report/scaling"
)

// layer is a component of the stacks, or several that are drawn as one.
type layer struct {
	says   string
	colour color.RGBA
	names  []string
}

// layers are from the bottom to the top.
var layers = []layer{
	{"speedup", color.RGBA{0, 114, 178, 255}, []string{"speedup"}},
	{"overhead", color.RGBA{0, 158, 115, 255}, []string{"overhead"}},
	{"inflation", color.RGBA{204, 121, 167, 255}, []string{"inflation", "inflation-threads", "inflation-beside", "inflation-lines", "inflation-shared", "inflation-rest"}},
	{"idle: no thread", color.RGBA{200, 200, 200, 255}, []string{"idle-none"}},
	{"idle", color.RGBA{150, 150, 150, 255}, []string{"idle"}},
	{"idle: meetings, ends", color.RGBA{230, 159, 0, 255}, []string{"idle-barrier", "idle-join"}},
	{"idle: locks, conditions", color.RGBA{213, 94, 0, 255}, []string{"idle-lock", "idle-condition", "idle-spin"}},
	{"idle: files, sleep, memory", color.RGBA{240, 228, 66, 255}, []string{"idle-io", "idle-sleep", "idle-fault"}},
}

// height is how much of a point's stack is of the layer.
func (l *layer) height(p *scaling.Point) (h float64) {
	for _, c := range p.Stack {
		for _, n := range l.names {
			if c.Name == n {
				h += max(0, c.Speedup)
			}
		}
	}
	return h
}

// WriteStack draws the speedup stacks in a format of Format.
func WriteStack(w io.Writer, r *scaling.Report, format string) error {
	var points []*scaling.Point
	var names []string
	for i := range r.Points {
		if p := &r.Points[i]; len(p.Stack) > 0 {
			points, names = append(points, p), append(names, fmt.Sprint(p.P))
		}
	}
	if points == nil {
		return fmt.Errorf("plot speedup stacks: idle time is not known at any number of cores: time it on a machine that has them, and does nothing else")
	}
	p := plot.New()
	p.BackgroundColor = color.White
	p.X.Label.Text, p.Y.Label.Text = "cores", "speedup"
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true
	var below *plotter.BarChart
	for i := range layers {
		l := &layers[i]
		values, sum := make(plotter.Values, len(points)), 0.0
		for k, x := range points {
			values[k] = l.height(x)
			sum += values[k]
		}
		if sum == 0 {
			continue
		}
		bars, err := plotter.NewBarChart(values, vg.Points(30))
		if err != nil {
			return fmt.Errorf("plot speedup stacks: %w", err)
		}
		bars.Color, bars.LineStyle.Width = l.colour, 0
		if below != nil {
			bars.StackOn(below)
		}
		below = bars
		p.Add(bars)
		p.Legend.Add(l.says, bars)
	}
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.6, float64(len(points))-0.4
	p.Y.Max = 1.4 * float64(points[len(points)-1].P) // room for the legend
	to, err := p.WriterTo(width, height, format)
	if err == nil {
		_, err = to.WriteTo(w)
	}
	if err != nil {
		return fmt.Errorf("plot speedup stacks: %w", err)
	}
	return nil
}
