package text

import (
	"strings"

	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

// shownLines of the run's memory are shown; the page and the data have more.
const shownLines = 8

// memory says where the run misses its caches, whoever of the threads it is.
func (t *writer) memory(m *report.Memory) {
	if m == nil {
		return
	}
	t.line("", "")
	t.facts("", "    ", append([]string{t.paint(bold, "memory, the whole run")}, m.Words()...))
	rows := [][]string{words.MemoryHead(m)}
	for i := range m.Lines[:min(len(m.Lines), shownLines)] {
		rows = append(rows, t.paths.MemoryRow(&m.Lines[i]))
	}
	if len(rows) == 1 {
		return
	}
	t.table(rows, 2)
}

// table writes rows of numbers, each with so many blanks before it, and of what each row
// is about.
func (t *writer) table(rows [][]string, apart int) {
	for _, r := range rows {
		var b strings.Builder
		for i, cell := range r[:len(r)-1] {
			w := 0
			for _, o := range rows {
				w = max(w, width(o[i]))
			}
			b.WriteString(strings.Repeat(" ", w-width(cell)+apart) + cell)
		}
		t.line("  ", words.Cut(b.String()+"  "+r[len(r)-1], t.opt.Width-2))
	}
}
