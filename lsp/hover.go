package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
)

// hover shows all numbers of what stands on a line, and what each is a share of.
func (s *server) hover(_ context.Context, params json.RawMessage) (any, error) {
	var p struct {
		textDocument
		Position position `json:"position"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, invalid(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[key(p.TextDocument.URI)]
	if d == nil {
		return nil, nil
	}
	line := d.text.point(s.enc, p.Position).line
	var parts []string
	for _, r := range s.sorted() {
		for _, sec := range r.sections {
			if sec.at != nil && sec.at.path == d.path && sec.at.now.line == line {
				parts = append(parts, s.aboutSection(r, sec))
			}
			for _, c := range s.shownCauses(sec) {
				if c.at != nil && c.at.path == d.path && c.at.now.line == line {
					parts = append(parts, s.aboutCause(r, c))
				}
			}
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	if len(parts) > 6 {
		parts = append(parts[:6], fmt.Sprintf("%d more on this line: see the report.", len(parts)-6))
	}
	where := d.text.words(s.enc, line)
	return hover{markupContent{"markdown", strings.Join(parts, "\n\n---\n\n")}, &where}, nil
}

func (s *server) aboutSection(r *result, sec *sectionMark) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Section %s** · %s · %s\n\n", escape(sec.ID), escape(sec.Kind), escape(s.title(r, sec)))
	fmt.Fprintf(&b, "%s", units.Plural(sec.Instances, "instance"))
	if sec.TimeS != nil {
		fmt.Fprintf(&b, ", %s in all", units.Seconds(*sec.TimeS))
	}
	if sec.IdleS != nil {
		fmt.Fprintf(&b, ", threads waited %s together", units.Seconds(*sec.IdleS))
	}
	b.WriteString(".\n\n")
	threads(&b, sec, nil)
	if sec.R2 != nil {
		fmt.Fprintf(&b, "\nThe causes explain R² = %.3g of the differences between threads.\n", *sec.R2)
	}
	doubts(&b, sec)
	return b.String()
}

func (s *server) aboutCause(r *result, c *causeMark) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**#%d · %s** · section %s", c.Rank, escape(c.kind()), escape(c.section.ID))
	if w := r.staleness(); w != "" {
		fmt.Fprintf(&b, " · %s", w)
	}
	fmt.Fprintf(&b, "\n\n%s.\n\n", escape(c.Message))
	threads(&b, c.section, c.Counts)
	b.WriteString("\n")
	row := func(name, value, of string) { fmt.Fprintf(&b, "- %s **%s** %s\n", name, value, of) }
	row("share", units.Percent(c.Share), "of the variation of work between this section's threads")
	if g := c.Gain; g != nil {
		value := units.Percent(g.Fraction)
		if g.Seconds != nil {
			value = units.Seconds(*g.Seconds) + " (" + value + ")"
		}
		row("gain up to", value, "of this section's time, if it were balanced")
		if g.WholeUnits != nil {
			row("in whole units", units.Percent(*g.WholeUnits), "of this section's time, dealing the same pieces differently")
		}
	}
	number := func(name string, x *float64, of string) {
		if x != nil {
			row(name, fmt.Sprintf("%.3g", *x), of)
		}
	}
	number("score", c.Score, "= β × leader score")
	number("β", c.Beta, "deviation of its work, of the deviation of all work")
	number("leader score", c.LeaderScore, "how much closer to the imbalance this decision is than what led to it")
	number("p", c.P, "that it is chance")
	number("R²", c.section.R2, "of the differences between threads, explained by all causes")
	doubts(&b, c.section)
	return b.String()
}

// maxRows of a table in a hover.
const maxRows = 32

// threads is a table with a bar for each thread: of its count for a cause, of
// its instructions for a section.
func threads(b *strings.Builder, sec *sectionMark, counts []uint64) {
	if len(counts) != len(sec.Threads) {
		counts = nil
	}
	values, what := make([]uint64, len(sec.Threads)), "instructions"
	for i, t := range sec.Threads {
		values[i] = t.Instructions
	}
	head := "| thread | instructions | | busy | waits |\n|---:|---:|:---|---:|---:|\n"
	if counts != nil {
		values, what = counts, "times here"
		head = "| thread | " + what + " | | instructions | busy | waits |\n|---:|---:|:---|---:|---:|---:|\n"
	}
	most := uint64(1)
	for _, v := range values {
		most = max(most, v)
	}
	b.WriteString(head)
	for i, t := range sec.Threads {
		if i == maxRows {
			fmt.Fprintf(b, "\n%d more threads: see the report.\n", len(sec.Threads)-i)
			break
		}
		fmt.Fprintf(b, "| %d | %s | %s |", t.ID, units.Count(values[i]), bar(float64(values[i])/float64(most)))
		if counts != nil {
			fmt.Fprintf(b, " %s |", units.Count(t.Instructions))
		}
		fmt.Fprintf(b, " %s | %s |\n", maybe(t.BusyS), maybe(t.WaitS))
	}
}

func maybe(x *float64) string {
	if x == nil {
		return ""
	}
	return units.Seconds(*x)
}

// bar is a fraction as a bar of at most ten blocks, in eighths.
func bar(x float64) string {
	n := int(x*80 + 0.5)
	s := strings.Repeat("█", n/8)
	if n%8 > 0 {
		s += string([]rune(" ▏▎▍▌▋▊▉")[n%8])
	}
	return s
}

func doubts(b *strings.Builder, sec *sectionMark) {
	for _, w := range sec.Warnings {
		fmt.Fprintf(b, "\n> %s `%s`\n", escape(w.Message), w.Code)
	}
}

// escape takes the meaning from markdown's characters: names are not ours.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]<>#|~", r) {
			b.WriteByte('\\')
		}
		if r == '\n' || r == '\r' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}
