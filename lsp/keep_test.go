package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
	"go.lsp.dev/protocol"
)

func quit(c *client) {
	c.t.Helper()
	c.call("shutdown", nil)
	c.tell("exit", nil)
	<-c.ended
}

// Results are there again after a restart, where the file was edited meanwhile.

func TestResultsSurviveARestart(t *testing.T) {
	dir, cache := folder(t), filepath.Join(t.TempDir(), "cache")
	path := filepath.Join(dir, "skewed.c")
	opt := Options{Runner: &fake{t: t, dir: dir}, Cache: cache}
	c := serve(t, opt)
	c.begin(dir, nil)
	c.command("skewlens.profileTarget")
	quit(c)

	source, _ := os.ReadFile(path)
	put(t, path, "// new first line\n"+string(source))
	opt.Now = func() time.Time { return noon.Add(3 * time.Minute) }
	opt.Runner = nil
	c = serve(t, opt)
	c.begin(dir, nil)
	c.await(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{
		"uri": string(workspace.FileURI(path)), "diagnostics": []any{map[string]any{"range": map[string]any{"start": map[string]any{"line": 7.0}}}}}})
	c.open(path)
	got := textual(c.call("textDocument/codeLens", docOf(path)))
	if !strings.Contains(got, "imbalance 56 % · 1 cause · 3 min ago · edited since") {
		t.Errorf("lenses: %s", got)
	}
	c.tell("textDocument/didChange", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "version": 2}, "contentChanges": []wire.Object{{"text": string(source)}}})
	got = textual(c.call("textDocument/codeLens", docOf(path)))
	if !strings.Contains(got, "imbalance 56 % · 1 cause · 3 min ago\"") {
		t.Errorf("lenses of the text as it was: %s", got)
	}
	c.command("skewlens.clear")
	quit(c)
	c = serve(t, opt)
	c.begin(dir, nil)
	if got := textual(c.command("skewlens.causes")["result"]); got != `{"targets":[]}` {
		t.Errorf("after clear: %s", got)
	}
}

// A damaged cache is as good as none.

func TestDamagedCache(t *testing.T) {
	dir, cache := folder(t), filepath.Join(t.TempDir(), "cache")
	opt := Options{Runner: &fake{t: t, dir: dir}, Cache: cache}
	c := serve(t, opt)
	c.begin(dir, nil)
	c.command("skewlens.profileTarget")
	quit(c)
	files, _ := filepath.Glob(filepath.Join(cache, "results", "*", "*.json"))
	if len(files) != 1 {
		t.Fatalf("kept %v", files)
	}
	whole, _ := os.ReadFile(files[0])
	for _, content := range []string{"", "{", "null", `{"Version":1}`, string(whole[:len(whole)/2]), strings.ReplaceAll(string(whole), `"location"`, `"l"`), strings.ReplaceAll(string(whole), `"Version":1`, `"Version":99`)} {
		put(t, files[0], content)
		c := serve(t, opt)
		c.begin(dir, nil)
		if got := c.command("skewlens.causes"); got["error"] != nil {
			t.Errorf("%.40q: %s", content, textual(got))
		}
		quit(c)
	}
}

func TestBuildErrorsAreDiagnostics(t *testing.T) {
	dir := folder(t)
	put(t, filepath.Join(dir, workspace.ConfigName), "[[target]]\nprogram = \"skewed\"\nbuild = \"make\"\n")
	fails := true
	f := &fake{t: t, dir: dir, build: func(_ context.Context, tg Target, line func(string)) error {
		if !fails {
			return nil
		}
		for _, l := range []string{
			"make[1]: Entering directory '" + dir + "'",
			"In file included from x.h:1:",
			"skewed.c: In function 'work':",
			"skewed.c:7:7: error: 'mine' undeclared (first use in this function)",
			"skewed.c:7:7: note: each undeclared identifier is reported only once",
			"skewed.c:8:5: warning: implicit declaration of 'spin'",
			"/usr/include/stdio.h:1:1: error: not ours",
		} {
			line(l)
		}
		return errors.New("exit status 2")
	}}
	c := serve(t, Options{Runner: f})
	c.begin(dir, nil)
	got := c.command("skewlens.profileTarget")
	if !matches(got["result"], any(map[string]any{"outcome": "failed", "message": "the build of skewed failed with 1 error: skewed.c:7: 'mine' undeclared (first use in this function): see the diagnostics"})) {
		t.Errorf("got %s", textual(got))
	}
	c.await(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"diagnostics": []any{
		map[string]any{"source": "skewlens build", "severity": 1.0, "range": map[string]any{"start": map[string]any{"line": 6.0, "character": 2.0}}},
		map[string]any{"source": "skewlens build", "severity": 2.0, "range": map[string]any{"start": map[string]any{"line": 7.0}}},
	}}})
	fails = false
	c.command("skewlens.profileTarget")
	c.await(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"diagnostics": []any{}}})
}

