package results

import (
	"slices"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report"
)

// A file has another name, once more another, and its first one again: what stands in
// it goes along, and all else stays where it is.
func TestWithName(t *testing.T) {
	w, k := fixture()
	r := New(k, w, w.Text)
	open := func(name string) workspace.Workspace {
		w, _ := fixture()
		w = w.WithoutDocument(workspace.FileURI("/w/a.c"))
		return w.WithDocument(workspace.NewDocument(protocol.TextDocumentItem{URI: workspace.FileURI("/w/" + name), Text: sourceA}))
	}
	was, from := r.Was("/w/a.c"), "/w/a.c"
	for _, name := range []string{"c.c", "d.c", "a.c"} {
		w := open(name)
		r = r.WithName(from, "/w/"+name, w, w.Text)
		c := r.Sections[0].Causes[0]
		if got, want := stands(r, c), []string{name + ":1", "thread:6 the deciding instruction is of this line", name + ":2 it leads here"}; !slices.Equal(got[:3], want) {
			t.Errorf("%s: %q", name, got)
		}
		if r.Stale() || c.At.Was != "if (mine(i))" || r.Was("/w/"+name) != was || !slices.Equal(r.Paths(), []string{"/w/" + min(name, "b.c"), "/w/" + max(name, "b.c")}) {
			t.Errorf("%s: stale %v, line %q, files %v", name, r.Stale(), c.At.Was, r.Paths())
		}
		if got := r.Local(w, report.Place{File: "a.c"}); got != "/w/"+name {
			t.Errorf("a.c is %s, want %s", got, name)
		}
		from = "/w/" + name
	}
	if len(r.Kept.Renamed) != 0 {
		t.Errorf("as it was, and %v", r.Kept.Renamed)
	}
}

// Work is the user's own line's, with that of the library that was inlined there.
func TestWork(t *testing.T) {
	w, k := fixture()
	at := func(file string, line int, inlined ...report.Place) *report.Location {
		return &report.Location{Place: report.Place{File: file, Line: line, Column: 3}, InlinedAt: inlined}
	}
	s := &k.Report.Sections[0]
	s.Lines = []report.WorkLine{
		{Location: at("/usr/include/thread", 9, report.Place{File: "a.c", Line: 3, Column: 7}), Share: 0.5}, {Location: at("a.c", 3), Share: 0.25},
		{Location: at("b.c", 2), Share: 0.125}, {Location: at("/usr/include/vector", 1), Share: 0.1}, {}, {Location: at("", 0), Share: 0.01},
	}
	k.Report.Sections[1].Lines = s.Lines
	r := New(k, w, w.Text)
	work := r.Sections[0].Work
	if len(work) != 2 || work[0].At.Path != "/w/a.c" || r.Line(work[0].At) != 2 || work[0].Share != 0.75 || work[1].At.Path != "/w/b.c" || work[1].Share != 0.125 {
		t.Errorf("work %+v", work)
	}
	if len(r.Sections[1].Work) != 0 {
		t.Errorf("of a section that does not matter: %+v", r.Sections[1].Work)
	}
}
