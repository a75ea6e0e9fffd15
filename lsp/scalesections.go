package lsp

import (
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report/scaling"
)

// lostTo are the components of a section's speedup stack, in a word or two.
var lostTo = map[string]string{
	"inflation": "inflation", "inflation-threads": "more work", "inflation-beside": "inflation", "inflation-lines": "lines taken away", "inflation-shared": "shared cache", "inflation-rest": "other inflation",
	"idle": "idle", "idle-sync": "synchronisation", "idle-imbalance": "imbalance", "idle-none": "no thread", "idle-own": "sleep and files",
}

// sectionSpeedup is where a section's speedup on the most cores goes, in a few words; ""
// where that is not known.
func sectionSpeedup(s *scaling.Section) string {
	for i := len(s.Points) - 1; i >= 0; i-- {
		p := &s.Points[i]
		if p.P == 1 || p.Speedup.Actual == nil || len(p.Stack) == 0 {
			continue
		}
		out := fmt.Sprintf("speedup %s of %d here", units.Digits(*p.Speedup.Actual), p.P)
		var losses []string
		for _, c := range p.Stack {
			if says := lostTo[c.Name]; says != "" && c.Speedup >= 0.05 {
				losses = append(losses, says+" "+units.Digits(c.Speedup))
			}
		}
		if losses != nil {
			out += ": " + strings.Join(losses, ", ")
		}
		if p.Disturbed {
			out += " (disturbed)"
		}
		return out
	}
	return ""
}

// sectionLenses say over each section of a document what its speedup is lost to.
func (v *view) sectionLenses(d *workspace.Document) (out []protocol.CodeLens) {
	seen := map[int]bool{} // those that lose most come first
	for _, r := range v.results.All() {
		for _, s := range r.Scaled {
			if !r.Stands(s.At) || s.At.Path != d.Path || seen[r.Line(s.At)] {
				continue
			}
			title, line := sectionSpeedup(s.Section), r.Line(s.At)
			if title == "" {
				continue
			}
			seen[line] = true
			if w := r.Staleness(); w != "" {
				title += " · " + w
			}
			args := arguments{URI: d.URI, Line: &line, Target: r.Target}
			out = append(out, protocol.CodeLens{Range: d.Text.Words(v.enc, line), Command: command(title, "skewlens.openReport", args)})
		}
	}
	return out
}

// aboutScaled says what a section on a line takes with each number of threads, and how its
// parts were obtained.
func (v *view) aboutScaled(path string, line int) (parts []string) {
	for _, r := range v.results.All() {
		for _, s := range r.Scaled {
			if !r.Stands(s.At) || s.At.Path != path || r.Line(s.At) != line {
				continue
			}
			parts = append(parts, scaledTable(r, s.Section))
		}
	}
	return parts
}

func scaledTable(r *results.Result, s *scaling.Section) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Speedup** · %s · %s", escape(r.Target), escape(s.Kind))
	if w := r.Staleness(); w != "" {
		fmt.Fprintf(&b, " · %s", w)
	}
	if says := sectionSpeedup(s); says != "" {
		fmt.Fprintf(&b, "\n\n%s.\n", escape(strings.ToUpper(says[:1])+says[1:]))
	}
	fmt.Fprintf(&b, "\n| threads | time | work | idle | speedup |\n|---:|---:|---:|---:|---:|\n")
	known := func(x *float64, show func(float64) string) string {
		if x == nil {
			return "?"
		}
		return show(*x)
	}
	for _, p := range s.Points {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", p.P, units.Seconds(p.TimeS), known(p.WorkS, units.Seconds), known(p.IdleS, units.Seconds), known(p.Speedup.Actual, units.Digits))
	}
	last := &s.Points[len(s.Points)-1]
	for _, c := range last.Stack {
		if says := lostTo[c.Name]; says != "" && c.Speedup >= 0.05 {
			fmt.Fprintf(&b, "\n%s: %s.\n", escape(says), escape(c.How))
		}
	}
	return b.String()
}
