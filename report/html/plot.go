package html

import "html/template"

// series is one number per thread, drawn in the colour of its class on top of
// the series before.
type series struct {
	values []float64
	class  string
}

const barsHeight = 132 // of the tallest bar

// barPlot draws one bar per thread, or whatever each is.
func barPlot(ids []string, each, label string, show func(float64) string, ss ...series) template.HTML {
	most := 0.0
	sums := make([]float64, len(ids))
	for _, s := range ss {
		for i, v := range s.values {
			sums[i] += v
			most = max(most, sums[i])
		}
	}
	if most == 0 {
		most = 1
	}
	ticks := niceTicks(most, show)
	d := newDrawing(gap+barsHeight+2*lineHeight+gap, label)
	left := room(ticks) + gap
	right := d.width - 2*letterWidth // the last label may reach beyond its bar
	x := scale{-0.5, float64(len(ids)) - 0.5, left, right}
	y := scale{0, most, gap + barsHeight, gap}
	for _, t := range ticks {
		d.line("grid", left, y.at(t.at), right, y.at(t.at))
	}
	d.beside(y, left, ticks)
	half := min(halfOf(x.at(1)-x.at(0)), 18)
	clear(sums)
	for _, s := range ss {
		bars := make([]rect, len(s.values))
		for i, v := range s.values {
			at := x.at(float64(i))
			bars[i] = rect{at - half, y.at(sums[i] + v), at + half, y.at(sums[i])}
			sums[i] += v
		}
		d.rects(s.class, bars)
	}
	d.line("axis", left, y.at(0), right, y.at(0))
	d.below(x, y.at(0), threadTicks(ids), each)
	return d.done()
}

// halfOf is half the thickness of one of many bars, which are so many pixels
// apart. Where these are few there is no space between them, which would flicker.
func halfOf(pitch float64) float64 {
	if pitch < 3 {
		return pitch / 2
	}
	return 0.36 * pitch
}

// bar is what a thread did in an instance, or in several: it worked, then it
// waited.
type bar struct {
	row              int
	from, to, waited float64
}

// lanePlot draws a timeline: a lane per thread, in it what it did before each
// meeting and how long it waited there. Of one that is wider than the page, names is
// the drawing of the threads' names that stays where it is.
func lanePlot(t *timeline, label string) (plot, names template.HTML) {
	height := float64(min(max(len(t.ids)*14, 60), 480))
	rows := threadTicks(t.ids)
	left := lineHeight + gap + room(rows) + gap
	y := scale{-0.5, float64(len(t.ids)) - 0.5, gap, gap + height}
	end := max(t.to, t.from+1e-9)
	times := niceTicks((end-t.from)/float64(t.times), t.show)
	for step := times[1].at; times[len(times)-1].at+step <= end-t.from; {
		at := times[len(times)-1].at + step
		times = append(times, tick{at, t.show(at)})
	}
	for i := range times {
		times[i].at += t.from
	}
	whole := gap + height + 2*lineHeight + gap
	d := newDrawing(whole, label)
	beside := d
	if t.times > 1 {
		beside = newWideDrawing(left+gap, whole, "threads")
		d, left = newWideDrawing(float64(t.times)*drawingWidth, whole, label), gap
	}
	x := scale{t.from, end, left, d.width - room(times)/2} // the last label may reach beyond
	for _, at := range times {
		d.line("grid", x.at(at.at), gap, x.at(at.at), gap+height)
	}
	t.draw(d, x, y)
	d.line("axis", left, gap+height, x.end, gap+height)
	beside.beside(y, lineHeight+gap+room(rows)+gap, rows)
	beside.turned("tick", lineHeight/2, gap+height/2, "thread")
	d.below(x, gap+height, times, t.axis)
	if beside == d {
		return d.done(), ""
	}
	return d.done(), beside.done()
}

// draw draws the lanes.
func (t *timeline) draw(d *drawing, x, y scale) {
	var work, wait, path []rect
	half := halfOf(y.at(1) - y.at(0))
	for _, b := range t.bars {
		high, low := y.at(float64(b.row))-half, y.at(float64(b.row))+half
		work = append(work, rect{x.at(b.from), high, x.at(max(b.to, b.from)), low})
		wait = append(wait, rect{x.at(b.to), high, x.at(max(b.waited, b.to)), low})
	}
	d.rects("wait", wait)
	d.rects("work", work)
	for _, b := range t.path {
		middle := y.at(float64(b.row))
		path = append(path, rect{x.at(b.from), middle - half/3, max(x.at(b.to), x.at(b.from)+0.5), middle + half/3})
	}
	d.rects("path", path)
}
