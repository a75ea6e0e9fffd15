package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/report"
)

// maxHovers are shown of one line.
const maxHovers = 6

// hover shows all numbers of what stands on a line, and what each is a share of.
func (s *server) hover(_ context.Context, params json.RawMessage) (any, error) {
	var p protocol.HoverParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.InvalidParams(err)
	}
	v := s.view()
	d := v.space.Document(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	line := d.Text.Point(v.enc, p.Position).Line
	parts := v.about(d.Path, line)
	if len(parts) == 0 {
		return nil, nil
	}
	if len(parts) > maxHovers {
		parts = append(parts[:maxHovers], fmt.Sprintf("%d more on this line: see the report.", len(parts)-maxHovers))
	}
	where := d.Text.Words(v.enc, line)
	return protocol.Hover{Contents: protocol.MarkupContent{Kind: protocol.Markdown, Value: strings.Join(parts, "\n\n---\n\n")}, Range: &where}, nil
}

// about is what there is to say about each section and cause on a line.
func (v *view) about(path string, line int) (parts []string) {
	for _, r := range v.results.All() {
		on := func(a *results.Anchor) bool { return a != nil && a.Path == path && r.Line(a) == line }
		for _, sec := range r.Sections {
			if on(sec.At) {
				parts = append(parts, v.aboutSection(r, sec))
			}
			for _, c := range v.shownOf(sec) {
				if on(c.At) {
					parts = append(parts, aboutCause(r, c))
				}
			}
		}
	}
	return append(append(parts, v.aboutHints(path, line)...), v.aboutMemory(path, line)...)
}

// aboutMemory says how the accesses of a line did in simulated caches.
func (v *view) aboutMemory(path string, line int) (parts []string) {
	for _, r := range v.results.All() {
		for _, l := range r.Memory {
			if l.At != nil && l.At.Path == path && r.Line(l.At) == line {
				parts = append(parts, "**Memory** · "+escape(strings.Join(l.Words(), " · "))+" · "+units.Compact(l.Cycles)+" cycles, the whole run")
			}
		}
	}
	return parts
}

func (v *view) aboutSection(r *results.Result, sec *results.Section) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Section %s** · %s · %s\n\n", escape(sec.ID), escape(sec.Kind), escape(v.title(r, sec)))
	fmt.Fprintf(&b, "%s", units.Plural(sec.Instances, "instance"))
	if sec.TimeS != nil {
		fmt.Fprintf(&b, ", %s in all", units.Seconds(*sec.TimeS))
	}
	if sec.IdleS != nil {
		fmt.Fprintf(&b, ", threads waited %s together", units.Seconds(sec.Waited()))
	}
	if v := sec.Virtual; v != nil {
		fmt.Fprintf(&b, "; %s cycles on %s", units.Compact(v.Span), units.Plural(v.Cores, "virtual core"))
	}
	b.WriteString(".\n\n")
	waits(&b, sec)
	threads(&b, sec, nil)
	if sec.R2 != nil {
		fmt.Fprintf(&b, "\nThe causes explain R² = %.3g of the differences between threads.\n", *sec.R2)
	}
	cures(&b, sec)
	warnings(&b, sec)
	return b.String()
}

// cures says what another dealing of the section's work would bring.
func cures(b *strings.Builder, sec *results.Section) {
	if sec.Units == nil {
		return
	}
	fmt.Fprintf(b, "\n%s.\n", escape(sec.Units.Message))
	if len(sec.Forecast) < 2 {
		return
	}
	b.WriteString("\n| threads | as it is dealt | at best | |\n|---:|---:|---:|---|\n")
	for _, f := range sec.Forecast {
		today := ""
		if f.Today != nil {
			today = fmt.Sprintf("%.3g×", *f.Today)
		}
		d := report.Dealing{How: f.How, Chunk: f.Chunk}
		fmt.Fprintf(b, "| %d | %s | %.3g× | %s |\n", f.Threads, today, f.Best, d.Words())
	}
}

// waits lists what the section's threads waited for, where that is more than
// for each other at its end.
func waits(b *strings.Builder, sec *results.Section) {
	if len(sec.Waits) < 2 && sec.IdleS != nil && *sec.IdleS > 0 {
		return
	}
	for _, w := range sec.Waits {
		at := "an unknown place"
		if w.Location != nil {
			at = w.Location.Short()
		}
		until := ""
		if w.Waker != nil {
			until = ", " + escape(w.Waker.Words(w.Kind))
		}
		fmt.Fprintf(b, "- waited **%s** (%s) at %s, %s%s\n", units.Seconds(w.Seconds), escape(w.Kind), escape(at), units.Plural(w.Threads, "thread"), until)
	}
	if len(sec.Waits) > 0 {
		b.WriteString("\n")
	}
}

func aboutCause(r *results.Result, c *results.Cause) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**#%d · %s** · section %s", c.Rank, escape(c.Type()), escape(c.Of.ID))
	if w := r.Staleness(); w != "" {
		fmt.Fprintf(&b, " · %s", w)
	}
	fmt.Fprintf(&b, "\n\n%s.\n\n", escape(c.Message))
	threads(&b, c.Of, c.Counts)
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
			row("in whole units", units.Percent(*g.WholeUnits), "of this section's time, scheduling the same pieces differently")
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
	number("R²", c.Of.R2, "of the differences between threads, explained by all causes")
	cures(&b, c.Of)
	warnings(&b, c.Of)
	return b.String()
}

// maxRows of a table in a hover.
const maxRows = 32

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
			rest := values[i:]
			fmt.Fprintf(b, "\nand %d more, from %s to %s: see the report.\n", len(rest), units.Count(slices.Min(rest)), units.Count(slices.Max(rest)))
			break
		}
		fmt.Fprintf(b, "| %s | %s | %s |", escape(t.Number()), units.Count(values[i]), bar(float64(values[i])/float64(most)))
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

func warnings(b *strings.Builder, sec *results.Section) {
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
