package words

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
)

// Compared is a comparison as a table, its head first: a row for each section.
func Compared(c *report.Comparison) [][]string {
	rows := [][]string{{"section", "imbalance before", "after", "time before", "after", "causes before", "after", ""}}
	for _, p := range c.Sections {
		i1, t1, c1 := side(p.Before)
		i2, t2, c2 := side(p.After)
		rows = append(rows, []string{units.Printable(p.Name()), i1, i2, t1, t2, c1, c2, string(c.Verdict(p))})
	}
	return rows
}

func side(s *report.Section) (imbalance, time, causes string) {
	if s == nil {
		return "–", "–", "–"
	}
	imbalance, time, causes = "?", "?", fmt.Sprint(len(s.Causes))
	if s.Imbalance != nil {
		imbalance = units.Percent(*s.Imbalance)
	}
	if s.TimeS != nil {
		time = units.Seconds(*s.TimeS)
	}
	return imbalance, time, causes
}

// Runs are what was run before and after, what of it has changed, and what there is
// to doubt, each with its name before it.
func Runs(c *report.Comparison) (out [][2]string) {
	run := func(r *report.Report) string {
		facts := []string{strings.Join(append([]string{r.Program.Path}, r.Program.Args...), " "), units.Plural(r.Run.Threads, "thread")}
		if r.Run.WallS != nil {
			facts = append(facts, units.Seconds(*r.Run.WallS))
		}
		return units.Printable(strings.Join(facts, Dot))
	}
	out = append(out, [2]string{"before", run(c.Before)}, [2]string{"after", run(c.After)})
	if changed := c.Changed(); len(changed) > 0 {
		out = append(out, [2]string{"changed", units.Printable(strings.Join(changed, "; "))})
	}
	for _, w := range c.Doubts() {
		out = append(out, [2]string{"doubt", units.Printable(w.Message + " [" + w.Code + "]")})
	}
	return out
}
