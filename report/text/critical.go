package text

import (
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

// criticalPath says what the run cannot be shorter than, and what that is made of.
func (t *writer) criticalPath(r *report.Report) {
	c := r.CriticalPath
	if c == nil {
		return
	}
	t.line("", "")
	facts := words.CriticalPath(r)
	facts[0] = t.paint(bold, facts[0])
	t.facts("", "    ", facts)
	t.warnings("  ", c.Warnings)
	t.facts("  ", "    ", words.OnPath(r))
	for _, s := range []string{words.Handed(c), words.PathLines(c)} {
		if s != "" {
			t.prose("  ", "    ", s)
		}
	}
	for _, s := range words.PathIfs(c) {
		t.prose("  ", "    ", s)
	}
	for _, s := range []string{words.Slack(r), words.SlackLines(c)} {
		if s != "" {
			t.prose("  ", "    ", s)
		}
	}
}
