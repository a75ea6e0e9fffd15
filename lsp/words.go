package lsp

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lsp/internal/results"
)

// title is a section in a few words, as its lens shows it.
func (v *view) title(r *results.Result, sec *results.Section) string {
	parts := []string{}
	switch n := len(v.shownOf(sec)); {
	case sec.Imbalance == nil:
		parts = append(parts, "not analysed")
	case sec.Balanced && n > 0:
		parts = append(parts, "work is balanced", "waits", units.Plural(n, "cause"))
	case sec.Balanced && sec.BusyApart():
		parts = append(parts, "instructions are balanced", "busy times are not")
	case sec.Balanced:
		parts = append(parts, "balanced")
	case sec.Negligible:
		parts = append(parts, "too short to matter")
	case n == 0 && len(sec.Causes) > 0:
		parts = append(parts, "imbalance "+units.Percent(*sec.Imbalance), "all causes suppressed")
	default:
		parts = append(parts, "imbalance "+units.Percent(*sec.Imbalance), units.Plural(n, "cause"))
	}
	parts = append(append(parts, doubts(r)...), age(v.now.Sub(r.When)))
	if w := r.Staleness(); w != "" {
		parts = append(parts, w)
	}
	return strings.Join(parts, " · ")
}

// count is how many causes of a result are shown.
func (v *view) count(r *results.Result) int {
	n := 0
	for _, sec := range r.Sections {
		n += len(v.shownOf(sec))
	}
	return n
}

// summary is a whole result in a sentence, with what is to be doubted.
func (v *view) summary(r *results.Result) string {
	parts := []string{v.verdict(r)}
	if r.Scaling == nil {
		parts = append(parts, doubts(r)...)
	}
	if w := v.paths(r); w != "" {
		parts = append(parts, w)
	}
	if r.Behind {
		parts = append(parts, r.Staleness())
	}
	return strings.Join(parts, " · ")
}

func (v *view) verdict(r *results.Result) string {
	worst, id := r.Report.Worst()
	causes := v.count(r)
	switch {
	case r.Scaling != nil:
		return strings.TrimSuffix(r.Target, results.Timed("")) + ": " + speedup(r.Scaling)
	case len(r.Sections) == 0:
		return r.Target + ": no parallel section was found"
	case !slices.ContainsFunc(r.Sections, func(sec *results.Section) bool { return !sec.Negligible }):
		return fmt.Sprintf("%s: %s, too short to matter", r.Target, units.Plural(len(r.Sections), "section"))
	case causes == 0 && worst < 0.01:
		return fmt.Sprintf("%s: balanced (%s)", r.Target, units.Plural(len(r.Sections), "section"))
	}
	if worst < 0.01 {
		return fmt.Sprintf("%s: work is balanced, waits, %s", r.Target, units.Plural(causes, "cause"))
	}
	return fmt.Sprintf("%s: imbalance %s at %s, %s", r.Target, units.Percent(worst), id, units.Plural(causes, "cause"))
}

// age is how long ago something was, as people say it.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}
