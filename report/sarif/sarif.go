// Package sarif writes findings in the Static Analysis Results Interchange Format,
// version 2.1.0 (OASIS), which code hosts show on the changed lines of a review.
//
//	report.Report ─────▶ Write ────────────┐   a result for each cause that matters,
//	                                       ├─▶ a rule for each kind of cause,
//	report.Comparison ─▶ WriteComparison ──┘   a notification for each doubt about the run
//
// A result keeps its fingerprint while lines are put above it: kind, file and
// function, and which of those it is. By it the two runs of a comparison are
// matched, as code hosts match those of two branches.
//
// Paths below the folder are relative to it, as the code host has them; a cause in
// a system header is shown at the user's call that leads there.
package sarif

import (
	"fmt"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/skewlens/skewlens/report"
)

// Options say where the sources are and who writes.
type Options struct {
	Dir     string // the folder that the code host knows; "": paths stay absolute
	Version string // of skewlens
}

// Where the kinds of causes are explained.
const explained = "https://github.com/skewlens/skewlens/blob/main/docs/causes.md#"

// costs: from this part of its section's time on, a cause is a warning.
const costs = 0.05

// Write writes the findings of a run. An error is the writer's.
func Write(w io.Writer, r *report.Report, opt Options) error {
	out := &writer{opt: opt, run: newRun(r, opt)}
	for _, f := range out.findings(r) {
		out.run.AddResult(out.result(f))
	}
	return out.write(w)
}

// WriteComparison writes the findings of the run after, each with what it was in
// the run before: unchanged, updated where its gain is another, or new; and those
// that only the run before had, as absent.
func WriteComparison(w io.Writer, c *report.Comparison, opt Options) error {
	out := &writer{opt: opt, run: newRun(c.After, opt)}
	before := map[string]finding{}
	for _, f := range out.findings(c.Before) {
		before[f.id] = f
	}
	for _, f := range out.findings(c.After) {
		old, known := before[f.id]
		state := "new"
		switch {
		case known && old.gain() == f.gain():
			state = "unchanged"
		case known:
			state = "updated"
		}
		delete(before, f.id)
		out.run.AddResult(out.result(f).WithBaselineState(state))
	}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		out.run.AddResult(out.result(before[id]).WithBaselineState("absent"))
	}
	return out.write(w)
}

type writer struct {
	opt Options
	run *sarif.Run
}

