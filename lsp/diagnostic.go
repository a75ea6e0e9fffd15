package lsp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// Where the kinds of causes are explained.
const explained = "https://github.com/skewlens/skewlens/blob/main/docs/causes.md#"

// costs: from this part of its section's time on, a cause is a warning.
const costs = 0.05

// diagnostics are all that there are, by path: causes, hints, complaints of compilers
// and mistakes in configurations. Texts of files that are not open may be read
// for it.
func (v *view) diagnostics() map[string][]protocol.Diagnostic {
	all := map[string][]protocol.Diagnostic{}
	for r, c := range v.causes() {
		if !r.Stands(c.At) || v.space.Root(c.At.Path) == nil && v.space.Open(c.At.Path) == nil {
			continue
		}
		if t := v.space.Text(c.At.Path); t != nil {
			all[c.At.Path] = append(all[c.At.Path], v.diagnose(r, c, t))
		}
		if r.Stands(c.Via) {
			if t := v.space.Text(c.Via.Path); t != nil {
				all[c.Via.Path] = append(all[c.Via.Path], v.lead(r, c, t))
			}
		}
	}
	for r, h := range v.hints() {
		if v.space.Root(h.At.Path) == nil && v.space.Open(h.At.Path) == nil {
			continue
		}
		if t := v.space.Text(h.At.Path); t != nil {
			all[h.At.Path] = append(all[h.At.Path], v.hint(r, h, t))
		}
	}
	for path, ds := range v.built {
		all[path] = append(all[path], ds...)
	}
	for _, r := range v.space.Roots() {
		for path, problems := range r.Problems {
			for _, p := range problems {
				all[path] = append(all[path], v.mistake(path, p))
			}
		}
	}
	return all
}

// diagnose is a cause as a diagnostic.
func (v *view) diagnose(r *results.Result, c *results.Cause, t *text.Text) protocol.Diagnostic {
	d := protocol.Diagnostic{
		Range:           t.Words(v.enc, r.Line(c.At)),
		Severity:        protocol.DiagnosticSeverityInformation,
		Code:            c.Type(),
		CodeDescription: &protocol.CodeDescription{Href: protocol.URI(explained + heading(c))},
		Source:          "skewlens",
		Message:         describe(r, c),
		Data:            wire.Object{"target": r.Target, "section": c.Of.ID, "rank": c.Rank},
	}
	if c.Gain != nil && c.Gain.Fraction >= costs && !c.Of.Negligible {
		d.Severity = protocol.DiagnosticSeverityWarning
	}
	for _, n := range c.Related {
		if n.Member {
			continue // they would fill what a client shows of it; the hover has them
		}
		if nt := v.space.Text(n.At.Path); nt != nil {
			at := protocol.Location{URI: v.space.URI(n.At.Path), Range: nt.Words(v.enc, r.Line(n.At))}
			d.RelatedInformation = append(d.RelatedInformation, protocol.DiagnosticRelatedInformation{Location: at, Message: n.Why})
		}
	}
	return d
}

// lead marks the line that a cause of another file was inlined into.
func (v *view) lead(r *results.Result, c *results.Cause, t *text.Text) protocol.Diagnostic {
	d := v.diagnose(r, c, t)
	d.Range, d.Severity = t.Words(v.enc, r.Line(c.Via)), protocol.DiagnosticSeverityHint
	d.Message = fmt.Sprintf("Leads to #%d at %s:%d · %s", c.Rank, filepath.Base(c.At.Path), r.Line(c.At)+1, c.Message)
	d.RelatedInformation = nil
	if there := v.space.Text(c.At.Path); there != nil {
		d.RelatedInformation = []protocol.DiagnosticRelatedInformation{{
			Location: protocol.Location{URI: v.space.URI(c.At.Path), Range: there.Words(v.enc, r.Line(c.At))}, Message: "the cause",
		}}
	}
	return d
}

// describe is all of a cause in two lines of text.
func describe(r *results.Result, c *results.Cause) string {
	var b strings.Builder
	// Lists show both in one line: the first ends as a sentence does.
	fmt.Fprintf(&b, "#%d · %s.\n", c.Rank, strings.TrimSuffix(c.Message, "."))
	var parts []string
	if n := len(c.Counts); n > 0 && n == len(c.Of.Threads) && n <= maxSparks {
		parts = append(parts, "times by thread "+spark(c.Counts))
	}
	parts = append(parts, "section "+c.Of.ID)
	if c.Of.Imbalance != nil {
		parts = append(parts, "imbalance "+units.Percent(*c.Of.Imbalance))
	}
	if c.Gain != nil {
		parts = append(parts, "gain up to "+units.Percent(c.Gain.Fraction)+" of the section's time") // its seconds are in the message
	}
	if c.Score != nil {
		parts = append(parts, fmt.Sprintf("LIME score %.2f", *c.Score))
	}
	if w := r.Staleness(); w != "" {
		parts = append(parts, w)
	}
	return b.String() + strings.Join(parts, " · ")
}

// maxSparks threads have a bar each in a line of text.
const maxSparks = 32

// spark draws a bar for each number; zero is a dot.
func spark(n []uint64) string {
	most := max(slices.Max(n), 1)
	var b strings.Builder
	for _, x := range n {
		if x == 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[min(int(float64(x)/float64(most)*8), 7)])
	}
	return b.String()
}

func heading(c *results.Cause) string {
	switch k := c.Type(); k {
	case "branch", "loop", "recursion", "start":
		return k
	}
	return "event"
}

// mistake is a problem of a configuration file.
func (v *view) mistake(path string, p workspace.Problem) protocol.Diagnostic {
	t := v.space.Text(path)
	if t == nil {
		t = text.New("")
	}
	return protocol.Diagnostic{
		Range: t.Words(v.enc, p.At.Line), Severity: p.Severity, Source: "skewlens", Code: "configuration",
		Message: filepath.Base(path) + ": " + p.Message,
	}
}
