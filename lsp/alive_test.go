package lsp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/profile"
)

// ran is a session in which the example was profiled; its source is open.
func ran(t *testing.T, opt Options) (c *client, dir, path string) {
	t.Helper()
	dir = folder(t)
	if opt.Runner == nil {
		opt.Runner = &fake{t: t, dir: dir}
	}
	c = serve(t, opt)
	c.begin(dir, nil)
	path = filepath.Join(dir, "skewed.c")
	c.open(path)
	if got := c.command("skewlens.profileTarget"); !matches(got["result"], completed("skewed")) {
		t.Fatalf("profile: %s", textual(got))
	}
	c.await(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": string(workspace.FileURI(path)), "diagnostics": []any{"*"}}})
	return c, dir, path
}

func change(path string, version, from, to int, insert string) wire.Object {
	at := func(line int) wire.Object { return wire.Object{"line": line, "character": 0} }
	return wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "version": version},
		"contentChanges": []wire.Object{{"range": wire.Object{"start": at(from), "end": at(to)}, "text": insert}}}
}

// hints are the lines that have one.
func (c *client) hints(path string) (lines []int) {
	c.t.Helper()
	got := c.call("textDocument/inlayHint", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path)},
		"range": wire.Object{"start": wire.Object{"line": 0, "character": 0}, "end": wire.Object{"line": 999, "character": 0}}})
	for _, h := range got["result"].([]any) {
		lines = append(lines, int(h.(map[string]any)["position"].(map[string]any)["line"].(float64)))
	}
	return lines
}

// The guilty line is deleted: so is its mark, and the line below gets none. It
// comes back with the line; the list says meanwhile why it has no place.
func TestDeletedLine(t *testing.T) {
	c, _, path := ran(t, Options{})
	text := strings.Split(string(must(os.ReadFile(path))), "\n")
	c.tell("textDocument/didChange", change(path, 2, 6, 7, ""))
	c.await(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"diagnostics": []any{}}})
	if got := c.hints(path); got != nil {
		t.Errorf("hints on %v", got)
	}
	if got := textual(c.command("skewlens.causes")); !strings.Contains(got, `"why":"its line was deleted"`) {
		t.Errorf("the list: %s", got)
	}
	c.tell("textDocument/didChange", change(path, 3, 0, 0, "// above\n"))
	c.tell("textDocument/didChange", change(path, 4, 7, 7, text[6]+"\n"))
	if got := c.hints(path); !slices.Equal(got, []int{7}) {
		t.Errorf("it came back, with hints on %v", got)
	}
	quit(c)
}

// Another program changes a file that is closed: marks are where its lines are.
func TestFileChangedOnDisk(t *testing.T) {
	c, _, path := ran(t, Options{})
	c.tell("textDocument/didClose", docOf(path))
	c.command("skewlens.targets")
	text := string(must(os.ReadFile(path)))
	put(t, path, "// one\n// two\n"+text)
	if err := os.Chtimes(path, time.Time{}, noon); err != nil {
		t.Fatal(err)
	}
	c.tell("workspace/didChangeWatchedFiles", wire.Object{"changes": []any{}})
	c.await(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"diagnostics": []any{map[string]any{"range": map[string]any{"start": map[string]any{"line": 8.0}}}}}})
	quit(c)
}

// A finding that is suppressed has neither mark nor hint.
func TestSuppressedHasNoHint(t *testing.T) {
	c, dir, path := ran(t, Options{})
	config := filepath.Join(dir, workspace.ConfigName)
	put(t, config, string(must(os.ReadFile(config)))+"\n[[suppress]]\nfile = \"skewed.c\"\n")
	c.tell("workspace/didChangeWatchedFiles", wire.Object{"changes": []any{}})
	c.await(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"diagnostics": []any{}}})
	if got := c.hints(path); got != nil {
		t.Errorf("hints on %v", got)
	}
	quit(c)
}

