package html

import (
	"fmt"
	"math"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

// sizesLines are listed of the whole run.
const sizesLines = 20

// sizes fills in what caches of several sizes would have missed in the whole run.
func (m *maker) sizes(p *page) {
	s := m.r.CacheSizes
	if s == nil {
		return
	}
	p.SizesFacts = strings.Join(s.Words(), words.Dot)
	for _, row := range m.paths.SizeRows(s, sizesLines) {
		last := len(row) - 1
		p.Sizes = append(p.Sizes, pageSizes{row[:last], row[last]})
	}
	p.SizesPlots = sizesPlot(s)
}

// sizesPlot draws misses over size, which doubles from point to point; nothing where
// nothing is known, or there is one size, or nothing misses.
func sizesPlot(s *report.CacheSizes) []pagePlot {
	if s == nil {
		return nil
	}
	most := 0.0
	for i := range s.Bytes {
		most = max(most, float64(s.Misses[i]), float64(s.Shared[i]))
	}
	if len(s.Bytes) < 2 || most == 0 {
		return nil
	}
	ticks := niceTicks(most, func(x float64) string { return units.Compact(uint64(x)) })
	d := newDrawing(gap+sizesHeight+2*lineHeight+gap, "misses over the size of the caches")
	left := lineHeight + gap + room(ticks) + gap
	log := func(n int64) float64 { return math.Log2(float64(n)) }
	x := scale{log(s.Bytes[0]), log(s.Bytes[len(s.Bytes)-1]), left + gap, d.width - 3*letterWidth}
	y := scale{0, most, gap + sizesHeight, gap}
	for _, t := range ticks {
		d.line("grid", left, y.at(t.at), x.end, y.at(t.at))
	}
	d.beside(y, left, ticks)
	d.turned("tick", lineHeight/2, gap+sizesHeight/2, "misses")
	if s.Knee != nil {
		d.line("knee", x.at(log(*s.Knee)), y.start, x.at(log(*s.Knee)), y.end)
	}
	var sizes []tick
	for _, n := range s.Bytes {
		sizes = append(sizes, tick{log(n), report.SizeName(n)})
	}
	for _, c := range []struct {
		class string
		of    []uint64
	}{{"shared", s.Shared}, {"own", s.Misses}} {
		var path strings.Builder
		pen := "M"
		for i, n := range c.of {
			fmt.Fprintf(&path, "%s%s %s", pen, number(x.at(log(s.Bytes[i]))), number(y.at(float64(n))))
			pen = "L"
		}
		fmt.Fprintf(&d.b, "<path class=\"curve %s\" d=\"%s\" />\n", c.class, path.String())
	}
	d.line("axis", left, y.at(0), x.end, y.at(0))
	d.below(x, y.at(0), sizes, "size of the caches")
	p := pagePlot{SVG: d.done(), Caption: "Misses over the size of the caches. " + strings.Join(s.Words(), words.Dot) + ".",
		Keys: []pageKey{{"own", "a cache for each thread"}, {"shared", "one for all, behind small ones"}}}
	if s.Knee != nil {
		p.Keys = append(p.Keys, pageKey{"knee", "the working set"})
	}
	return []pagePlot{p}
}

const sizesHeight = 200
