package lsp

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"go.lsp.dev/protocol"
)

// pieces are what random texts are made of: of one, two, three and four bytes,

// one and two units of UTF-16, and both ways to end a line.

// randomPoint is where an editor can put its cursor: not within a character,

// nor within a line end.

// Points move as the characters do that they stand for: compared with a text

// of which every byte carries its own number.

// A formatter that replaces everything, a move of lines, a paste over them:

// the finding stays with its line.

// 200 edits as fast as they can be sent, with questions between them: 200

// publishes, one for each, in their order, each with the finding where the text

// had it then.

func TestEditStorm(t *testing.T) {
	dir := folder(t)
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.begin(dir, nil)
	path := filepath.Join(dir, "skewed.c")
	c.open(path)
	c.command("skewlens.profileTarget")
	c.await(map[string]any{"method": "textDocument/publishDiagnostics"})
	model := text.New(string(must(os.ReadFile(path))))
	r := rand.New(rand.NewPCG(7, 8))
	const edits = 200
	line := 6
	var want [edits]int // the finding's line after each edit
	for v := range edits {
		at := r.IntN(line + 1)
		insert, to := "// 🙂\n", at
		if at < line && r.IntN(2) == 0 {
			insert, to = "", at+1
			line -= 2
		}
		line++
		want[v] = line
		where := protocol.Range{Start: protocol.Position{Line: uint32(at)}, End: protocol.Position{Line: uint32(to)}}
		c.tell("textDocument/didChange", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "version": v + 2}, "contentChanges": []wire.Object{
			{"range": where, "text": insert}}})
		c.send(message{"id": v, "method": "textDocument/codeLens", "params": docOf(path)})
		model = model.Apply(text.UTF16, &where, insert).New
		if !strings.Contains(model.Line(line), "planted") {
			t.Fatalf("the test's own model is wrong: %q", model.Line(line))
		}
	}
	for v := range edits {
		got := c.await(map[string]any{"method": "textDocument/publishDiagnostics"})["params"]
		where := map[string]any{"start": map[string]any{"line": float64(want[v]), "character": 2.0}}
		if !matches(got, any(map[string]any{"version": float64(v + 2), "diagnostics": []any{map[string]any{"range": where}}})) {
			t.Fatalf("edit %d: want line %d, got %s", v, want[v], textual(got))
		}
	}
	for v := range edits {
		c.await(map[string]any{"id": float64(v), "jsonrpc": "2.0"})
	}
	got := c.call("textDocument/inlayHint", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path)}, "range": protocol.Range{End: protocol.Position{Line: 9999}}})
	if !strings.Contains(textual(got), fmt.Sprintf(`"line":%d`, line)) {
		t.Errorf("the hint is not on line %d: %s", line, textual(got))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.got {
		if m["method"] == "textDocument/publishDiagnostics" {
			t.Errorf("published once more: %s", textual(m))
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
