package results

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report"
)

// The program of these tests: a.c and b.c are the user's, thread is the C++
// library's.
const (
	sourceA = "int x;\n\tif (mine(i))\n\t\twork();\n  barrier();\nmain();\n"
	sourceB = "start();\nhelper();\n"
)

var corr = 0.5

func sample() *report.Report {
	at := func(file string, line, column int) report.Place {
		return report.Place{File: file, Line: line, Column: column, Function: "f"}
	}
	library := at("/usr/include/thread", 7, 0)
	to := at("a.c", 3, 3)
	start := at("b.c", 1, 0)
	cause := report.Cause{
		Rank: 1, Kind: "control-flow", Leader: "branch", To: &to,
		Location: &report.Location{Place: library, InlinedAt: []report.Place{at("a.c", 2, 2)}},
		Path:     &report.Path{Thread: 3, Start: &start, Calls: []report.Place{at("a.c", 5, 0), {Address: "0x1"}}},
		Members:  []report.Member{{Place: at("b.c", 2, 0), Corr: &corr}, {Place: at("b.c", 1, 0)}, {Place: at("gone.c", 4, 0)}},
	}
	nowhere := report.Cause{Rank: 2, Kind: "cache-miss", Location: &report.Location{Place: report.Place{Address: "0x2"}}}
	return &report.Report{Version: 1, Sections: []report.Section{
		{ID: "a.c:4", Location: &report.Location{Place: at("a.c", 4, 0)}, Causes: []report.Cause{cause, nowhere}},
		{ID: "whole run", Negligible: true},
	}, Memory: &report.Memory{Lines: []report.MemoryLine{{Location: at("b.c", 2, 0)}, {Location: report.Place{Address: "0x3"}}}}}
}

func fixture() (workspace.Workspace, Kept) {
	d := &workspace.Disk{}
	w := workspace.New(d).WithRoot(workspace.NewRoot(d, "/w"))
	for name, content := range map[string]string{"a.c": sourceA, "b.c": sourceB} {
		w = w.WithDocument(workspace.NewDocument(protocol.TextDocumentItem{URI: workspace.FileURI("/w/" + name), Text: content}))
	}
	return w, Kept{Root: "/w", Cwd: "/w", Target: "t", Report: sample()}
}

// stands lists where a cause and its notes stand.
func stands(r *Result, c *Cause) []string {
	out := []string{fmt.Sprintf("%s:%d", filepath.Base(c.At.Path), r.Line(c.At))}
	for _, n := range c.Related {
		out = append(out, fmt.Sprintf("%s:%d %s", filepath.Base(n.At.Path), r.Line(n.At), n.Why))
	}
	return out
}

// A cause stands on the innermost line of the user's; what explains it stands
// beside it, each line once, and the way there whole.
func TestNew(t *testing.T) {
	w, k := fixture()
	r := New(k, w, w.Text)
	want := []string{
		"a.c:1",
		"thread:6 the deciding instruction is of this line",
		"a.c:2 it leads here",
		"a.c:4 called from f, by thread 3",
		"b.c:0 thread 3 begins here, in f",
		"b.c:1 goes with it (correlation 0.50)",
		"gone.c:3 goes with it",
		"a.c:3 the section ends here",
	}
	if m := r.Memory; len(m) != 2 || m[0].At == nil || filepath.Base(m[0].At.Path) != "b.c" || r.Line(m[0].At) != 1 || m[1].At != nil {
		t.Errorf("the lines of memory stand at %+v", m)
	}
	c := r.Sections[0].Causes[0]
	if got := stands(r, c); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if p := r.Point(c.At); p != (text.Point{Line: 1, Col: 1}) {
		t.Errorf("it stands at %v", p)
	}
	if p := r.Point(r.Sections[0].At); p != (text.Point{Line: 3, Col: 2}) {
		t.Errorf("without a column it stands at %v, not at the first word", p)
	}
	if none := r.Sections[0].Causes[1]; none.At != nil || none.Type() != "cache-miss" || c.Type() != "branch" || r.Sections[1].At != nil {
		t.Errorf("what has no line stands at %v", none.At)
	}
	if got := r.Paths(); !slices.Equal(got, []string{"/w/a.c", "/w/b.c"}) || !r.Has("/w/a.c") || r.Has("/w/gone.c") {
		t.Errorf("its files are %v", got)
	}
	if r.Stale() || r.Staleness() != "" {
		t.Errorf("a new result is stale: %s", r.Staleness())
	}
}

