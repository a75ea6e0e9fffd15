package lsp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// repository makes one of a folder, and returns what runs git in it.
func repository(t *testing.T, dir string) func(args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git: what it does to files is tested with it")
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "first")
	return git
}

// marked is where the one mark of a file stands, on the wire: waits until it does.
func (c *client) marked(path string, line int) {
	c.t.Helper()
	c.await(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": string(workspace.FileURI(path)),
		"diagnostics": []any{map[string]any{"range": map[string]any{"start": map[string]any{"line": float64(line)}}}}}})
}

// unmarked waits until a file has no mark.
func (c *client) unmarked(path string) {
	c.t.Helper()
	c.await(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": string(workspace.FileURI(path)), "diagnostics": []any{}}})
}

// listed is where skewlens.causes has the first cause.
func (c *client) listed() string {
	c.t.Helper()
	all := c.command("skewlens.causes")["result"].(map[string]any)["targets"].([]any)[0].(map[string]any)["sections"].([]any)[0].(map[string]any)["causes"].([]any)
	x := all[0].(map[string]any)
	if x["range"] == nil {
		return textual(x["why"])
	}
	return filepath.Base(x["uri"].(string)) + ":" + textual(x["range"].(map[string]any)["start"].(map[string]any)["line"])
}

func (c *client) watched() {
	c.tell("workspace/didChangeWatchedFiles", wire.Object{"changes": []any{}})
}

// reload is what an editor does with an open document whose file another program changed.
func (c *client) reload(path string, version int) {
	text := string(must(os.ReadFile(path)))
	c.tell("textDocument/didChange", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "version": version}, "contentChanges": []wire.Object{{"text": text}}})
	c.tell("textDocument/didSave", docOf(path))
}

// The mark is on line 6 of skewed.c, counted from 0.
func TestGit(t *testing.T) {
	for _, open := range []bool{true, false} {
		t.Run(map[bool]string{true: "open", false: "closed"}[open], func(t *testing.T) {
			c, dir, path := ran(t, Options{})
			git := repository(t, dir)
			if !open {
				c.tell("textDocument/didClose", docOf(path))
			}
			version := 1
			see := func() {
				if version++; open {
					c.reload(path, version)
				}
				c.watched()
			}
			at := func(what, want string) {
				t.Helper()
				if got := c.listed(); got != want {
					t.Errorf("%s: the list has %s, want %s", what, got, want)
				}
			}
			text := string(must(os.ReadFile(path)))
			git("switch", "-qc", "moved")
			put(t, path, "// one\n// two\n// three\n"+text)
			git("commit", "-qam", "moved")
			see()
			c.marked(path, 9)
			at("on the branch", "skewed.c:9")
			git("switch", "-q", "main")
			see()
			c.marked(path, 6)
			at("back on main", "skewed.c:6")
			if got := textual(c.command("skewlens.causes")); strings.Contains(got, "edited since") {
				t.Errorf("as it was, and stale: %s", got)
			}

			put(t, path, "// mine\n"+text)
			see()
			c.marked(path, 7)
			git("stash", "-q")
			see()
			c.marked(path, 6)
			git("stash", "pop", "-q")
			see()
			c.marked(path, 7)
			git("checkout", "-q", ".")
			see()
			c.marked(path, 6)
			at("after a stash", "skewed.c:6")

			git("switch", "-qc", "without")
			git("rm", "-q", "--cached", "skewed.c")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			git("commit", "-qm", "without")
			if open {
				c.tell("textDocument/didClose", docOf(path))
			}
			c.watched()
			at("on a branch without the file", `"in `+path+`, which is not here"`)
			git("switch", "-q", "main")
			c.watched()
			at("back again", "skewed.c:6")
			quit(c)
		})
	}
}

// A file is renamed, and renamed back, and its folder is: marks go with it.
func TestRename(t *testing.T) {
	for _, open := range []bool{true, false} {
		t.Run(map[bool]string{true: "open", false: "closed"}[open], func(t *testing.T) {
			cache := t.TempDir()
			c, dir, path := ran(t, Options{Cache: cache})
			git := repository(t, dir)
			move := func(from, to string) {
				t.Helper()
				git("mv", from, to)
				if open {
					c.tell("textDocument/didClose", docOf(filepath.Join(dir, from)))
					c.open(filepath.Join(dir, to))
				}
				c.watched()
			}
			if !open {
				c.tell("textDocument/didClose", docOf(path))
			}
			other := filepath.Join(dir, "balance.c")
			move("skewed.c", "balance.c")
			c.unmarked(path)
			c.marked(other, 6)
			if got := c.listed(); got != "balance.c:6" {
				t.Errorf("the list has %s", got)
			}
			move("balance.c", "skewed.c")
			c.unmarked(other)
			c.marked(path, 6)
			move("skewed.c", "balance.c")
			c.marked(other, 6)
			put(t, other, "// above\n"+string(must(os.ReadFile(other))))
			if open {
				c.reload(other, 2)
			}
			c.watched()
			c.marked(other, 7)
			if open { // only where somebody opened it is it known where it went
				if err := os.Mkdir(filepath.Join(dir, "src"), 0o755); err != nil {
					t.Fatal(err)
				}
				put(t, other, strings.TrimPrefix(string(must(os.ReadFile(other))), "// above\n"))
				c.reload(other, 3)
				c.marked(other, 6)
				move("balance.c", "src/skew.c")
				c.marked(filepath.Join(dir, "src/skew.c"), 6)
			}
			quit(c)
		})
	}
}

// A formatter rewrites the whole file when it is saved: other indents, other braces.
func TestFormatOnSave(t *testing.T) {
	c, _, path := ran(t, Options{})
	text := string(must(os.ReadFile(path)))
	var lines []string
	for _, l := range strings.Split(text, "\n") {
		body := strings.TrimLeft(l, " \t")
		indent := len(l) - len(body)
		l = strings.Repeat("\t", indent) + body
		if rest, brace := strings.CutSuffix(l, " {"); brace {
			lines = append(lines, rest, strings.Repeat("\t", indent)+"{")
			continue
		}
		lines = append(lines, l)
	}
	formatted := strings.Join(lines, "\n")
	want := -1
	for i, l := range lines {
		if strings.TrimSpace(l) == strings.TrimSpace(strings.Split(text, "\n")[6]) || strings.TrimSpace(l)+" {" == strings.TrimSpace(strings.Split(text, "\n")[6]) {
			want = i
		}
	}
	if formatted == text || want < 0 {
		t.Fatalf("nothing to format: %s", formatted)
	}
	c.tell("textDocument/didChange", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "version": 2}, "contentChanges": []wire.Object{{"text": formatted}}})
	if err := os.WriteFile(path, []byte(formatted), 0o644); err != nil {
		t.Fatal(err)
	}
	c.tell("textDocument/didSave", docOf(path))
	c.marked(path, want)
	quit(c)
}
