package lsp

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lsp/internal/results"
)

// advice is what to do about a kind of cause, in a sentence. docs/causes.md has an
// example of each, before and after.
var advice = map[string]string{
	"branch":    "deal the work out by what it costs, not by where it lies",
	"loop":      "divide its range evenly, or let threads fetch pieces of it as they become free",
	"recursion": "split the work below the top, not only at it",
	"start":     "give its helpers part of its work",
	"event":     "let each thread touch what it alone works on, and share less",
}

// aboutCause is a cause as a person reads it: the sentence, the bars, what to do,
// and then the details.
func (v *view) aboutCause(r *results.Result, c *results.Cause) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**#%d · %s** · section %s · [what that is](%s)", c.Rank, escape(c.Type()), escape(c.Of.ID), explained+heading(c))
	if w := r.Staleness(); w != "" {
		fmt.Fprintf(&b, " · %s", w)
	}
	b.WriteString("\n\n")
	if !v.beside { // else it stands above already
		fmt.Fprintf(&b, "%s.\n\n", escape(c.Message))
	}
	threads(&b, c.Of, c.Counts)
	fmt.Fprintf(&b, "\n**What to do:** %s.\n", advice[heading(c)])
	cures(&b, c.Of)
	b.WriteString("\n" + strings.Join(details(c), " · ") + "\n")
	v.members(&b, r, c)
	warnings(&b, c.Of)
	return b.String()
}

// members are the lines whose counts go with a cause, as links.
func (v *view) members(b *strings.Builder, r *results.Result, c *results.Cause) {
	var links []string
	for _, n := range c.Related {
		if n.Member && r.Stands(n.At) {
			links = append(links, fmt.Sprintf("[%s:%d](%s#L%d)", escape(filepath.Base(n.At.Path)), r.Line(n.At)+1, v.space.URI(n.At.Path), r.Line(n.At)+1))
		}
	}
	if links != nil {
		b.WriteString("\ngoes with it: " + strings.Join(links, " · ") + "\n")
	}
}

// details are the numbers of a cause, and what each is a share of.
func details(c *results.Cause) []string {
	out := []string{"share **" + units.Percent(c.Share) + "** of the variation of work between the threads"}
	if g := c.Gain; g != nil {
		value := units.Percent(g.Fraction) + " of the section"
		if g.Seconds != nil {
			value = units.Seconds(*g.Seconds) + ", " + value
		}
		out = append(out, "gain up to **"+value+"** if it were balanced")
		if g.WholeUnits != nil {
			out = append(out, "**"+units.Percent(*g.WholeUnits)+"** with the same pieces dealt otherwise")
		}
	}
	number := func(name string, x *float64) string { return fmt.Sprintf("%s **%.3g**", name, *x) }
	if c.Score != nil {
		score := number("score", c.Score)
		if c.Beta != nil && c.LeaderScore != nil {
			score += fmt.Sprintf(" = β %.3g (deviation of its work, of all work's) × leader %.3g (how much closer to the imbalance than what led to it)", *c.Beta, *c.LeaderScore)
		}
		out = append(out, score)
	}
	if c.P != nil {
		out = append(out, number("p", c.P)+" that it is chance")
	}
	if c.Of.R2 != nil {
		out = append(out, number("R²", c.Of.R2)+" of the differences explained by all causes")
	}
	return out
}

// Of more threads than maxRows a hover shows those at both ends.
const (
	maxRows = 16
	mostOf  = 8
	leastOf = 4
)

// threads is a table with a bar for each slot: of its count for a cause, of
// its instructions for a section.
func threads(b *strings.Builder, sec *results.Section, counts []uint64) {
	if len(counts) != len(sec.Threads) {
		counts = nil
	}
	values, what := make([]uint64, len(sec.Threads)), "instructions"
	for i, t := range sec.Threads {
		values[i] = t.Instructions
	}
	if counts != nil {
		values, what = counts, "times here"
	}
	rows := make([]int, len(values))
	for i := range rows {
		rows[i] = i
	}
	rest := ""
	if len(rows) > maxRows {
		slices.SortStableFunc(rows, func(i, j int) int { return cmp.Compare(values[j], values[i]) })
		between := rows[mostOf : len(rows)-leastOf]
		rest = fmt.Sprintf("| … | %d more, %s to %s | | | |\n", len(between), units.Compact(values[between[len(between)-1]]), units.Compact(values[between[0]]))
	}
	most := uint64(1)
	for _, v := range values {
		most = max(most, v)
	}
	fmt.Fprintf(b, "| thread | %s | | busy | waits |\n|---:|---:|:---|---:|---:|\n", what)
	for n, i := range rows {
		if rest != "" && n >= mostOf && n < len(rows)-leastOf {
			if n == mostOf {
				b.WriteString(rest)
			}
			continue
		}
		t := sec.Threads[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", escape(t.Number()), units.Compact(values[i]), bar(float64(values[i])/float64(most)), maybe(t.BusyS), maybe(t.WaitS))
	}
}