// Edits move what stands in a file in another result, and leave the old one as
// it was; an edit that is undone leaves no mark.
func TestFollow(t *testing.T) {
	w, k := fixture()
	r := New(k, w, w.Text)
	old := Set{}.With(r)
	on := func(s Set) int { got := s.Of("/w", "t"); return got.Line(got.Sections[0].Causes[0].At) }
	a := w.Open("/w/a.c").Text
	first := a.Apply(text.UTF16, &protocol.Range{}, "new\n")
	second := first.New.Apply(text.UTF16, nil, sourceA)

	moved := old.Follow("/w/a.c", []text.Edit{first})
	if on(old) != 1 || r.Stale() || on(moved) != 2 || moved.Of("/w", "t").Staleness() != "edited since" {
		t.Errorf("before it is on %d, after on %d, %s", on(old), on(moved), moved.Of("/w", "t").Staleness())
	}
	if both := old.Follow("/w/a.c", []text.Edit{first, second}); on(both) != 1 || both.Of("/w", "t").Stale() {
		t.Errorf("undone, it is on %d, stale: %v", on(both), both.Of("/w", "t").Stale())
	}
	if other := moved.Follow("/w/none.c", []text.Edit{first}); other.Of("/w", "t") != moved.Of("/w", "t") {
		t.Error("an edit of another file made another result")
	}
	if same := moved.Follow("/w/a.c", nil); same.Of("/w", "t") != moved.Of("/w", "t") {
		t.Error("no edit made another result")
	}

	if settled := moved.Settle("/w/a.c", text.New("1\n2\n3\n"+sourceA)); on(settled) != 4 || !settled.Of("/w", "t").Stale() {
		t.Errorf("in a text of another history it is on %d", on(settled))
	}
	if settled := moved.Settle("/w/a.c", text.New(sourceA)); on(settled) != 1 || settled.Of("/w", "t").Stale() {
		t.Errorf("in the text as it was it is on %d", on(settled))
	}
	if other := moved.Settle("/w/none.c", a); other.Of("/w", "t") != moved.Of("/w", "t") {
		t.Error("the text of another file made another result")
	}
}

// A line that another program changed is between its neighbours, where these moved alike; else
// nothing is said to stand where it was, until it is there again.
func TestSettleWhereALineChanged(t *testing.T) {
	w, k := fixture()
	old := Set{}.With(New(k, w, w.Text))
	for _, c := range []struct {
		text string
		want string // the lines of a.c's anchors, in their order; -: it is not there
	}{
		{"1\n2\nint x;\n\tif (mine(i))\n\t\twork(2);\n  barrier();\nmain();\n", "3 4 5 6"},
		{"1\n2\nint x;\n\tif (yours(i))\n\t\twork();\n  barrier();\nmain();\n", "- 4 5 6"},
		{"1\nint x;\n\tif (mine(i))\n\t\twork(2);\n\t\tmore();\n  barrier();\nmain();\n", "2 - 5 6"},
		{sourceA, "1 2 3 4"},
	} {
		r := old.Settle("/w/a.c", text.New(c.text)).Of("/w", "t")
		got := map[int]string{}
		for _, a := range r.in["/w/a.c"] {
			if got[a.Point.Line] = "-"; r.Stands(a) {
				got[a.Point.Line] = fmt.Sprint(r.Line(a))
			}
		}
		if now := got[1] + " " + got[2] + " " + got[3] + " " + got[4]; now != c.want {
			t.Errorf("%q: %s, want %s", c.text, now, c.want)
		}
		old = Set{}.With(r)
	}
}

