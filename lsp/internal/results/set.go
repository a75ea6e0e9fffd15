package results

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/lsp/internal/text"
)

// Set is the results of all targets. It never changes: methods make others.
type Set struct {
	all []*Result // by name
}

// All are the results, by folder and target.
func (s Set) All() []*Result { return s.all }

// Of is the result of a target; nil where there is none.
func (s Set) Of(root, target string) *Result {
	for _, r := range s.all {
		if r.Root == root && r.Target == target {
			return r
		}
	}
	return nil
}

// Has reports whether a file is of any result's program.
func (s Set) Has(path string) bool {
	return slices.ContainsFunc(s.all, func(r *Result) bool { return r.Has(path) })
}

// Paths are those of all results' files, sorted.
func (s Set) Paths() []string {
	var out []string
	for _, r := range s.all {
		out = append(out, r.Paths()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// With has a result, instead of the one that its target had.
func (s Set) With(r *Result) Set {
	out := append(s.Without(func(o *Result) bool { return o.Name() == r.Name() }).all, r)
	slices.SortFunc(out, func(a, b *Result) int { return strings.Compare(a.Name(), b.Name()) })
	return Set{out}
}

// Without has no more results that drop reports.
func (s Set) Without(drop func(*Result) bool) Set {
	return Set{slices.DeleteFunc(slices.Clone(s.all), drop)}
}

// Settle is for a file that has another text, of whatever history: it was
// opened or closed.
func (s Set) Settle(path string, t *text.Text) Set {
	return s.each(func(r *Result) *Result { return r.Settled(path, t) })
}

// Follow is for a file that was edited.
func (s Set) Follow(path string, edits []text.Edit) Set {
	return s.each(func(r *Result) *Result { return r.followed(path, edits) })
}

func (s Set) each(f func(*Result) *Result) Set {
	out := make([]*Result, len(s.all))
	for i, r := range s.all {
		out[i] = f(r)
	}
	return Set{out}
}
