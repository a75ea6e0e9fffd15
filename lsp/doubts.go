package lsp

import (
	"fmt"
	"path/filepath"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/report"
)

// doubts are what is to be known of a run before its numbers are believed, in a few
// words each. Lens, outcome and list share them; the hover has them in full.
func doubts(r *results.Result) (out []string) {
	run := &r.Report.Run
	switch {
	case run.Signal != "":
		out = append(out, "ended by "+run.Signal)
	case run.ExitCode != 0:
		out = append(out, fmt.Sprintf("exit status %d", run.ExitCode))
	}
	for _, w := range r.Report.Warnings {
		switch w.Code {
		case "no-debug-info":
			out = append(out, "no source lines: build with -g")
		case "shared-cores":
			out = append(out, fmt.Sprintf("%s on %s", units.Plural(run.Threads, "thread"), units.Plural(run.Cores, "core")))
		case "disturbed":
			out = append(out, "on a busy machine")
		}
	}
	return out
}

// paths says what became of source files that were built elsewhere: under which
// names they were found, or that they were not.
func (v *view) paths(r *results.Result) string {
	for place := range places(r.Report) {
		if from, to, moved := v.space.Moved(place.File, r.Cwd); moved {
			return fmt.Sprintf("%s stands for %s", relativeTo(r.Root, to), from)
		}
	}
	for _, sec := range r.Sections {
		if sec.At == nil || v.space.Root(sec.At.Path) != nil || v.space.Exists(sec.At.Path) {
			continue
		}
		return fmt.Sprintf("its source %s is not here: add path-map = { %q = \".\" } to .skewlens.toml", sec.At.Path, filepath.Dir(sec.At.Path))
	}
	return ""
}

// places are the lines that a report shows.
func places(r *report.Report) func(func(report.Place) bool) {
	return func(yield func(report.Place) bool) {
		all := func(l *report.Location) bool {
			if l == nil {
				return true
			}
			for _, p := range append([]report.Place{l.Place}, l.InlinedAt...) {
				if p.Known() && !yield(p) {
					return false
				}
			}
			return true
		}
		for i := range r.Sections {
			sec := &r.Sections[i]
			if !all(sec.Location) {
				return
			}
			for j := range sec.Causes {
				if !all(sec.Causes[j].Location) {
					return
				}
			}
		}
	}
}

// noPlace says why a cause stands on no line.
func (v *view) noPlace(r *results.Result, c *results.Cause) string {
	switch {
	case c.At == nil && c.Location.Function != "":
		return "in " + c.Location.Function + ", of which no source line is known: build with -g"
	case c.At == nil:
		return "no source line is known: build with -g"
	case r.Newer[c.At.Path]:
		return fmt.Sprintf("%s is newer than the program: build it", filepath.Base(c.At.Path))
	case !r.Stands(c.At):
		return "its line was deleted"
	}
	return "in " + c.At.Path + ", which is not here"
}
