package text

import (
	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report/internal/words"
	"github.com/skewlens/skewlens/report/scaling"
)

// scaledShown is how many sections have a table.
const scaledShown = 5

// scaledSections says where in the program speedup is lost.
func (t *writer) scaledSections(r *scaling.Report) {
	if len(r.Sections) == 0 {
		return
	}
	t.line("", "")
	t.prose("", "  ", words.Recorded(r))
	for i := range r.Sections[:min(len(r.Sections), scaledShown)] {
		s := &r.Sections[i]
		t.line("", "")
		t.line("  ", t.paint(bold, t.paths.ScaledSection(s)))
		if says := words.SectionStack(s); says != "" {
			t.prose("  ", "    ", says)
		}
		for k, l := range table(words.SectionTable(s)) {
			t.row(k, "  "+l)
		}
	}
	if left := len(r.Sections) - scaledShown; left > 0 {
		t.line("", "")
		t.line("  ", "and "+units.Plural(left, "section")+" more, in --format html and json")
	}
}