func TestReportsInABrowser(t *testing.T) {
	dir := folder(t)
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.begin(dir, wire.Object{"window": wire.Object{"showDocument": wire.Object{"support": true}}})
	if got := c.command("skewlens.openReport"); got["error"] == nil {
		t.Errorf("a report of nothing: %s", textual(got))
	}
	c.command("skewlens.profileTarget")
	url := c.command("skewlens.openReport")["result"].(map[string]any)["uri"].(string)
	c.await(map[string]any{"method": "window/showDocument", "params": map[string]any{"uri": url, "external": true}})
	get := func(url, host string) (int, string, http.Header) {
		req, _ := http.NewRequest("GET", url, nil)
		if host != "" {
			req.Host = host
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(b), res.Header
	}
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("the report is at %s", url)
	}
	if code, body, h := get(url, ""); code != 200 || !strings.Contains(body, "skewed.c:20") || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("got %d %q %v", code, body, h)
	}
	if code, _, _ := get(url, "evil.example"); code != 404 {
		t.Errorf("another host name got %d", code)
	}
	if code, _, _ := get(url[:strings.LastIndex(url[:len(url)-1], "/")+1], ""); code != 404 {
		t.Errorf("without its path got %d", code)
	}
	if got := c.command("skewlens.openReport", wire.Object{"embed": true})["result"]; !strings.Contains(textual(got), "skewed.c:20") {
		t.Errorf("embedded: %s", textual(got))
	} else if !strings.Contains(textual(got), "command:skewlens.show?") {
		t.Error("no line of it can be clicked")
	}
	// A click on the cause's line opens it in the editor, and the page stays.
	if _, body, _ := get(url, ""); !strings.Contains(body, `href="open?0"`) {
		t.Error("no line of the page can be clicked")
	}
	if code, _, _ := get(url+"open?0", ""); code != 204 {
		t.Errorf("a click got %d", code)
	}
	c.await(map[string]any{"method": "window/showDocument", "params": map[string]any{"uri": string(workspace.FileURI(filepath.Join(dir, "skewed.c"))), "external": false,
		"selection": map[string]any{"start": map[string]any{"line": 6.0}}}})
}

// Lenses from the built program, while it is no older than the file.

func TestLensesFromCallSites(t *testing.T) {
	dir := folder(t)
	path, program := filepath.Join(dir, "skewed.c"), filepath.Join(dir, "skewed")
	put(t, program, "program")
	asked := 0
	sites := func(p string) ([]profile.Location, error) {
		asked++
		if p != program {
			t.Errorf("asked for %s", p)
		}
		return []profile.Location{
			{Address: 1, Frame: profile.Frame{File: path, Line: 24}}, // macro of some kind: no scan finds it
			{Address: 2, Frame: profile.Frame{File: "/usr/include/c++/12/thread", Line: 9}, InlinedAt: []profile.Frame{{File: path, Line: 26}}},
			{Address: 3, Frame: profile.Frame{File: path}},
		}, nil
	}
	age := func(of string, d time.Duration) {
		if err := os.Chtimes(of, noon.Add(d), noon.Add(d)); err != nil {
			t.Fatal(err)
		}
	}
	age(path, 0)
	age(program, time.Hour)
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}, CallSites: sites})
	c.begin(dir, nil)
	c.open(path)
	lines := func() (out []float64) {
		for _, l := range c.call("textDocument/codeLens", docOf(path))["result"].([]any) {
			out = append(out, l.(map[string]any)["range"].(map[string]any)["start"].(map[string]any)["line"].(float64))
		}
		return out
	}
	if got := lines(); len(got) != 2 || got[0] != 23 || got[1] != 25 {
		t.Errorf("lenses on %v, want 23 and 25", got)
	}
	lines()
	if asked != 1 {
		t.Errorf("the program was read %d times", asked)
	}
	c.tell("textDocument/didChange", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "version": 2}, "contentChanges": []wire.Object{
		{"range": protocol.Range{}, "text": "pthread_join(new, 0);\n"}}})
	// 20: the barrier, which the text shows and this program does not have.
	if got := lines(); len(got) != 4 || got[0] != 0 || got[1] != 20 || got[2] != 24 || got[3] != 26 {
		t.Errorf("after an edit lenses on %v, want 0, 20, 24 and 26", got)
	}
	c.tell("textDocument/didClose", docOf(path))
	age(path, 2*time.Hour) // edited, not built
	c.open(path)
	if got := lines(); len(got) != 2 || got[0] != 19 || got[1] != 25 {
		t.Errorf("of a file newer than its program lenses on %v, want 19 and 25", got)
	}
}

