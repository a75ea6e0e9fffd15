package lsp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// inflation is the code of a hint that work grows.
const inflation = "inflation"

// scaleTarget is skewlens.scaleTarget: it says where a target's speedup goes, and on
// which lines work grows with the cores.
func (s *server) scaleTarget(ctx context.Context, c *call) (any, error) {
	return s.conduct(ctx, c, study{"Timing", s.timed, false})
}

// timed builds a target and times it on several numbers of cores.
func (s *server) timed(ctx context.Context, t Target, p *progress) (*results.Result, error) {
	v := s.view()
	if err := s.build(ctx, t, p); err != nil {
		return nil, err
	}
	name := results.Timed(t.Name)
	start, old := s.opt.Now(), v.results.Of(t.Root, name)
	k := results.Kept{Root: t.Root, Target: name, Cwd: t.Cwd, Program: t.Program}
	if old != nil {
		k.Took = old.Took
	}
	r, err := s.opt.Runner.Scale(ctx, t, s.listener(t, p, k.Took))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && r == nil {
		err = errors.New("the runs brought no report")
	}
	if err != nil {
		return nil, err
	}
	k.Took, k.Scaling = s.opt.Now().Sub(start), r
	k.Report = &report.Report{Version: 1, Program: r.Program, Sections: []report.Section{}, Warnings: r.Warnings}
	return s.take(k, nil, v.space)
}

// speedup is where a target's speedup on the most cores goes, in a few words. Of
// P·T_P = T_s + (T_1 − T_s) + F_P + I_P each part by T_P is how much of the P is made
// of it. Where the runs differ much, it says between what the speedup is.
func speedup(r *scaling.Report) string {
	last := &r.Points[len(r.Points)-1]
	if last.Speedup.Actual == nil || last.TimeS == 0 {
		return "speedup not known"
	}
	out := "speedup " + units.Digits(*last.Speedup.Actual)
	if low, high := last.Low, last.High; low != nil && high != nil && low.Actual != nil && high.Actual != nil && *high.Actual-*low.Actual > *last.Speedup.Actual/5 {
		out += fmt.Sprintf(" (%s to %s)", units.Digits(*low.Actual), units.Digits(*high.Actual))
	}
	out += fmt.Sprintf(" of %d", last.P)
	var lost []string
	part := func(what string, seconds *float64) {
		if seconds != nil && math.Abs(*seconds/last.TimeS) >= 0.05 {
			lost = append(lost, what+" "+strings.Replace(units.Digits(*seconds/last.TimeS), "-", "−", 1))
		}
	}
	part("idle", last.IdleS)
	part("inflation", last.InflationS)
	if first := &r.Points[0]; first.P == 1 {
		over := first.TimeS - r.BaselineS
		part("overhead", &over)
	}
	if lost != nil {
		out += ": " + strings.Join(lost, ", ")
	}
	if last.Disturbed {
		out += " (disturbed)"
	}
	return out
}

// inflated are the lines whose work grows that are shown.
func (v *view) inflated() iter.Seq2[*results.Result, *results.Inflated] {
	return func(yield func(*results.Result, *results.Inflated) bool) {
		for _, r := range v.results.All() {
			for _, l := range r.Inflated {
				if l.At == nil || v.space.Suppressed(l.At.Path, l.Location.Function, inflation, l.At.Was) {
					continue
				}
				if !yield(r, l) {
					return
				}
			}
		}
	}
}

// timedLens are where a document of a target that was timed says so: at the first
// of its lines that have a section of it or work that grows.
func (v *view) timedLens(d *workspace.Document, lines map[int]lensLine) (out []protocol.CodeLens) {
	first := map[string]int{}
	at := func(timed string, line int) {
		if old, is := first[timed]; !is || line < old {
			first[timed] = line
		}
	}
	for line, l := range lines {
		if l.r != nil {
			at(results.Timed(l.r.Target), line)
		}
	}
	for r, l := range v.inflated() {
		if l.At.Path == d.Path {
			at(r.Target, r.Line(l.At))
		}
	}
	for _, r := range v.results.All() {
		line, is := first[r.Target]
		if r.Scaling == nil || !is {
			continue
		}
		title := speedup(r.Scaling) + " · " + age(v.now.Sub(r.When))
		if w := r.Staleness(); w != "" {
			title += " · " + w
		}
		args := arguments{URI: d.URI, Line: &line, Target: r.Target}
		out = append(out, protocol.CodeLens{Range: d.Text.Words(v.enc, line), Command: command(title, "skewlens.openReport", args)})
	}
	return out
}

// grows is what there is to say of a line whose work does, in a sentence.
func grows(l *results.Inflated) string {
	by := ""
	if l.W1S > 0 {
		by = units.Digits(l.WPS/l.W1S) + "× "
	}
	return fmt.Sprintf("work here grows %sfrom 1 to %d threads: %s more (%s to %s), %s of what all lines grow", by, l.P,
		units.Seconds(l.InflationS), units.SecondsOf(l.LowS, l.InflationS), units.SecondsOf(l.HighS, l.InflationS), units.Percent(l.Share))
}

// hint is a line whose work grows as a diagnostic.
func (v *view) hint(r *results.Result, l *results.Inflated, t *text.Text) protocol.Diagnostic {
	message := grows(l)
	if w := r.Staleness(); w != "" {
		message += " · " + w
	}
	return protocol.Diagnostic{
		Range: t.Words(v.enc, r.Line(l.At)), Severity: protocol.DiagnosticSeverityHint, Source: "skewlens", Code: inflation,
		CodeDescription: &protocol.CodeDescription{Href: protocol.URI(explained + inflation)},
		Message:         strings.ToUpper(message[:1]) + message[1:], Data: wire.Object{"target": r.Target},
	}
}

// aboutInflation says how the work of a line grows, and what the whole does.
func (v *view) aboutInflation(path string, line int) (parts []string) {
	for r, l := range v.inflated() {
		if l.At.Path != path || r.Line(l.At) != line {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "**Inflation** · %s", escape(r.Target))
		if w := r.Staleness(); w != "" {
			fmt.Fprintf(&b, " · %s", w)
		}
		message := grows(l)
		fmt.Fprintf(&b, "\n\n%s.\n\n| threads | work here | |\n|---:|---:|:---|\n", escape(strings.ToUpper(message[:1])+message[1:]))
		most := max(l.W1S, l.WPS)
		for _, x := range []struct {
			p int
			w float64
		}{{1, l.W1S}, {l.P, l.WPS}} {
			fmt.Fprintf(&b, "| %d | %s | %s |\n", x.p, units.SecondsOf(x.w, most), bar(x.w/most))
		}
		fmt.Fprintf(&b, "\nThe whole program: %s.\n", escape(speedup(r.Scaling)))
		for _, w := range r.Scaling.Warnings {
			fmt.Fprintf(&b, "\n> %s `%s`\n", escape(w.Message), w.Code)
		}
		parts = append(parts, b.String())
	}
	return parts
}
