package html

import (
	"math"
	"unicode/utf8"
)

// scale turns values into coordinates.
type scale struct {
	from, to   float64 // values
	start, end float64 // coordinates
}

func (s scale) at(value float64) float64 {
	return s.start + (value-s.from)/(s.to-s.from)*(s.end-s.start)
}

// tick is a place on an axis; without a label it has no name.
type tick struct {
	at    float64
	label string
}

// niceTicks are a few round numbers from 0 to most.
func niceTicks(most float64, show func(float64) string) []tick {
	step := math.Pow(10, math.Floor(math.Log10(most)))
	switch n := most / step; {
	case n < 1.5:
		step /= 4
	case n < 3:
		step /= 2
	case n >= 6:
		step *= 2
	}
	ticks := []tick{}
	for i := 0; float64(i)*step <= most*(1+1e-9); i++ {
		label := "0"
		if i > 0 {
			label = show(float64(i) * step)
		}
		ticks = append(ticks, tick{float64(i) * step, label})
	}
	return ticks
}

// threadTicks names so many threads as have room.
func threadTicks(ids []string) []tick {
	step := (len(ids) + 23) / 24
	ticks := []tick{}
	for i, id := range ids {
		if i%step == 0 {
			ticks = append(ticks, tick{float64(i), id})
		}
	}
	return ticks
}

// The room that letters take at most, in the fonts of the style sheet.
const (
	letterWidth = 8
	lineHeight  = 16
	gap         = 6 // between a label and what it names
)

// room is how wide the widest label is.
func room(ticks []tick) float64 {
	most := 0
	for _, t := range ticks {
		most = max(most, utf8.RuneCountInString(t.label))
	}
	return float64(most * letterWidth)
}

// below writes the labels of a horizontal axis and its title under y.
func (d *drawing) below(s scale, y float64, ticks []tick, title string) {
	for _, t := range ticks {
		d.text("tick", s.at(t.at), y+lineHeight, t.label)
	}
	d.text("tick", (s.start+s.end)/2, y+2*lineHeight, title)
}

// beside writes the labels of a vertical axis left of x.
func (d *drawing) beside(s scale, x float64, ticks []tick) {
	for _, t := range ticks {
		d.text("tick left", x-gap, s.at(t.at)+lineHeight/4, t.label)
	}
}
