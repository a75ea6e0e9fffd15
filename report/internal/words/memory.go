package words

import (
	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
)

// MemoryHead are the names of a memory line's columns.
func MemoryHead(m *report.Memory) []string {
	head := []string{"cycles", "accesses"}
	for _, l := range m.Levels {
		head = append(head, l.Name())
	}
	return append(head, "line")
}

// MemoryRow is what each of them holds.
func (p Paths) MemoryRow(l *report.MemoryLine) []string {
	share := "?"
	if l.Share != nil {
		share = units.Percent(*l.Share)
	}
	row := []string{units.Compact(l.Cycles), share}
	for _, x := range l.Levels {
		row = append(row, x.Missed())
	}
	return append(row, p.Place(l.Location))
}
