package results

import (
	"maps"

	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report"
)

// Local is the file of a place as the client has it now.
func (r *Result) Local(w workspace.Workspace, p report.Place) string {
	path := w.Local(p.File, r.Cwd)
	if to, ok := r.Kept.Renamed[path]; ok {
		return to
	}
	return path
}

// Was is how a file of the program was when it ran.
func (r *Result) Was(path string) text.Digest { return r.files[path] }

// WithName is the result where a file of its program has another name, and the text
// that it had when it ran. Files may be read for it.
func (r *Result) WithName(from, to string, w workspace.Workspace, texts func(path string) *text.Text) *Result {
	k := r.kept()
	k.Renamed = maps.Clone(k.Renamed)
	if k.Renamed == nil {
		k.Renamed = map[string]string{}
	}
	first := from
	for a, b := range k.Renamed {
		if b == from { // for the second time
			first = a
		}
	}
	k.Renamed[first] = to
	if first == to {
		delete(k.Renamed, first)
	}
	k.Files = maps.Clone(k.Files)
	k.Files[to] = k.Files[from]
	for at, a := range r.anchors {
		if at.path == from {
			k.Lines[place{to, at.line, at.column}.key()] = a.Was
		}
	}
	next := New(k, w, texts)
	next.Profile = r.Profile
	return next
}
