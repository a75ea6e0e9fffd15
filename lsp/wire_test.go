package lsp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/profile"
)

// endless is a runner that runs until it is cancelled, and says when.

func endless(dir string) (f *fake, started, ended chan struct{}) {
	started, ended = make(chan struct{}, 9), make(chan struct{}, 9)
	f = &fake{dir: dir, run: func(ctx context.Context, _ Target, _ func(Progress)) (*profile.Profile, error) {
		started <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, ctx.Err()
	}}
	return f, started, ended
}

func TestCancelByRequest(t *testing.T) {
	for _, id := range []any{float64(7), "7", float64(0)} {
		dir := folder(t)
		f, started, ended := endless(dir)
		c := serve(t, Options{Runner: f})
		c.begin(dir, nil)
		c.send(message{"id": id, "method": "workspace/executeCommand", "params": wire.Object{"command": "skewlens.profileTarget"}})
		<-started
		for _, other := range []any{float64(8), "8", nil, wire.Object{}} {
			c.tell("$/cancelRequest", wire.Object{"id": other})
		}
		if got := c.call("skewlens/none", nil); got["error"] == nil { // the server goes on answering
			t.Errorf("got %v", got)
		}
		c.tell("$/cancelRequest", wire.Object{"id": id})
		<-ended
		c.await(map[string]any{"id": id, "error": map[string]any{"code": -32800.0}})
	}
}

func TestCancelByProgressAndByCommand(t *testing.T) {
	dir := folder(t)
	f, started, ended := endless(dir)
	c := serve(t, Options{Runner: f})
	c.begin(dir, wire.Object{"window": wire.Object{"workDoneProgress": true}})
	run := func(id, token any) {
		c.send(message{"id": id, "method": "workspace/executeCommand", "params": wire.Object{"command": "skewlens.profileTarget", "workDoneToken": token}})
		<-started
	}
	cancelled := map[string]any{"outcome": "cancelled"}
	run("a", "mine")
	c.tell("window/workDoneProgress/cancel", wire.Object{"token": "other"})
	c.tell("window/workDoneProgress/cancel", wire.Object{"token": "mine"})
	<-ended
	c.await(map[string]any{"id": "a", "result": cancelled})
	c.await(map[string]any{"method": "$/progress", "params": map[string]any{"token": "mine", "value": map[string]any{"kind": "end"}}})
	run("b", 12)
	c.tell("window/workDoneProgress/cancel", wire.Object{"token": 12})
	<-ended
	c.await(map[string]any{"id": "b", "result": cancelled})
	run("c", nil)
	got := c.await(map[string]any{"method": "window/workDoneProgress/create"})
	c.tell("window/workDoneProgress/cancel", wire.Object{"token": got["params"].(map[string]any)["token"]})
	<-ended
	c.await(map[string]any{"id": "c", "result": cancelled})
	run("d", nil)
	if got := c.command("skewlens.cancel"); got["result"].(map[string]any)["cancelled"] != 1.0 {
		t.Errorf("got %v", got)
	}
	<-ended
	c.await(map[string]any{"id": "d", "result": cancelled})
}

func TestRunsAreQueued(t *testing.T) {
	dir := folder(t)
	running := make(chan chan struct{})
	n := 0
	f := &fake{t: t, dir: dir, run: func(ctx context.Context, _ Target, _ func(Progress)) (*profile.Profile, error) {
		if n++; n > 1 { // unguarded: the race detector sees two at once, too
			t.Error("two runs at once")
		}
		done := make(chan struct{})
		running <- done
		<-done
		n--
		return canned(t, dir), nil
	}}
	c := serve(t, Options{Runner: f})
	c.begin(dir, nil)
	for _, id := range []string{"a", "b", "c"} {
		c.send(message{"id": id, "method": "workspace/executeCommand", "params": wire.Object{"command": "skewlens.profileTarget", "workDoneToken": id}})
	}
	first := <-running
	// Both others say that they wait; one of them gives up.
	waiting := map[string]any{"kind": "report", "message": "waiting for another run"}
	one := c.await(map[string]any{"method": "$/progress", "params": map[string]any{"value": waiting}})
	two := c.await(map[string]any{"method": "$/progress", "params": map[string]any{"value": waiting}})
	token := one["params"].(map[string]any)["token"]
	c.tell("window/workDoneProgress/cancel", wire.Object{"token": token})
	c.await(map[string]any{"id": token, "result": map[string]any{"outcome": "cancelled"}})
	close(first)
	close(<-running)
	c.await(map[string]any{"id": two["params"].(map[string]any)["token"], "result": map[string]any{"outcome": "completed"}})
}

