package lsp

import (
	"context"
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/report"
	plain "github.com/skewlens/skewlens/report/text"
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
	var b strings.Builder
	if err := plain.WriteComparison(&b, report.Compare(r.Before, r.Report)); err != nil {
		return nil, err
	}
	b.WriteString(trend(r))
	return s.showText(c, r.Target+"-compared.txt", b.String())
}

// trend is how imbalanced the worst section was, run by run.
func trend(r *results.Result) string {
	if len(r.Runs) < 3 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nthe last %d runs, their worst section:\n", len(r.Runs))
	args := ""
	for _, p := range r.Runs {
		fmt.Fprintf(&b, "  %s  %5s  %-10s", p.When.Format("2006-01-02 15:04"), units.Percent(p.Imbalance), bar(p.Imbalance))
		if now := strings.Join(p.Args, " "); now != args {
			args = now
			fmt.Fprintf(&b, "  with %s", units.Printable(now))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
