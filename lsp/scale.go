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

// scaleTarget is skewlens.scaleTarget: it says where a target's speedup goes, and on
// which lines work grows with the cores.
func (s *server) scaleTarget(ctx context.Context, c *call) (any, error) {
	return s.conduct(ctx, c, study{"Timing", s.timed, false})
}

// timed times a target on several numbers of cores.
func (s *server) timed(ctx context.Context, t Target, v *view, p *progress) (*results.Result, error) {
	name := results.Timed(t.Name)
	start, old := s.opt.Now(), v.results.Of(t.Root, name)
	k := results.Kept{Root: t.Root, Target: name, Cwd: t.Cwd, Program: t.Program, Chosen: chosen(t)}
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
	var losses []string
	part := func(what string, seconds *float64) {
		if seconds != nil && math.Abs(*seconds/last.TimeS) >= 0.05 {
			losses = append(losses, what+" "+strings.Replace(units.Digits(*seconds/last.TimeS), "-", "−", 1))
		}
	}
	part("idle", last.IdleS)
	part("inflation", last.InflationS)
	if first := &r.Points[0]; first.P == 1 {
		over := first.TimeS - r.BaselineS
		part("overhead", &over)
	}
	if losses != nil {
		out += ": " + strings.Join(losses, ", ")
	}
	if last.Disturbed {
		out += " (disturbed)"
	}
	return out
}

// hints are those that are shown.
func (v *view) hints() iter.Seq2[*results.Result, *results.Hint] {
	return func(yield func(*results.Result, *results.Hint) bool) {
		for _, r := range v.results.All() {
			for _, h := range r.Hints {
				if !r.Stands(h.At) || v.space.Suppressed(h.At.Path, h.Location.Function, h.Code(), h.At.Was) {
					continue
				}
				if !yield(r, h) {
					return
				}
			}
		}
	}
}

// timedLens are where a document of a target that was timed says so: at the first
// of its lines that have a section of it or a hint.
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
	for r, h := range v.hints() {
		if h.At.Path == d.Path {
			at(r.Target, r.Line(h.At))
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

// lost is what there is to say of a hint, in a sentence.
func lost(h *results.Hint) string {
	if l := h.Alone; l != nil {
		return fmt.Sprintf("this runs alone for %s (%s to %s) on %d cores: %s of core time idle", units.Seconds(l.AloneS),
			units.SecondsOf(l.LowS, l.AloneS), units.SecondsOf(l.HighS, l.AloneS), l.P, units.Seconds(l.IdleS))
	}
	l, by := h.Grown, ""
	if l.W1S > 0 {
		by = units.Digits(l.WPS/l.W1S) + "× "
	}
	return fmt.Sprintf("work here grows %sfrom 1 to %d threads: %s more (%s to %s), %s of what all lines grow", by, l.P,
		units.Seconds(l.InflationS), units.SecondsOf(l.LowS, l.InflationS), units.SecondsOf(l.HighS, l.InflationS), units.Percent(l.Share))
}

// hint is one as a diagnostic.
func (v *view) hint(r *results.Result, h *results.Hint, t *text.Text) protocol.Diagnostic {
	message := lost(h)
	if w := r.Staleness(); w != "" {
		message += " · " + w
	}
	return protocol.Diagnostic{
		Range: t.Words(v.enc, r.Line(h.At)), Severity: protocol.DiagnosticSeverityHint, Source: "skewlens", Code: h.Code(),
		CodeDescription: &protocol.CodeDescription{Href: protocol.URI(explained + h.Code())},
		Message:         strings.ToUpper(message[:1]) + message[1:], Data: wire.Object{"target": r.Target},
	}
}

// aboutHints says what is lost on a line, and where the whole program's speedup goes.
func (v *view) aboutHints(path string, line int) (parts []string) {
	for r, h := range v.hints() {
		if h.At.Path != path || r.Line(h.At) != line {
			continue
		}
		var b strings.Builder
		title := "Inflation"
		if h.Alone != nil {
			title = "Serial"
		}
		fmt.Fprintf(&b, "**%s** · %s", title, escape(r.Target))
		if w := r.Staleness(); w != "" {
			fmt.Fprintf(&b, " · %s", w)
		}
		message := lost(h)
		fmt.Fprintf(&b, "\n\n%s.\n", escape(strings.ToUpper(message[:1])+message[1:]))
		if l := h.Grown; l != nil {
			fmt.Fprintf(&b, "\n| threads | work here | |\n|---:|---:|:---|\n")
			most := 0.0
			for _, x := range l.Work {
				most = max(most, x.WorkS)
			}
			for _, x := range l.Work {
				fmt.Fprintf(&b, "| %d | %s | %s |\n", x.P, units.SecondsOf(x.WorkS, most), bar(x.WorkS/most))
			}
		}
		fmt.Fprintf(&b, "\nThe whole program: %s.\n", escape(speedup(r.Scaling)))
		for _, w := range r.Scaling.Warnings {
			fmt.Fprintf(&b, "\n> %s `%s`\n", escape(w.Message), w.Code)
		}
		parts = append(parts, b.String())
	}
	return parts
}