func TestClientThatDies(t *testing.T) {
	for name, die := range map[string]func(c *client){
		"closes its end":         func(c *client) { c.in.Close() },
		"in a header":            func(c *client) { c.raw("Content-Le"); c.in.Close() },
		"in a message":           func(c *client) { c.raw("Content-Length: 100\r\n\r\n{\"jsonrpc\""); c.in.Close() },
		"sends what is no frame": func(c *client) { c.raw("hello\r\n\r\n") },
		"says exit":              func(c *client) { c.tell("exit", nil) },
		"stops reading": func(c *client) {
			c.out.Close()
			c.tell("workspace/executeCommand", nil)
			c.send(message{"id": 1, "method": "no/such"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			f, started, ended := endless(dir)
			c := serve(t, Options{Runner: f})
			c.begin(dir, nil)
			c.send(message{"id": 1, "method": "workspace/executeCommand", "params": wire.Object{"command": "skewlens.profileTarget"}})
			<-started
			die(c)
			<-c.ended
			select {
			case <-ended:
			default:
				t.Error("the server ended before its target did")
			}
		})
	}
}

// Columns are counted as it was agreed, in both directions, on a line with

// characters of one, two and four bytes.

func TestPositionEncodings(t *testing.T) {
	for _, w := range []struct {
		offered []string
		agreed  string
		end     float64 // of the line
		second  float64 // emoji of the line: where it begins
		emoji   float64 // how wide they are
		é       float64
	}{
		{[]string{"utf-8", "utf-16"}, "utf-8", 47, 21, 4, 2},
		{[]string{"utf-32"}, "utf-32", 38, 18, 1, 1},
		{[]string{"utf-32", "utf-16"}, "utf-16", 41, 19, 2, 1},
		{[]string{"utf-7"}, "utf-16", 41, 19, 2, 1},
		{nil, "utf-16", 41, 19, 2, 1},
	} {
		dir := folder(t)
		path := filepath.Join(dir, "skewed.c")
		c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
		got := c.call("initialize", wire.Object{"rootUri": workspace.FileURI(dir), "capabilities": wire.Object{"general": wire.Object{"positionEncodings": w.offered}}})
		if !matches(got["result"], any(map[string]any{"capabilities": map[string]any{"positionEncoding": w.agreed}})) {
			t.Errorf("offered %v: %s", w.offered, textual(got))
		}
		c.tell("initialized", wire.Object{})
		c.open(path)
		c.command("skewlens.profileTarget")
		at := func(line, from, toLine, to float64) any {
			return map[string]any{"start": map[string]any{"line": line, "character": from}, "end": map[string]any{"line": toLine, "character": to}}
		}
		published := func(where any) {
			t.Helper()
			got := c.await(map[string]any{"method": "textDocument/publishDiagnostics"})
			if ds := got["params"].(map[string]any)["diagnostics"]; !matches(ds, any([]any{map[string]any{"range": where}})) {
				t.Errorf("%s: published %s, want %s", w.agreed, textual(ds), textual(where))
			}
		}
		edit := func(version int, where any, text string) {
			c.tell("textDocument/didChange", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "version": version}, "contentChanges": []wire.Object{{"range": where, "text": text}}})
		}
		published(at(6, 2, 6, w.end))
		edit(2, at(6, w.second, 6, w.second+w.emoji), "é\n") // the rest goes to a line of its own
		published(at(6, 2, 6, w.second+w.é))
		edit(3, at(6, w.second+w.é, 7, 0), "") // and comes back
		published(at(6, 2, 6, w.end-w.emoji+w.é))
	}
}

// A client whose process is gone needs no answer, nor anybody who holds its

// pipes; a number that is nobody's from the beginning says nothing.

func TestClientProcessIsGone(t *testing.T) {
	t.Parallel() // it takes as long as the server looks away
	begin := func(pid int) (in io.Writer, out io.Reader, ended chan error) {
		fromClient, in := io.Pipe()
		out, fromServer := io.Pipe()
		ended = make(chan error, 1)
		go func() { ended <- Serve(context.Background(), fromClient, fromServer, Options{}) }()
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":%d,"capabilities":{}}}`, pid)
		fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body)
		return in, out, ended
	}
	process := exec.Command("cat")
	life := must(process.StdinPipe())
	must(0, process.Start())
	_, out, ended := begin(process.Process.Pid)
	_ = must(io.ReadFull(out, make([]byte, 1))) // it has heard of the process, and writes
	life.Close()
	_ = process.Wait()
	if err := <-ended; err != nil {
		t.Error(err)
	}

	in, out, ended := begin(process.Process.Pid)
	r := bufio.NewReader(out)
	if data, err := wire.ReadFrame(r); err != nil || !strings.Contains(string(data), "capabilities") {
		t.Fatalf("got %s, %v", data, err)
	}
	const body = `{"jsonrpc":"2.0","id":2,"method":"workspace/executeCommand","params":{"command":"skewlens.causes"}}`
	fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	if data, err := wire.ReadFrame(r); err != nil || !strings.Contains(string(data), "targets") {
		t.Fatalf("got %s, %v", data, err)
	}
	in.(*io.PipeWriter).Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestBytesComeOneByOne(t *testing.T) {
	dir := folder(t)
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	body := `{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"capabilities":{},"rootUri":"` + string(workspace.FileURI(dir)) + `"}}`
	for _, b := range []byte(fmt.Sprintf("content-length:  %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%s", len(body), body)) {
		c.raw(string(rune(b)))
	}
	c.await(map[string]any{"id": "x", "result": map[string]any{}})
}

