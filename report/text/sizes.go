package text

import (
	"strings"

	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

// sizes says what caches of several sizes would have missed in the whole run.
func (t *writer) sizes(s *report.CacheSizes) {
	if s == nil {
		return
	}
	t.line("", "")
	t.facts("", "    ", append([]string{t.paint(bold, "caches of several sizes, the whole run")}, s.Words()...))
	rows := t.paths.SizeRows(s, shownLines)
	for _, r := range rows {
		var b strings.Builder
		for i, cell := range r[:len(r)-1] {
			w := 0
			for _, o := range rows {
				w = max(w, width(o[i]))
			}
			b.WriteString(strings.Repeat(" ", w-width(cell)+min(1, i)) + cell)
		}
		b.WriteString("  " + r[len(r)-1])
		t.line("  ", words.Cut(b.String(), t.opt.Width-2))
	}
}
