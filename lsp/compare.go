package lsp

import (
	"context"
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
)

// compare shows a target's last run beside the one before.
func (s *server) compare(_ context.Context, c *call) (any, error) {
	r, err := s.view().pick(c)
	if err != nil {
		return nil, err
	}
	if r.Scaling != nil {
		return nil, fmt.Errorf("%s: only profiles can be compared, and there is none: profile it", r.Target)
	}
	if r.Before == nil {
		return nil, fmt.Errorf("%s has been profiled only once: profile it again", r.Target)
	}
	return s.showText(c, r.Target+"-compared.txt", compared(r.Target, r.Before, r.Report))
}

// compared is a table of all sections that one of two runs has.
func compared(target string, before, after *report.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: the run before, and the last one\n\n", target)
	fmt.Fprintf(&b, "%-28s %12s %12s   %10s %10s   %s\n", "section", "imbalance", "", "time", "", "causes")
	for _, p := range report.Compare(before, after).Sections {
		row(&b, p.Before, p.After)
	}
	if before.Run.WallS != nil && after.Run.WallS != nil {
		fmt.Fprintf(&b, "\n%-28s %12s %12s   %10s %10s\n", "whole run", "", "", units.Seconds(*before.Run.WallS), units.Seconds(*after.Run.WallS))
	}
	b.WriteString("\nSections are compared by their source line: one that moved stands here twice.\n")
	return b.String()
}

// row writes a section in two runs; nil in the run that has none.
func row(b *strings.Builder, o, n *report.Section) {
	id := ""
	cell := func(s *report.Section) (imbalance, time, causes string) {
		imbalance, time, causes = "–", "–", "–"
		if s == nil {
			return
		}
		id = s.ID
		causes = fmt.Sprint(len(s.Causes))
		if s.Imbalance != nil {
			imbalance = units.Percent(*s.Imbalance)
		}
		if s.TimeS != nil {
			time = units.Seconds(*s.TimeS)
		}
		return
	}
	i1, t1, c1 := cell(o)
	i2, t2, c2 := cell(n)
	fmt.Fprintf(b, "%-28s %12s %12s   %10s %10s   %s → %s\n", id, i1, i2, t1, t2, c1, c2)
}