func (o *writer) write(w io.Writer) error {
	r := sarif.NewReport()
	r.AddRun(o.run)
	if err := r.PrettyWrite(w); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func newRun(r *report.Report, opt Options) *sarif.Run {
	run := sarif.NewRunWithInformationURI("skewlens", "https://github.com/skewlens/skewlens")
	if opt.Version != "" {
		run.Tool.Driver.Version = &opt.Version
	}
	how := sarif.NewInvocation().WithExecutionSuccessful(r.Run.Signal == "" && r.Run.ExitCode == 0).WithArguments(append([]string{}, r.Program.Args...))
	if r.Run.Signal != "" {
		how.WithExitSignalName(r.Run.Signal)
	} else {
		how.WithExitCode(r.Run.ExitCode)
	}
	for _, w := range r.Warnings {
		n := sarif.NewNotification().WithMessage(sarif.NewTextMessage(w.Message)).WithLevel("warning")
		n.Descriptor = sarif.NewReportingDescriptorReference().WithID(w.Code)
		how.AddToolExecutionNotification(n)
	}
	run.AddInvocation(how)
	return run
}

// finding is a cause with its section.
type finding struct {
	id    string
	sec   *report.Section
	cause *report.Cause
	at    report.Place
}

func (f finding) gain() float64 {
	if f.cause.Gain == nil {
		return 0
	}
	return f.cause.Gain.Fraction
}

func kind(c *report.Cause) string {
	if c.Leader != "" {
		return c.Leader
	}
	return c.Kind
}

// findings are the causes that stand on a line, of sections that matter.
func (o *writer) findings(r *report.Report) (out []finding) {
	seen := map[string]int{}
	for i := range r.Sections {
		sec := &r.Sections[i]
		if sec.Negligible {
			continue
		}
		for j := range sec.Causes {
			c := &sec.Causes[j]
			at, known := o.users(c.Location)
			if !known {
				continue
			}
			id := strings.Join([]string{kind(c), o.path(at.File), at.Function, sec.Kind}, "|")
			seen[id]++
			out = append(out, finding{fmt.Sprintf("%s|%d", id, seen[id]), sec, c, at})
		}
	}
	return out
}

// users is the innermost place below the folder, of a place and the calls that it
// was inlined at; else the place itself.
func (o *writer) users(l *report.Location) (report.Place, bool) {
	for _, p := range append([]report.Place{l.Place}, l.InlinedAt...) {
		if p.Known() && o.below(p.File) {
			return p, true
		}
	}
	return l.Place, l.Place.Known()
}

func (o *writer) below(path string) bool {
	return o.opt.Dir != "" && strings.HasPrefix(path, strings.TrimSuffix(o.opt.Dir, "/")+"/")
}

// path is a file's as a URI, relative where it is below the folder.
func (o *writer) path(file string) string {
	if o.below(file) {
		rel, _ := filepath.Rel(o.opt.Dir, file)
		return (&url.URL{Path: rel}).EscapedPath()
	}
	if !filepath.IsAbs(file) {
		return (&url.URL{Path: file}).EscapedPath()
	}
	return (&url.URL{Scheme: "file", Path: file}).String()
}

func (o *writer) result(f finding) *sarif.Result {
	name := kind(f.cause)
	o.run.AddRule(name).WithName(name).WithHelpURI(explained + heading(name)).
		WithDescription("Threads differ here in how much they do: " + name)
	level := "note"
	if f.gain() >= costs {
		level = "warning"
	}
	message := fmt.Sprintf("%s (section %s, cause #%d)", strings.TrimSuffix(f.cause.Message, "."), f.sec.ID, f.cause.Rank)
	r := sarif.NewRuleResult(name).WithRuleIndex(o.run.GetRuleIndex(name)).WithLevel(level).WithMessage(sarif.NewTextMessage(message)).
		WithPartialFingerprints(map[string]string{"skewlens/v1": f.id})
	r.AddLocation(o.location(f.at))
	if f.cause.Path != nil {
		for _, p := range f.cause.Path.Calls {
			o.relate(r, p, "called from here")
		}
	}
	if f.sec.Location != nil {
		if at, known := o.users(f.sec.Location); known {
			o.relate(r, at, "the section ends here")
		}
	}
	more := sarif.NewPropertyBag().Add("section", f.sec.ID).Add("share", f.cause.Share)
	number := func(key string, x *float64) {
		if x != nil {
			more.Add(key, *x)
		}
	}
	number("imbalance", f.sec.Imbalance)
	number("score", f.cause.Score)
	if f.cause.Gain != nil {
		number("gain", &f.cause.Gain.Fraction)
		number("gain_s", f.cause.Gain.Seconds)
	}
	return r.WithProperties(more)
}

// heading is where a kind is explained.
func heading(kind string) string {
	switch kind {
	case "branch", "loop", "recursion", "start":
		return kind
	}
	return "event"
}

func (o *writer) relate(r *sarif.Result, p report.Place, why string) {
	if p.Known() {
		r.AddRelatedLocation(o.location(p).WithMessage(sarif.NewTextMessage(why)).WithID(len(r.RelatedLocations)))
	}
}

func (o *writer) location(p report.Place) *sarif.Location {
	region := sarif.NewRegion().WithStartLine(p.Line)
	if p.Column > 0 {
		region.WithStartColumn(p.Column)
	}
	return sarif.NewLocationWithPhysicalLocation(sarif.NewPhysicalLocation().
		WithArtifactLocation(sarif.NewSimpleArtifactLocation(o.path(p.File))).WithRegion(region))
}