// What was edited while the program ran is not what was run.

func TestEditsDuringARun(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "skewed.c")
	started, goOn := make(chan struct{}), make(chan struct{})
	f := &fake{t: t, dir: dir, run: func(context.Context, Target, func(Progress)) (*profile.Profile, error) {
		started <- struct{}{}
		<-goOn
		return canned(t, dir), nil
	}}
	c := serve(t, Options{Runner: f})
	c.begin(dir, nil)
	c.open(path)
	c.send(message{"id": "run", "method": "workspace/executeCommand", "params": wire.Object{"command": "skewlens.profileTarget"}})
	<-started
	c.tell("textDocument/didChange", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "version": 2}, "contentChanges": []wire.Object{
		{"range": protocol.Range{}, "text": "\n\n\n"}}})
	c.call("textDocument/hover", docOf(path)) // the edit is in
	close(goOn)
	got := c.await(map[string]any{"method": "textDocument/publishDiagnostics"})
	d := got["params"].(map[string]any)["diagnostics"].([]any)[0].(map[string]any)
	if !matches(any(d), any(map[string]any{"range": map[string]any{"start": map[string]any{"line": 9.0}}})) || !strings.Contains(d["message"].(string), "edited since") {
		t.Errorf("got %s", textual(d))
	}
}

// A lens may name a section as it was called before an edit, which is by now

// the name of another one, or of none: what stands on the line counts.

func TestALensThatIsOlderThanTheRun(t *testing.T) {
	dir := folder(t)
	f := &fake{t: t, dir: dir, run: func(context.Context, Target, func(Progress)) (*profile.Profile, error) {
		p := canned(t, dir)
		other := p.Sections[0]
		other.Site = 0x3000
		p.Sections = append(p.Sections, other)
		p.Locations = append(p.Locations, profile.Location{Address: 0x3000, Frame: profile.Frame{File: filepath.Join(dir, "skewed.c"), Line: 27, Function: "main"}})
		return p, nil
	}}
	c := serve(t, Options{Runner: f})
	c.begin(dir, nil)
	uri := workspace.FileURI(filepath.Join(dir, "skewed.c"))
	for _, ask := range []struct {
		args wire.Object
		want string
	}{
		{wire.Object{"uri": uri, "line": 26, "section": "skewed.c:20"}, "skewed.c:27: imbalance"},
		{wire.Object{"uri": uri, "line": 19, "section": "skewed.c:18"}, "skewed.c:20: imbalance"},
		{wire.Object{"uri": uri, "line": 3, "section": "skewed.c:20"}, "skewed.c:20: imbalance"},
		{wire.Object{"section": "skewed.c:27"}, "skewed.c:27: imbalance"},
		{wire.Object{"uri": uri, "line": 3}, "(nothing was found on the line that was asked for: threads may meet where its function is called)"},
	} {
		got := c.command("skewlens.profileSection", ask.args)
		if r, _ := got["result"].(map[string]any); !strings.Contains(fmt.Sprint(r["message"]), ask.want) {
			t.Errorf("%v: %s, want %q", ask.args, textual(got), ask.want)
		}
	}
}

