package lsp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/profile"
)

// A lens names the target of its run, which the configuration may not have any more: a
// branch was checked out that has it by another name, or the file was deleted. What is there
// in its place is meant; where that has a mistake, the mistake is said.
func TestLensOfATargetThatIsGone(t *testing.T) {
	dir := folder(t)
	source, config := filepath.Join(dir, "skewed.c"), filepath.Join(dir, workspace.ConfigName)
	r := &remembering{fake: fake{t: t, dir: dir}}
	c := serve(t, Options{Runner: r})
	c.begin(dir, nil)
	c.open(source)
	c.command("skewlens.profileTarget")
	lens := wire.Object{"uri": workspace.FileURI(source), "line": 19, "target": "skewed"}
	for _, x := range []struct {
		config string
		want   map[string]any
		says   string
	}{
		{"[[target]]\nname = \"solver\"\nprogram = \"skewed\"\n", map[string]any{"outcome": "completed", "target": "solver"}, ""},
		{"[[target]]\nname = \"skewed\"\nprogram = \"skewed\"\nthreads = -1\n", map[string]any{"outcome": "failed"}, workspace.ConfigName + " has mistakes"},
	} {
		put(t, config, x.config)
		c.tell("workspace/didChangeWatchedFiles", wire.Object{"changes": []any{}})
		if got := c.command("skewlens.profileSection", lens); !matches(got["result"], any(x.want)) || !strings.Contains(textual(got), x.says) {
			t.Errorf("%s: %s", x.config, textual(got))
		}
	}
	if got := textual(c.command("skewlens.profileTarget", wire.Object{"target": "nonsense", "uri": workspace.FileURI(source)})); !strings.Contains(got, "no target is called") {
		t.Errorf("a name that never was: %s", got)
	}
	if len(r.ran) != 2 {
		t.Errorf("ran %+v", r.ran)
	}
}

// What is typed above a section while it runs does not make another line of the one that was
// clicked.
func TestSectionOfALineThatMovedMeanwhile(t *testing.T) {
	dir := folder(t)
	source := filepath.Join(dir, "skewed.c")
	started, typed := make(chan struct{}), make(chan struct{})
	f := &fake{t: t, dir: dir}
	f.run = func(context.Context, Target, func(Progress)) (*profile.Profile, error) {
		close(started)
		<-typed
		return canned(t, dir), nil
	}
	c := serve(t, Options{Runner: f})
	c.begin(dir, nil)
	c.open(source)
	c.send(message{"id": "run", "method": "workspace/executeCommand", "params": wire.Object{"command": "skewlens.profileSection",
		"arguments": []any{wire.Object{"uri": workspace.FileURI(source), "line": 19}}}})
	<-started
	c.tell("textDocument/didChange", change(source, 2, 0, 0, "// above\n"))
	c.call("textDocument/codeLens", docOf(source)) // it was read by now
	close(typed)
	if got := textual(c.await(map[string]any{"id": "run"})["result"]); !strings.Contains(got, `"message":"skewed.c:20: `) {
		t.Errorf("outcome %s", got)
	}
}

// What is asked before a run can be cancelled as the run itself: a person who looks for the
// question in vain has no other way.
func TestCancelAQuestion(t *testing.T) {
	dir := bare(t)
	source := filepath.Join(dir, "skewed.c")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	put(t, source, strings.Replace(string(text), "int main(void)", "int main(int argc, char **argv)", 1))
	c := asking(t, dir, Options{Runner: &fake{t: t, dir: dir}}, nil)
	c.mute = true
	c.open(source)
	c.send(message{"id": "run", "method": "workspace/executeCommand", "params": wire.Object{"command": "skewlens.profileSection",
		"arguments": []any{wire.Object{"uri": workspace.FileURI(source), "line": 19}}}})
	c.await(map[string]any{"method": "skewlens/ask"})
	if got := c.command("skewlens.cancel"); !matches(got["result"], any(map[string]any{"cancelled": 1.0})) {
		t.Errorf("cancel: %s", textual(got))
		c.call("shutdown", nil)
		return
	}
	c.await(map[string]any{"id": "run", "result": map[string]any{"outcome": "cancelled"}})

	// As any request that is cancelled itself, one that asks ends by that.
	c.send(message{"id": "again", "method": "workspace/executeCommand", "params": wire.Object{"command": "skewlens.profileSection",
		"arguments": []any{wire.Object{"uri": workspace.FileURI(source), "line": 19}}}})
	c.await(map[string]any{"method": "skewlens/ask"})
	c.tell("$/cancelRequest", wire.Object{"id": "again"})
	c.await(map[string]any{"id": "again", "error": map[string]any{"code": -32800.0}})
}

// In a large folder it takes long until it is known what to run: who clicked sees that
// something goes on, once, and how it ended.
func TestProgressOfLooking(t *testing.T) {
	dir := bare(t)
	source := filepath.Join(dir, "skewed.c")
	c := asking(t, dir, Options{Runner: &fake{t: t, dir: dir}}, nil)
	c.open(source)
	c.send(message{"id": "run", "method": "workspace/executeCommand", "params": wire.Object{"command": "skewlens.profileSection", "workDoneToken": "mine",
		"arguments": []any{wire.Object{"uri": workspace.FileURI(source), "line": 19}}}})
	for _, value := range []map[string]any{{"kind": "begin", "title": "Profiling skewed.c"}, {"kind": "report", "message": "looking for what could be run"}, {"kind": "end"}} {
		c.await(map[string]any{"method": "$/progress", "params": map[string]any{"token": "mine", "value": value}})
	}
	c.await(map[string]any{"id": "run"})
	quit(c)
}
