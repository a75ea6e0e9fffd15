package html

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
)

// Ranks and their threads as a map of heat: a column for each rank, a row for each of
// its threads, the darker the more it executed. So many columns stand beside each
// other that each can be seen, and the others below: a thousand ranks are 16 bands.
//
//	 0 ▒▒▒▒█▒▒▒▒▒▒…        threads of ranks 0 to 63
//	64 ▒▒▒▒▒▒▒▒░▒▒…        of 64 to 127

//go:embed heat.css
var heatStyle string

const (
	bandRanks = 64 // beside each other
	heatLeft  = 48 // for the number of a band's first rank
	widest    = 28 // of a cell
	bandGap   = 8
	shades    = 10
	topRanks  = 16 // that are named
)

// pageRanks is what the page shows of ranks.
type pageRanks struct {
	Message string
	Plot    pagePlot
	Rows    [][]string // those that executed most
	More    string
}

func (m *maker) ranks() *pageRanks {
	r := m.r.Ranks
	if r == nil {
		return nil
	}
	out := &pageRanks{Message: units.Printable(r.Message)}
	out.Plot = pagePlot{SVG: heatMap(r).done(), Keys: []pageKey{{"heat1", "little"}, {"heat9", "as much as the busiest thread"}},
		Caption: fmt.Sprintf("Executed instructions of each thread in the whole run: columns are ranks, %d in a band, which begins with the rank that stands before it; rows are threads", min(bandRanks, len(r.Rows)))}
	rows := slices.Clone(r.Rows)
	slices.SortStableFunc(rows, func(a, b report.RankRow) int { return cmp.Compare(busiest(b), busiest(a)) })
	for _, x := range rows[:min(topRanks, len(rows))] {
		sum := uint64(0)
		for _, t := range x.Threads {
			sum += t.Instructions
		}
		out.Rows = append(out.Rows, []string{strconv.Itoa(x.Rank), units.Printable(x.Host), strconv.Itoa(len(x.Threads)), units.Compact(sum), units.Compact(busiest(x))})
	}
	if more := len(rows) - len(out.Rows); more > 0 {
		out.More = units.Plural(more, "more rank") + " executed less"
	}
	return out
}

// busiest is the most that a thread of a rank executed.
func busiest(x report.RankRow) (most uint64) {
	for _, t := range x.Threads {
		most = max(most, t.Instructions)
	}
	return most
}

func heatMap(r *report.Ranks) *drawing {
	threads, most := 1, uint64(1)
	for _, x := range r.Rows {
		threads, most = max(threads, len(x.Threads)), max(most, busiest(x))
	}
	columns := min(bandRanks, len(r.Rows))
	width := min(widest, float64(drawingWidth-heatLeft)/float64(columns))
	height := max(4, min(12, width))
	band := height*float64(threads) + bandGap
	bands := (len(r.Rows) + columns - 1) / columns
	d := newDrawing(band*float64(bands)+bandGap, fmt.Sprintf("executed instructions of the threads of %d ranks", len(r.Rows)))
	var cells [shades][]rect
	for i, x := range r.Rows {
		left, top := heatLeft+width*float64(i%columns), band*float64(i/columns)+bandGap
		if i%columns == 0 {
			d.text("tick left", heatLeft-6, top+height/2+4, strconv.Itoa(x.Rank))
		}
		for k, t := range x.Threads {
			level := int(float64(shades-1) * float64(t.Instructions) / float64(most))
			y := top + height*float64(k)
			cells[level] = append(cells[level], rect{left, y, left + width - min(1, width/8), y + height - min(1, height/8)})
		}
	}
	for level, list := range cells {
		d.rects(fmt.Sprintf("heat%d", level), list)
	}
	return d
}
