package lsp

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// pulling is what a client can that asks for diagnostics, and asks for the rest of
// hints and actions when they are looked at.
var pulling = wire.Object{
	"textDocument": wire.Object{
		"diagnostic": wire.Object{},
		"inlayHint":  wire.Object{"resolveSupport": wire.Object{"properties": []string{"tooltip"}}},
		"codeAction": wire.Object{"resolveSupport": wire.Object{"properties": []string{"edit"}}},
	},
	"workspace": wire.Object{"diagnostics": wire.Object{"refreshSupport": true}},
}

// A client that pulls is sent nothing, told when to ask again, and told what it has
// already only once.
func TestPullDiagnostics(t *testing.T) {
	dir := folder(t)
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.begin(dir, pulling)
	path := filepath.Join(dir, "skewed.c")
	c.open(path)
	uri := string(workspace.FileURI(path))
	if got := c.call("textDocument/diagnostic", docOf(path)); !matches(got["result"], map[string]any{"kind": "full", "items": []any{}}) {
		t.Errorf("before a run: %s", textual(got))
	}
	c.command("skewlens.profileTarget")
	c.await(map[string]any{"method": "workspace/diagnostic/refresh"})
	got := c.call("textDocument/diagnostic", docOf(path))
	if !matches(got["result"], map[string]any{"kind": "full", "items": []any{map[string]any{"source": "skewlens"}}}) {
		t.Fatalf("after it: %s", textual(got))
	}
	id := got["result"].(map[string]any)["resultId"]
	again := wire.Object{"textDocument": wire.Object{"uri": uri}, "previousResultId": id}
	if got := c.call("textDocument/diagnostic", again); !matches(got["result"], map[string]any{"kind": "unchanged", "resultId": id}) {
		t.Errorf("asked again: %s", textual(got))
	}
	if got := c.call("workspace/diagnostic", wire.Object{"previousResultIds": []any{}}); !matches(got["result"],
		map[string]any{"items": []any{map[string]any{"uri": uri, "kind": "full", "version": 1.0, "items": []any{"*"}}}}) {
		t.Errorf("of the workspace: %s", textual(got))
	}
	c.tell("textDocument/didChange", change(path, 2, 0, 0, "// above\n"))
	if got := c.call("textDocument/diagnostic", again); !matches(got["result"],
		map[string]any{"kind": "full", "items": []any{map[string]any{"range": map[string]any{"start": map[string]any{"line": 7.0}}}}}) {
		t.Errorf("after an edit: %s", textual(got))
	}
	c.command("skewlens.clear", wire.Object{"target": "skewed"})
	c.await(map[string]any{"method": "workspace/diagnostic/refresh"})
	before := wire.Object{"previousResultIds": []any{wire.Object{"uri": uri, "value": id}}}
	if got := c.call("workspace/diagnostic", before); !matches(got["result"],
		map[string]any{"items": []any{map[string]any{"uri": uri, "kind": "full", "items": []any{}}}}) {
		t.Errorf("when all is cleared: %s", textual(got))
	}
	for _, m := range c.got {
		if m["method"] == "textDocument/publishDiagnostics" {
			t.Errorf("pushed: %s", textual(m))
		}
	}
	quit(c)
}

// A client that takes both asks for what is open, and is sent the rest: never both.
func TestPullOpenOnly(t *testing.T) {
	dir := folder(t)
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.call("initialize", wire.Object{"processId": nil, "rootUri": workspace.FileURI(dir), "initializationOptions": wire.Object{"pullDiagnostics": true}, "capabilities": wire.Object{
		"textDocument": wire.Object{"diagnostic": wire.Object{}, "publishDiagnostics": wire.Object{}}, "workspace": pulling["workspace"]}})
	c.tell("initialized", wire.Object{})
	path := filepath.Join(dir, "skewed.c")
	c.command("skewlens.profileTarget")
	c.marked(path, 6) // it is closed
	c.open(path)
	c.unmarked(path)
	if got := c.call("textDocument/diagnostic", docOf(path)); !matches(got["result"], map[string]any{"kind": "full", "items": []any{"*"}}) {
		t.Errorf("when it is open: %s", textual(got))
	}
	if got := c.call("workspace/diagnostic", wire.Object{}); !matches(got["result"], map[string]any{"items": []any{}}) {
		t.Errorf("of the workspace: %s", textual(got))
	}
	c.tell("textDocument/didClose", docOf(path))
	c.marked(path, 6)
	quit(c)
}

// A client that is sent diagnostics, and asks all the same, is not told them twice.
func TestPushedAreNotPulled(t *testing.T) {
	c, _, path := ran(t, Options{})
	if got := c.call("textDocument/diagnostic", docOf(path)); !matches(got["result"], map[string]any{"kind": "full", "items": []any{}}) {
		t.Errorf("of the document: %s", textual(got))
	}
	if got := c.call("workspace/diagnostic", wire.Object{}); !matches(got["result"], map[string]any{"items": []any{}}) {
		t.Errorf("of the workspace: %s", textual(got))
	}
	quit(c)
}

// Tooltips and edits come when they are asked for, and are what they would have been.
func TestResolve(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "skewed.c")
	all := wire.Object{"start": wire.Object{"line": 0, "character": 0}, "end": wire.Object{"line": 99, "character": 0}}
	ask := func(can wire.Object) (hint, edit string) {
		c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
		c.begin(dir, can)
		c.open(path)
		c.command("skewlens.profileTarget")
		h := c.call("textDocument/inlayHint", wire.Object{"textDocument": docOf(path)["textDocument"], "range": all})["result"].([]any)[0].(map[string]any)
		if can != nil {
			if h["tooltip"] != nil {
				t.Errorf("a tooltip that nobody asked for: %s", textual(h))
			}
			h = c.call("inlayHint/resolve", h)["result"].(map[string]any)
		}
		for _, a := range c.call("textDocument/codeAction", wire.Object{"textDocument": docOf(path)["textDocument"], "range": all, "context": wire.Object{"diagnostics": []any{}}})["result"].([]any) {
			act := a.(map[string]any)
			if !strings.HasPrefix(act["title"].(string), "Do not show") {
				continue
			}
			if can != nil {
				if act["edit"] != nil {
					t.Errorf("an edit that nobody asked for: %s", textual(act))
				}
				act = c.call("codeAction/resolve", act)["result"].(map[string]any)
			}
			edit = textual(act["edit"])
		}
		quit(c)
		return textual(h["tooltip"]), edit
	}
	hint, edit := ask(nil)
	if !strings.Contains(hint, "imbalance") || !strings.Contains(edit, "suppress") {
		t.Fatalf("tooltip %s, edit %s", hint, edit)
	}
	if h, e := ask(pulling); h != hint || e != edit {
		t.Errorf("tooltip %s, want %s; edit %s, want %s", h, hint, e, edit)
	}
	if got := serveOnce(t, dir).call("inlayHint/resolve", wire.Object{"label": "x", "position": wire.Object{"line": 0, "character": 0}}); got["error"] != nil {
		t.Errorf("a hint of another time: %s", textual(got))
	}
}

func serveOnce(t *testing.T, dir string) *client {
	t.Helper()
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.begin(dir, nil)
	return c
}