func TestWhatIsNotJSON(t *testing.T) {
	dir := folder(t)
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	for _, body := range []string{"{", "[]", "{}", "null", "7", `{"jsonrpc":"2.0","id":{},"method":"x"}`, "\xff\xfe", `{"id":99999999999,"method":"x"}`} {
		c.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
		c.await(map[string]any{"id": nil, "error": map[string]any{}})
	}
	c.begin(dir, nil) // and it goes on
}

// A run that panics or errs ends for everybody: for the progress bar, for the

// person, for the request and for the run that waits behind it.

func TestEveryRunEnds(t *testing.T) {
	dir := folder(t)
	put(t, filepath.Join(dir, workspace.ConfigName), "[[target]]\nprogram = \"skewed\"\nbuild = \"make\"\n")
	f := &fake{t: t, dir: dir}
	c := serve(t, Options{Runner: f})
	c.begin(dir, nil)
	profiles := func(end func() error) {
		f.run = func(context.Context, Target, func(Progress)) (*profile.Profile, error) { return nil, end() }
	}
	builds := func(end func() error) {
		f.build = func(context.Context, Target, func(string)) error { return end() }
	}
	for i, step := range []func(func() error){profiles, builds} {
		for j, end := range []func() error{func() error { return errors.New("a wall") }, func() error { panic("a bug") }} {
			what := []string{"a wall", "a bug"}[j]
			token := fmt.Sprint(i, j)
			step(end)
			c.send(message{"id": token, "method": "workspace/executeCommand", "params": wire.Object{"command": "skewlens.profileTarget", "workDoneToken": token}})
			shown := c.await(map[string]any{"method": "window/showMessage", "params": map[string]any{"type": 1.0}})
			if !strings.Contains(textual(shown), what) {
				t.Errorf("shown: %s, want %s", textual(shown), what)
			}
			c.await(map[string]any{"method": "$/progress", "params": map[string]any{"token": token, "value": map[string]any{"kind": "end"}}})
			c.await(map[string]any{"id": token, "result": map[string]any{"outcome": "failed"}})
		}
	}
	f.run, f.build = nil, nil
	if got := c.command("skewlens.profileTarget"); !matches(got["result"], any(map[string]any{"outcome": "completed"})) {
		t.Errorf("after them: %v", got)
	}
}

// The way there is guarded too: no request ends the server.

func TestPanicIsAnError(t *testing.T) {
	dir := folder(t)
	put(t, filepath.Join(dir, "skewed"), "program")
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}, CallSites: func(string) ([]profile.Location, error) { panic("a bug") }})
	c.begin(dir, nil)
	path := filepath.Join(dir, "skewed.c")
	c.open(path)
	for range 2 {
		if got := c.call("textDocument/codeLens", docOf(path)); !matches(got["error"], any(map[string]any{"code": -32603.0})) {
			t.Errorf("got %v", got)
		}
	}
}

func TestFailuresAreShownOnce(t *testing.T) {
	dir := folder(t)
	f := &fake{t: t, dir: dir}
	f.run = func(context.Context, Target, func(Progress)) (*profile.Profile, error) {
		return nil, errors.New("no\nluck")
	}
	c := serve(t, Options{Runner: f})
	c.begin(dir, nil)
	got := c.command("skewlens.profileTarget")
	if !matches(got["result"], any(map[string]any{"outcome": "failed", "message": "no luck"})) {
		t.Errorf("got %v", got)
	}
	c.await(map[string]any{"method": "window/showMessage", "params": map[string]any{"type": 1.0, "message": "skewlens: no luck"}})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.got {
		if m["method"] == "window/showMessage" {
			t.Errorf("shown again: %v", m)
		}
	}
}

func TestWithoutATarget(t *testing.T) {
	dir := t.TempDir()
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.begin(dir, nil)
	got := c.command("skewlens.profileSection")
	r, _ := got["result"].(map[string]any)
	if message := fmt.Sprint(r["message"]); r["outcome"] != "failed" || !strings.Contains(message, workspace.ConfigName) || !strings.Contains(message, "[[target]]") {
		t.Errorf("got %v", got)
	}
}

// What one end frames the other reads.