// How a run ended and what is to be doubted stands in outcome, lens and hover.
func TestDoubts(t *testing.T) {
	dir := folder(t)
	run := func(context.Context, Target, func(Progress)) (*profile.Profile, error) {
		p := canned(t, dir)
		p.Run.ExitCode, p.Run.Cores = 3, 2
		return p, nil
	}
	c := serve(t, Options{Runner: &fake{t: t, dir: dir, run: run}})
	c.begin(dir, nil)
	path := filepath.Join(dir, "skewed.c")
	c.open(path)
	got := c.command("skewlens.profileTarget")
	for _, want := range []string{"exit status 3", "4 threads on 2 cores"} {
		if !strings.Contains(textual(got), want) {
			t.Errorf("the outcome has no %q: %s", want, textual(got))
		}
	}
	if got := textual(c.call("textDocument/codeLens", docOf(path))); !strings.Contains(got, "exit status 3 · 4 threads on 2 cores · just now") {
		t.Errorf("the lens: %s", got)
	}
	at := wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path)}, "position": wire.Object{"line": 6, "character": 3}}
	got = c.call("textDocument/hover", at)
	for _, want := range []string{"exit-status", "shared-cores", "What to do", "causes.md#branch"} {
		if !strings.Contains(textual(got), want) {
			t.Errorf("the hover has no %q: %s", want, textual(got))
		}
	}
	quit(c)
}

// A program that was built elsewhere, of files that are here too: the marks stand
// in these, and the outcome says what was taken for what. Where they are not here
// it says that.
func TestBuiltElsewhere(t *testing.T) {
	dir := folder(t)
	run := func(context.Context, Target, func(Progress)) (*profile.Profile, error) {
		return canned(t, "/nowhere/build"), nil
	}
	c := serve(t, Options{Runner: &fake{t: t, dir: dir, run: run}})
	c.begin(dir, nil)
	path := filepath.Join(dir, "skewed.c")
	c.open(path)
	if got := textual(c.command("skewlens.profileTarget")); !strings.Contains(got, ". stands for /nowhere/build") {
		t.Errorf("the outcome: %s", got)
	}
	if got := c.hints(path); !slices.Equal(got, []int{6}) {
		t.Errorf("hints on %v", got)
	}
	quit(c)

	if err := os.Rename(path, filepath.Join(dir, "other.c")); err != nil {
		t.Fatal(err)
	}
	c = serve(t, Options{Runner: &fake{t: t, dir: dir, run: run}})
	c.begin(dir, nil)
	if got := textual(c.command("skewlens.profileTarget")); !strings.Contains(got, `its source /nowhere/build/skewed.c is not here: add path-map`) {
		t.Errorf("the outcome: %s", got)
	}
	if got := textual(c.command("skewlens.causes")); !strings.Contains(got, `"why":"in /nowhere/build/skewed.c, which is not here"`) {
		t.Errorf("the list: %s", got)
	}
	config := filepath.Join(dir, workspace.ConfigName)
	put(t, config, string(must(os.ReadFile(config)))+"path-map = { \"/nowhere\" = \"mapped\" }\n")
	put(t, filepath.Join(dir, "mapped/build/skewed.c"), string(must(os.ReadFile(filepath.Join(dir, "other.c")))))
	if got := textual(c.command("skewlens.profileTarget")); !strings.Contains(got, "mapped stands for /nowhere") {
		t.Errorf("with path-map: %s", got)
	}
	quit(c)
}