// The slow thread's way to a cause is told whole, or it is said that it is not.

func TestCallsThatLedToACause(t *testing.T) {
	dir := folder(t)
	at := func(line int, function string) report.Place {
		return report.Place{File: "skewed.c", Line: line, Function: function}
	}
	start := at(1, "thread")
	path := &report.Path{Thread: 3, Start: &start}
	for line := 2; line < 14; line++ {
		path.Calls = append(path.Calls, at(line, "f"))
	}
	path.Calls[3] = report.Place{Address: "0x1234"} // without a line there is nothing to show
	s := newServer(Options{Now: func() time.Time { return noon }})
	s.state.space = s.state.space.WithRoot(workspace.NewRoot(s.disk, dir))
	v := s.view()
	told := func() (out []string) {
		c := report.Cause{Rank: 1, Leader: "branch", Location: &report.Location{Place: at(5, "f")}, Path: path}
		k := results.Kept{Root: dir, Cwd: dir, Report: &report.Report{Sections: []report.Section{{ID: "x", Causes: []report.Cause{c}}}}}
		r := results.New(k, v.space, v.space.Text)
		m := r.Sections[0].Causes[0]
		for _, n := range v.diagnose(r, m, v.space.Text(m.At.Path)).RelatedInformation {
			out = append(out, fmt.Sprintf("%d: %s", n.Location.Range.Start.Line+1, n.Message))
		}
		return out
	}
	got := told()
	if len(got) != 8 || got[0] != "2: called from f, by thread 3" || got[7] != "1: thread 3 begins here, in thread (4 calls before it not shown)" {
		t.Errorf("got %q", got)
	}
	path.Calls, path.Start = path.Calls[:1], nil
	if got := told(); len(got) != 1 || got[0] != "2: called from f, by thread 3" {
		t.Errorf("got %q", got)
	}
}

// Lists are told to be made anew when results are others, and, once an edit has

// settled, when they stand elsewhere or are stale.

func TestResultsChanged(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "skewed.c")
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.call("initialize", wire.Object{"rootUri": workspace.FileURI(dir), "capabilities": wire.Object{}, "initializationOptions": wire.Object{"resultsChanged": true}})
	c.tell("initialized", wire.Object{})
	c.open(path)
	c.command("skewlens.profileTarget")
	told := func() { c.await(map[string]any{"method": "skewlens/resultsChanged"}) }
	told()
	edit := func(version, line, lines int, text string) {
		c.tell("textDocument/didChange", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "version": version}, "contentChanges": []wire.Object{
			{"range": protocol.Range{Start: protocol.Position{Line: uint32(line)}, End: protocol.Position{Line: uint32(line + lines)}}, "text": text}}})
	}
	edit(2, 27, 0, "/* below */\n") // stale
	told()
	edit(3, 27, 1, "") // as it was
	told()
	edit(4, 0, 0, "\n") // elsewhere
	told()
	c.tell("textDocument/didClose", docOf(path)) // as on disk
	told()
}

func TestResultsThatDoNotChange(t *testing.T) {
	s, doc := benchServer(t)
	told := &counting{}
	s.conn, s.state.notify = told, true
	s.announce(false)
	s.announce(false)
	s.change(func(st *state) { // the last section moves
		path, _ := workspace.FilePath(only(doc))
		at := protocol.Position{Line: 4990}
		e := st.space.Text(path).Apply(st.enc, &protocol.Range{Start: at, End: at}, "\n")
		st.results = st.results.Follow(path, []text.Edit{e})
	})
	s.announce(false)
	s.announce(true)
	if told.n != 3 {
		t.Errorf("told %d times, want 3: at first, after the move, and when asked to", told.n)
	}
}

type counting struct {
	nobody
	n int
}

func (c *counting) Notify(context.Context, string, any) error {
	c.n++
	return nil
}

// A client that cannot be shown a place is told it.

