package html

import (
	"fmt"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report/internal/words"
	"github.com/skewlens/skewlens/report/scaling"
)

// stackPlot draws the speedup stack of each point; nil where none has one.
func stackPlot(r *scaling.Report) *pagePlot {
	names, says := words.StackNames(r)
	if len(names) == 0 {
		return nil
	}
	var ids []string
	all := make([]series, len(names))
	for i := range r.Points {
		p := &r.Points[i]
		if len(p.Stack) == 0 {
			continue
		}
		ids = append(ids, fmt.Sprint(p.P))
		for k, n := range names {
			all[k].class = n
			all[k].values = append(all[k].values, words.StackOf(p, n))
		}
	}
	out := &pagePlot{
		SVG:     barPlot(ids, "cores", "speedup stacks", units.Digits, all...),
		Caption: "Speedup stacks: what the cores' time went to, in units of the speedup. What idle time was for is divided as threads waited in a profiled run, an estimate; all else is measured",
	}
	for k, n := range names {
		out.Keys = append(out.Keys, pageKey{Class: n, Name: says[k]})
	}
	return out
}