// A program that is older than its source: nobody knows where its lines are now.
func TestSourceIsNewer(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "skewed.c")
	put(t, filepath.Join(dir, "skewed"), "the program")
	if err := os.Chtimes(filepath.Join(dir, "skewed"), time.Time{}, noon); err != nil {
		t.Fatal(err)
	}
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.begin(dir, nil)
	c.open(path)
	if got := textual(c.click(path)); !strings.Contains(got, "the program is older than its source: build it again") || strings.Contains(got, "nothing was found on the line") {
		t.Errorf("the outcome: %s", got)
	}
	if got := c.hints(path); got != nil {
		t.Errorf("hints on %v", got)
	}
	if got := textual(c.command("skewlens.causes")); !strings.Contains(got, "skewed.c is newer than the program: build it") {
		t.Errorf("the list: %s", got)
	}
	if got := textual(c.call("textDocument/codeLens", docOf(path))); strings.Count(got, "Profile") != 2 || strings.Contains(got, "imbalance") {
		t.Errorf("the lenses: %s", got)
	}
	// A library of the target's that was built since has its lines, however old an interpreter is.
	put(t, filepath.Join(dir, "ext.so"), "the library")
	put(t, filepath.Join(dir, workspace.ConfigName), "[[target]]\nname = \"skewed\"\nprogram = \"skewed\"\nlib = [\"./ext.so\"]\n")
	if got := textual(c.command("skewlens.profileTarget")); strings.Contains(got, "older than its source") {
		t.Errorf("with a library: %s", got)
	}
	quit(c)
}

func TestExitWithoutShutdown(t *testing.T) {
	dir := folder(t)
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.begin(dir, nil)
	c.tell("exit", nil)
	if err := <-c.ended; !errors.Is(err, errNoShutdown) {
		t.Errorf("ended with %v", err)
	}
}

// Where the work is: lines move with the text, and lose their share with their line.
func TestHeat(t *testing.T) {
	c, _, path := ran(t, Options{})
	uri := wire.Object{"uri": workspace.FileURI(path)}
	lines := func() []any {
		t.Helper()
		return c.command("skewlens.heat", uri)["result"].(map[string]any)["lines"].([]any)
	}
	before := lines()
	if !matches(before, []any{map[string]any{"line": 4.0}, map[string]any{"line": 7.0, "section": "skewed.c:20", "target": "skewed"}}) {
		t.Fatalf("lines %s", textual(before))
	}
	c.tell("textDocument/didChange", change(path, 2, 0, 0, "// above\n"))
	after := lines()
	if len(after) != 2 || !matches(after[1], map[string]any{"line": 8.0, "share": before[1].(map[string]any)["share"]}) {
		t.Errorf("after an edit above: %s", textual(after))
	}
	c.tell("textDocument/didChange", change(path, 3, 8, 9, ""))
	if got := lines(); !matches(got, []any{map[string]any{"line": 5.0}}) {
		t.Errorf("when a line was deleted: %s", textual(got))
	}
	if got := c.command("skewlens.heat"); !matches(got["result"], map[string]any{"lines": []any{}}) {
		t.Errorf("of no file: %s", textual(got))
	}
	quit(c)
}

// What a cause means is shown as a text: that of its line, or of a kind.
func TestExplain(t *testing.T) {
	cache := t.TempDir()
	c, _, path := ran(t, Options{Cache: cache})
	for _, args := range []wire.Object{{"uri": workspace.FileURI(path), "line": 6}, {"kind": "branch"}} {
		got := c.command("skewlens.explain", args)["result"]
		if r, ok := got.(map[string]any); !ok || !strings.HasPrefix(r["text"].(string), "# branch\n") || !strings.HasSuffix(r["uri"].(string), "/branch.md") {
			t.Errorf("%v: %s", args, textual(got))
		}
	}
	args := wire.Object{"kind": "serial", "embed": true}
	if got := textual(c.command("skewlens.explain", args)["result"]); !strings.HasPrefix(got, `{"text":"# serial`) {
		t.Errorf("embedded: %s", got)
	}
	for _, no := range []wire.Object{{"uri": workspace.FileURI(path), "line": 0}, {"kind": "fairy"}} {
		if got := c.command("skewlens.explain", no); got["error"] == nil {
			t.Errorf("%v: %s", no, textual(got))
		}
	}
	quit(c)
}
