package text

import "github.com/skewlens/skewlens/report"

// sizes says what caches of several sizes would have missed in the whole run.
func (t *writer) sizes(s *report.CacheSizes) {
	if s == nil {
		return
	}
	t.line("", "")
	t.facts("", "    ", append([]string{t.paint(bold, "caches of several sizes, the whole run")}, s.Words()...))
	t.table(t.paths.SizeRows(s, shownLines), 1) // they are many
}