func TestNextCauseInWords(t *testing.T) {
	dir := folder(t)
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.begin(dir, nil)
	c.command("skewlens.profileTarget")
	if got := c.command("skewlens.nextCause"); !matches(got["result"], any(map[string]any{"rank": 1.0})) {
		t.Errorf("got %s", textual(got))
	}
	got := c.await(map[string]any{"method": "window/showMessage"})
	if !matches(got["params"], any(map[string]any{"type": 3.0})) || !strings.Contains(textual(got), `"skewlens: skewed.c:7 ◀ #1 `) {
		t.Errorf("shown: %s", textual(got))
	}
}

func TestHintsAreShort(t *testing.T) {
	stale, fresh := &results.Result{Kept: results.Kept{Behind: true}}, &results.Result{}
	for want, c := range map[string]struct {
		r           *results.Result
		rank        int
		share, gain float64
	}{
		"◀ #1 · 95 % of imbalance · saves up to 37 %": {fresh, 1, 0.95, 0.37},
		"◀ #1 · 100 % of imbalance · saves ≤ 37 %":    {fresh, 1, 1, 0.37},
		"◀ #12 · 95 % of imbalance · saves ≤ 37 %":    {fresh, 12, 0.95, 0.37},
		"◀ #1 · 95 % · saves ≤ 4 % · stale":           {stale, 1, 0.95, 0.04},
		"◀ #12 · 100 % · saves ≤ 100 % · stale":       {stale, 12, 1, 1},
		"◀ #2 · 5 % of imbalance · saves up to 0.2 %": {fresh, 2, 0.05, 0.002},
	} {
		got := label(c.r, &results.Cause{Cause: &report.Cause{Rank: c.rank, Share: c.share, Gain: &report.Gain{Fraction: c.gain}}})
		if got != want || len([]rune(got)) > maxLabel {
			t.Errorf("%q has %d characters, want %q", got, len([]rune(got)), want)
		}
	}
}

func TestAges(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "just now", 3 * time.Minute: "3 min ago", 3 * time.Hour: "3 h ago", 100 * time.Hour: "4 days ago"} {
		if got := age(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	if bar(1) != "██████████" || bar(0.05) != "▌" || bar(0) != "" {
		t.Errorf("bars %q %q %q", bar(1), bar(0.05), bar(0))
	}
}

// The last runs are remembered, over restarts too, and compared.
func TestTrend(t *testing.T) {
	dir, cache := folder(t), t.TempDir()
	for range 2 {
		c := serve(t, Options{Runner: &fake{t: t, dir: dir}, Cache: cache})
		c.begin(dir, nil)
		c.command("skewlens.profileTarget")
		c.command("skewlens.profileTarget")
		quit(c)
	}
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}, Cache: cache})
	c.begin(dir, nil)
	if got := textual(c.command("skewlens.compare", wire.Object{"embed": true})); !strings.Contains(got, "the last 4 runs") || strings.Count(got, "2024-05-01 12:00") != 4 {
		t.Errorf("compared: %s", got)
	}
	if got := textual(c.command("skewlens.causes")); !strings.Contains(got, `"runs":[0.56`) {
		t.Errorf("the list: %.300s", got)
	}
	quit(c)
}

// A compiler that is not here is named, with the mend.
func TestBuildWithoutItsTools(t *testing.T) {
	dir := folder(t)
	put(t, filepath.Join(dir, workspace.ConfigName), "[[target]]\nprogram = \"skewed\"\nbuild = \"make\"\n")
	for line, tool := range map[string]string{"/bin/sh: 1: cargo: not found": "cargo", "sh: line 1: zig: command not found": "zig", "make[1]: g++-13: No such file or directory": "g++-13", "/bin/bash: line 1: /opt/mpi/bin/mpicxx: No such file or directory": "/opt/mpi/bin/mpicxx", "/usr/bin/bash: line 1: icpx: command not found": "icpx", "cp: x: No such file or directory": ""} {
		f := &fake{t: t, dir: dir, build: func(_ context.Context, _ Target, say func(string)) error {
			say(line)
			say("make: *** [Makefile:3: p] Error 127")
			return errors.New("exit status 2")
		}}
		c := serve(t, Options{Runner: f})
		c.begin(dir, nil)
		if got := textual(c.command("skewlens.profileTarget")); strings.Contains(got, "for "+tool+" is not here: install it") != (tool != "") || !strings.Contains(got, line) {
			t.Errorf("%s: %s", line, got)
		}
		quit(c)
	}
}
