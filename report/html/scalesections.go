package html

import (
	"fmt"

	"github.com/skewlens/skewlens/report/internal/words"
	"github.com/skewlens/skewlens/report/scaling"
)

// scaledSection is where the speedup of a section goes.
type scaledSection struct {
	pageCause
	Table [][]string // the first row is the head
	Plots []pagePlot
}

func (m *maker) scaledSection(s *scaling.Section) scaledSection {
	v := scaledSection{pageCause: pageCause{Place: m.paths.ScaledSection(s), Message: words.SectionStack(s)}, Table: words.SectionTable(s)}
	if s.Location != nil {
		m.excerpt(&v.pageCause, "", &s.Location.Place)
	}
	var ids []string
	var stacks [][]scaling.Component
	for i := range s.Points {
		if p := &s.Points[i]; len(p.Stack) > 0 {
			ids, stacks = append(ids, fmt.Sprint(p.P)), append(stacks, p.Stack)
		}
	}
	names, says := words.NamesIn(stacks)
	if plot := plotStacks(ids, stacks, names, says, "Its speedup stacks, of recorded runs: idle time is what the slowest thread waited, what the others needed less than it, and cores without a thread"); plot != nil && len(ids) > 1 {
		v.Plots = append(v.Plots, *plot)
	}
	return v
}
