package text

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

// WriteComparison writes two runs side by side: a row for each section, before and
// after. An error is the writer's.
func WriteComparison(w io.Writer, c *report.Comparison) error {
	b := bufio.NewWriter(w)
	for _, r := range words.Runs(c) {
		fmt.Fprintf(b, "%-8s %s\n", r[0], r[1])
	}
	fmt.Fprintln(b)
	if len(c.Sections) == 0 {
		fmt.Fprintln(b, "neither run has a parallel section")
	} else {
		columns(b, words.Compared(c))
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// columns writes a table, the first column and the last to the left, the others to
// the right.
func columns(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], width(cell))
		}
	}
	for _, r := range rows {
		var b strings.Builder
		for i, cell := range r {
			gap := strings.Repeat(" ", widths[i]-width(cell))
			switch {
			case i == 0:
				b.WriteString(cell + gap)
			case i == len(r)-1:
				b.WriteString("  " + cell)
			default:
				b.WriteString("  " + gap + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