func TestBehind(t *testing.T) {
	r := &Result{Kept: Kept{Behind: true}}
	if !r.Stale() || r.Staleness() != "the program is older than its source: build it again" {
		t.Errorf("stale: %v, %q", r.Stale(), r.Staleness())
	}
}

func TestSet(t *testing.T) {
	result := func(root, target string) *Result {
		return &Result{Kept: Kept{Root: root, Target: target}, files: map[string]text.Digest{root + "/" + target: {}}}
	}
	one := Set{}.With(result("/b", "x")).With(result("/a", "y"))
	two := one.With(result("/a", "x")).With(result("/b", "x"))
	names := func(s Set) (out []string) {
		for _, r := range s.All() {
			out = append(out, r.Root+r.Target)
		}
		return out
	}
	if got := names(one); !slices.Equal(got, []string{"/ay", "/bx"}) {
		t.Errorf("the first is %v", got)
	}
	if got := names(two); !slices.Equal(got, []string{"/ax", "/ay", "/bx"}) || two.Of("/b", "x") == one.Of("/b", "x") {
		t.Errorf("the second is %v", got)
	}
	if got := names(two.Without(func(r *Result) bool { return r.Root == "/a" })); !slices.Equal(got, []string{"/bx"}) || len(two.All()) != 3 {
		t.Errorf("without a folder it is %v", got)
	}
	if two.Of("/a", "z") != nil || !two.Has("/a/y") || two.Has("/a/z") {
		t.Error("it has what it has not")
	}
}

// Of long paths it is said how much is not shown.
func TestLongPaths(t *testing.T) {
	w, k := fixture()
	c := &k.Report.Sections[0].Causes[0]
	for line := range 20 {
		c.Path.Calls = append(c.Path.Calls, report.Place{File: "b.c", Line: line + 1})
	}
	r := New(k, w, w.Text)
	var last string
	calls := 0
	for _, n := range r.Sections[0].Causes[0].Related {
		if strings.HasPrefix(n.Why, "called from") {
			calls++
		}
		if strings.Contains(n.Why, "not shown") {
			last = n.Why
		}
	}
	if calls != maxCalls-1 || last != "thread 3 begins here, in f (14 calls before it not shown)" {
		t.Errorf("%d calls, and %q", calls, last) // one of the first has no line
	}
	c.Path = &report.Path{Thread: 1, Start: &report.Place{File: "b.c", Line: 1}, Calls: []report.Place{{File: "a.c", Line: 1}}}
	r = New(k, w, w.Text)
	if got := strings.Join(stands(r, r.Sections[0].Causes[0]), "\n"); !strings.Contains(got, "called from here, by thread 1") || !strings.Contains(got, "begins here, in this function") {
		t.Errorf("without names: %s", got)
	}
}

// What is kept is there again, at the lines as they are now.
func TestKeeping(t *testing.T) {
	w, k := fixture()
	d := &workspace.Disk{}
	st := NewStore(filepath.Join(t.TempDir(), "cache"), d)
	k.When, k.Took, k.Before = time.Unix(1e9, 0).UTC(), time.Second, sample()
	first := New(k, w, w.Text)
	if err := st.Save(first); err != nil {
		t.Fatal(err)
	}
	loaded := st.Load("/w")
	if len(loaded) != 1 || len(st.Load("/other")) != 0 {
		t.Fatalf("loaded %d results", len(loaded))
	}
	got := loaded[0]
	if !got.When.Equal(k.When) || got.Took != k.Took || !got.Report.Sections[1].Negligible || !got.Before.Sections[1].Negligible {
		t.Errorf("loaded %+v", got)
	}
	same := New(got, w, w.Text)
	if same.Stale() || !slices.Equal(stands(same, same.Sections[0].Causes[0]), stands(first, first.Sections[0].Causes[0])) {
		t.Errorf("it stands at %q", stands(same, same.Sections[0].Causes[0]))
	}
	edited := func(path string) *text.Text {
		if path == "/w/a.c" {
			return text.New("x\ny\n" + sourceA)
		}
		return w.Text(path)
	}
	moved := New(got, w, edited)
	if c := moved.Sections[0].Causes[0]; !moved.Stale() || moved.Line(c.At) != 3 || c.At.Was != "if (mine(i))" {
		t.Errorf("in a file that was edited meanwhile it is on %d, stale: %v", moved.Line(c.At), moved.Stale())
	}
	st.Remove("/w", "t")
	if len(st.Load("/w")) != 0 {
		t.Error("it is there after it was removed")
	}

	none := NewStore("", d)
	none.Remove("/w", "t")
	if none.Save(first) != nil || none.Load("/w") != nil {
		t.Error("nothing is kept where there is no folder")
	}
	if err := NewStore("/dev/null/x", d).Save(first); err == nil {
		t.Error("kept in a folder that cannot be")
	}
}

