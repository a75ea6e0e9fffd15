package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

func (t *writer) threadBars(s *report.Section) {
	if len(s.Threads) == 0 {
		return
	}
	work := make([]uint64, len(s.Threads))
	busy := make([]uint64, len(s.Threads))
	timed := true
	for i, th := range s.Threads {
		work[i] = th.Instructions
		if timed = timed && th.BusyS != nil; timed {
			busy[i] = uint64(*th.BusyS * 1e9)
		}
	}
	switch counted, show, unit, known := words.CountedOf(s); {
	case known:
		t.bars("  ", "work", counted, show, unit)
	case slices.Max(work) > 0 || !timed:
		t.bars("  ", "work", work, units.Compact, " instructions")
	}
	if timed {
		t.bars("  ", "busy", busy, func(ns uint64) string {
			return units.Seconds(float64(ns) / 1e9)
		}, "")
	}
}

// bars shows one number per thread as one bar each, and the least and the most.
func (t *writer) bars(indent, label string, n []uint64, show func(uint64) string, unit string) {
	least, most := n[0], n[0]
	for _, x := range n {
		least, most = min(least, x), max(most, x)
	}
	span := show(least) + " … " + show(most) + unit
	if least == most {
		span = show(most) + unit
	}
	lead := fmt.Sprintf("%s%-6s ", indent, label)
	shown := words.Shown(len(n))
	for i, chunk := range sparkline(n[:shown], most, t.opt.Width-width(lead)-width(span)-2) {
		if i == 0 {
			t.line(lead, t.paint(cyan, chunk)+"  "+span)
		} else {
			t.line(strings.Repeat(" ", width(lead)), t.paint(cyan, chunk))
		}
	}
	if rest := words.Rest(n[shown:], show); rest != "" {
		t.line(strings.Repeat(" ", width(lead)), rest)
	}
}

var blocks = []rune("▁▂▃▄▅▆▇█")

// sparkline draws a bar per number, in rows of at most columns bars; zero is a dot.
func sparkline(n []uint64, most uint64, columns int) []string {
	columns = max(columns, 8)
	rows := []string{}
	for len(n) > 0 {
		k := min(columns, len(n))
		row := make([]rune, k)
		for i, x := range n[:k] {
			row[i] = '·'
			if x > 0 {
				row[i] = blocks[int(float64(x)/float64(most)*float64(len(blocks)-1)+0.5)]
			}
		}
		rows, n = append(rows, string(row)), n[k:]
	}
	return rows
}
