package lsp

import (
	"context"
	"encoding/json"
	"fmt"
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
		on := func(a *results.Anchor) bool { return r.Stands(a) && a.Path == path && r.Line(a) == line }
		for _, sec := range r.Sections {
			if on(sec.At) {
				parts = append(parts, v.aboutSection(r, sec)+aboutRun(r))
			}
			for _, c := range v.shownOf(sec) {
				if on(c.At) || on(c.Via) && r.Stands(c.At) {
					parts = append(parts, v.aboutCause(r, c)+aboutRun(r))
				}
			}
		}
	}
	return append(append(append(parts, v.aboutScaled(path, line)...), v.aboutHints(path, line)...), v.aboutMemory(path, line)...)
}

// aboutMemory says how the accesses of a line did in simulated caches.
func (v *view) aboutMemory(path string, line int) (parts []string) {
	for _, r := range v.results.All() {
		for _, l := range r.Memory {
			if r.Stands(l.At) && l.At.Path == path && r.Line(l.At) == line {
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
	if c := sec.CacheSizes; c != nil {
		fmt.Fprintf(&b, "\nCaches: %s.\n", strings.Join(c.Words(), ", "))
	}
	if v := sec.Verified; v != nil {
		fmt.Fprintf(&b, "\nVerified: a run in which the misses were hits had %s of the imbalance left.\n", units.Percent(1-v.Erased))
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

// aboutRun is what there is to doubt about the whole run.
func aboutRun(r *results.Result) string {
	var b strings.Builder
	if run := r.Report.Run; run.ExitCode != 0 {
		fmt.Fprintf(&b, "\n> the program ended with status %d: it may not have done all of its work `exit-status`\n", run.ExitCode)
	}
	for _, w := range r.Report.Warnings {
		fmt.Fprintf(&b, "\n> %s `%s`\n", escape(w.Message), w.Code)
	}
	return b.String()
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