func TestDamagedFiles(t *testing.T) {
	w, k := fixture()
	st := NewStore(filepath.Join(t.TempDir(), "cache"), &workspace.Disk{})
	if err := st.Save(New(k, w, w.Text)); err != nil {
		t.Fatal(err)
	}
	path := st.file("/w", "t")
	whole := read(t, path)
	for _, content := range []string{"", "{", "null", `{"Version":1}`, whole[:len(whole)/2], strings.ReplaceAll(whole, `"location"`, `"l"`), strings.ReplaceAll(whole, `"Version":1`, `"Version":99`), strings.ReplaceAll(whole, `"Root":"/w"`, `"Root":"/x"`)} {
		write(t, path, content)
		if got := st.Load("/w"); len(got) != 0 {
			t.Errorf("%.40q was taken for a result", content)
		}
	}
	write(t, path, whole)
	if len(st.Load("/w")) != 1 {
		t.Error("what is sound was not")
	}
}

func TestDocuments(t *testing.T) {
	st := NewStore(filepath.Join(t.TempDir(), "cache"), &workspace.Disk{})
	for _, content := range []string{"one", "two"} { // again: it is read-only by then
		path, err := st.Document("../a b.txt", content)
		if err != nil || filepath.Base(path) != ".._a_b.txt" || read(t, path) != content {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := NewStore("", &workspace.Disk{}).Document("x", ""); err == nil || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Errorf("without a folder: %v", err)
	}
	if _, err := NewStore("/dev/null/x", &workspace.Disk{}).Document("x", ""); err == nil {
		t.Error("written into a folder that cannot be")
	}
}

// A cause in a header of the user's is also marked where it was inlined; one in a
// library's is shown at the user's call that leads there.
func TestCausesOfHeaders(t *testing.T) {
	w, k := fixture()
	at := func(file string, line int) report.Place { return report.Place{File: file, Line: line} }
	k.Report.Sections[0].Causes = []report.Cause{
		{Rank: 1, Location: &report.Location{Place: at("b.c", 2), InlinedAt: []report.Place{at("/usr/include/c++/12/bits/invoke.h", 60), at("a.c", 3)}}},
		{Rank: 2, Location: &report.Location{Place: at("/usr/include/c++/12/bits/stl_algo.h", 900)}, Path: &report.Path{Calls: []report.Place{at("/usr/include/c++/12/x.h", 4), at("a.c", 2), at("a.c", 5)}}},
		{Rank: 3, Location: &report.Location{Place: at("a.c", 2), InlinedAt: []report.Place{at("a.c", 5)}}},
	}
	r := New(k, w, w.Text)
	c := r.Sections[0].Causes
	if got := stands(r, c[0]); got[0] != "b.c:1" || c[0].Via == nil || c[0].Via.Path != "/w/a.c" || r.Line(c[0].Via) != 2 {
		t.Errorf("inlined: %q, via %+v", got, c[0].Via)
	}
	if got := stands(r, c[1]); got[0] != "a.c:1" {
		t.Errorf("of a library: %q", got)
	}
	if c[2].Via != nil {
		t.Errorf("inlined into its own file: via %+v", c[2].Via)
	}
	for _, n := range append(c[0].Related, c[1].Related...) {
		if filepath.Base(n.At.Path) == "invoke.h" || filepath.Base(n.At.Path) == "x.h" {
			t.Errorf("a library's frame is shown: %s", n.Why)
		}
	}
}
