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
	var ids []string
	var stacks [][]scaling.Component
	for i := range r.Points {
		if p := &r.Points[i]; len(p.Stack) > 0 {
			ids, stacks = append(ids, fmt.Sprint(p.P)), append(stacks, p.Stack)
		}
	}
	return plotStacks(ids, stacks, names, says,
		"Speedup stacks: what the cores' time went to, in units of the speedup. What idle time was for is divided as threads waited in recorded runs, an estimate; all else is measured")
}

// plotStacks draws stacks; nil where they have no components.
func plotStacks(ids []string, stacks [][]scaling.Component, names, says []string, caption string) *pagePlot {
	if len(names) == 0 {
		return nil
	}
	all := make([]series, len(names))
	out := &pagePlot{Caption: caption}
	for k, n := range names {
		all[k].class = n
		for _, s := range stacks {
			all[k].values = append(all[k].values, words.HeightOf(s, n))
		}
		out.Keys = append(out.Keys, pageKey{Class: n, Name: says[k]})
	}
	out.SVG = barPlot(ids, "cores", "speedup stacks", units.Digits, all...)
	return out
}
