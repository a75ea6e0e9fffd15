package html

import (
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

// memory fills in where the run misses its caches.
func (m *maker) memory(p *page) {
	if m.r.Memory == nil {
		return
	}
	p.MemoryFacts, p.MemoryHead = strings.Join(m.r.Memory.Words(), words.Dot), words.MemoryHead(m.r.Memory)
	for i := range m.r.Memory.Lines {
		p.Memory = append(p.Memory, m.paths.MemoryRow(&m.r.Memory.Lines[i]))
	}
}

// levels are the numbers of a cause's line, or of a section.
func levels(of []report.Level) (n []pageNumber) {
	for _, l := range of {
		means := "how often an access missed it; who missed a farther level has missed the nearer ones too"
		if l.MPKI != nil {
			means += "; " + units.Digits(*l.MPKI) + " in 1,000 instructions"
		}
		n = append(n, pageNumber{l.Name() + " missed", l.Missed(), means})
	}
	return n
}
