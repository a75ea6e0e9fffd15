package words

import (
	"strconv"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
)

// SizeRows are a table of sizes: their names, what caches of these miss, of each
// thread's own and shared by all, and what so many of the lines miss in their own.
func (p Paths) SizeRows(s *report.CacheSizes, lines int) [][]string {
	head := []string{""}
	for _, n := range s.Bytes {
		head = append(head, report.SizeName(n))
	}
	rows := [][]string{append(head, ""), row("own", s.Misses, "one per thread"), row("shared", s.Shared, "one for all")}
	for i := range s.Lines[:min(len(s.Lines), lines)] {
		l := &s.Lines[i]
		rows = append(rows, row("", l.Misses, p.Place(l.Location)))
	}
	return rows
}

func row(name string, of []uint64, what string) []string {
	cells := []string{name}
	for _, n := range of {
		cells = append(cells, short(n))
	}
	return append(cells, what)
}

// short writes a number in at most five characters.
func short(n uint64) string {
	switch {
	case n < 1000:
		return strconv.FormatUint(n, 10)
	case n < 999500:
		return units.Digits(float64(n)/1e3) + "k"
	case n < 999500000:
		return units.Digits(float64(n)/1e6) + "M"
	}
	return units.Digits(float64(n)/1e9) + "G"
}
