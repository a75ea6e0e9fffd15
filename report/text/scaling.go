package text

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
	"github.com/skewlens/skewlens/report/scaling"
)

// WriteScaling writes where a program's speedup goes. An error is the writer's.
func WriteScaling(w io.Writer, r *scaling.Report, opt Options) error {
	if opt.Width == 0 {
		opt.Width = 100
	}
	opt.Width = max(opt.Width, 40)
	b := bufio.NewWriter(w)
	t := writer{w: b, opt: opt, paths: words.Paths{Dir: opt.Dir}}
	t.line("", t.paint(bold, words.Cut(t.paths.Command(&report.Report{Program: r.Program}), t.opt.Width)))
	t.facts("", "", words.Scaling(r))
	t.warnings("", r.Warnings)
	t.line("", "")
	for i, l := range table(words.Times(r)) {
		t.row(i, l)
	}
	t.line("", "")
	for i, l := range table(words.Speedups(r)) {
		t.row(i, l)
	}
	if len(r.Notes) > 0 {
		t.line("", "")
	}
	for _, n := range r.Notes {
		t.prose("", "  ", n.Message)
	}
	more := words.Foreseen(r)
	for _, s := range []string{words.Stack(r), words.Caches(r), words.Together(r)} {
		if s != "" {
			more = append([]string{s}, more...)
		}
	}
	for i, n := range more {
		if i == 0 && len(r.Notes) == 0 {
			t.line("", "")
		}
		t.prose("", "  ", n)
	}
	for i, l := range words.Idle(r) {
		if i == 0 {
			t.line("", "")
		}
		t.prose(strings.Repeat("  ", min(i, 1)), "    ", l)
	}
	t.scaledSections(r)
	for i := range r.Lines {
		t.sampled(fmt.Sprintf("#%d", i+1), r.Lines[i].Location, words.Grows(&r.Lines[i]))
	}
	for i := range r.Serial {
		t.sampled("alone", r.Serial[i].Location, words.Alone(r, &r.Serial[i]))
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (t *writer) row(i int, l string) {
	if i == 0 {
		l = t.paint(dim, l)
	}
	t.line("", l)
}

// table sets cells right-aligned in columns.
func table(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(c))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		for i, c := range row {
			lines[n] += strings.Repeat(" ", widths[i]-width(c)+2) + c
		}
	}
	return lines
}

// sampled is a line where work was sampled, and what there is to say of it.
func (t *writer) sampled(mark string, l *report.Location, says string) {
	t.line("", "")
	t.line("", t.paint(red, mark)+"  "+t.paint(bold, t.paths.Work(l)))
	t.prose("    ", "    ", says)
	for _, at := range t.paths.Inlined(l.InlinedAt) {
		t.line("    ", units.Printable(at))
	}
	t.excerpt("    ", '│', l.Place)
}
