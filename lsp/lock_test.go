package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/profile"
)

// overseen is a server without a pipe: its handlers are called one after the
// other, so that whoever holds the lock when something slow is done is who does
// it.
type overseen struct {
	*server
	t    *testing.T
	done map[string]int // what was done how often
}

func oversee(t *testing.T, opt Options) *overseen {
	o := &overseen{t: t, done: map[string]int{}}
	opt.Now = func() time.Time { o.slow("clock", ""); return noon }
	opt.Runner = &fake{t: t, dir: "",
		build: func(context.Context, Target, func(string)) error { o.slow("build", ""); return nil },
		run: func(_ context.Context, tg Target, progress func(Progress)) (*profile.Profile, error) {
			o.slow("run", "")
			progress(Progress{Output: "hello"})
			return canned(t, tg.Root), nil
		}}
	opt.CallSites = func(string) ([]profile.Location, error) { o.slow("call sites", ""); return nil, nil }
	o.server = newServer(opt)
	o.disk.Watch = o.slow
	o.conn = sent{o}
	return o
}

// slow is called by whatever takes time.
func (o *overseen) slow(op, path string) {
	o.done[op]++
	if path != "" {
		o.done[op+" "+filepath.Base(path)]++
	}
	if o.server == nil {
		return
	}
	if !o.mu.TryLock() {
		o.t.Errorf("%s %s under the server's lock", op, path)
		return
	}
	o.mu.Unlock()
}

// sent is a client that takes everything and answers nothing.
type sent struct{ o *overseen }

func (sent) Close() error                         { return nil }
func (sent) Done() <-chan struct{}                { return nil }
func (sent) Err() error                           { return nil }
func (sent) Go(context.Context, jsonrpc2.Handler) {}
func (c sent) Notify(_ context.Context, method string, params any) error {
	c.o.slow("send", method)
	_, err := json.Marshal(params)
	return err
}
func (sent) Call(context.Context, string, any, any) (jsonrpc2.ID, error) { return jsonrpc2.ID{}, nil }

func (o *overseen) call(method string, params any) any {
	o.t.Helper()
	data := must(json.Marshal(params))
	if f := notifications[method]; f != nil {
		if err := f(o.server, data); err != nil {
			o.t.Errorf("%s: %v", method, err)
		}
		return nil
	}
	v, err := requests[method](o.server, context.Background(), data)
	if err != nil {
		o.t.Errorf("%s: %v", method, err)
	}
	if _, err := json.Marshal(v); err != nil {
		o.t.Errorf("%s: %v", method, err)
	}
	return v
}

func (o *overseen) command(name string, args wire.Object) any {
	o.t.Helper()
	return o.call("workspace/executeCommand", wire.Object{"command": name, "arguments": []any{args}})
}

func (o *overseen) open(path string) {
	o.t.Helper()
	o.call("textDocument/didOpen", wire.Object{"textDocument": wire.Object{
		"uri": workspace.FileURI(path), "languageId": "c", "version": 1, "text": string(must(os.ReadFile(path)))}})
}

func (o *overseen) edit(path string, version int, insert string) {
	o.t.Helper()
	o.call("textDocument/didChange", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "version": version},
		"contentChanges": []wire.Object{{"range": protocol.Range{}, "text": insert}}})
}

// A whole session, in which nothing that takes time is done under the lock:
// no file is looked at, read or written, no program asked, no clock, and
// nothing sent, which is where all that is worded ends.
func TestNothingSlowUnderTheLock(t *testing.T) {
	dir := folder(t)
	config, path := filepath.Join(dir, workspace.ConfigName), filepath.Join(dir, "skewed.c")
	put(t, config, string(must(os.ReadFile(config)))+"build = \"make\"\nnonsense = 1\n")
	put(t, filepath.Join(dir, "skewed"), "program")
	o := oversee(t, Options{Cache: filepath.Join(t.TempDir(), "cache")})
	o.call("initialize", wire.Object{"rootUri": workspace.FileURI(dir), "capabilities": wire.Object{"window": wire.Object{"showDocument": wire.Object{"support": true}}}})
	o.call("initialized", nil)
	for range 2 { // with the document closed, and open
		o.command("skewlens.profileSection", wire.Object{})
		o.open(path)
	}
	uri := workspace.FileURI(path)
	at := wire.Object{"textDocument": wire.Object{"uri": uri}, "position": protocol.Position{Line: 6}, "range": protocol.Range{End: protocol.Position{Line: 99}}}
	for version, edit := range []string{"", "// new\n"} {
		if o.edit(path, version+2, edit); edit != "" {
			put(t, path, edit+string(must(os.ReadFile(path))))
		}
		o.call("textDocument/didSave", at)
		for _, method := range []string{"textDocument/hover", "textDocument/codeLens", "textDocument/inlayHint", "textDocument/codeAction"} {
			if got := textual(o.call(method, at)); edit == "" && len(got) < 50 {
				t.Errorf("%s: %s", method, got)
			}
		}
		for _, name := range []string{"causes", "nextCause", "compare", "targets", "cancel"} {
			o.command("skewlens."+name, wire.Object{"uri": uri})
		}
		o.command("skewlens.openReport", wire.Object{"format": "text"})
		o.command("skewlens.openReport", wire.Object{})
	}
	o.call("textDocument/didClose", at)
	put(t, config, "[[target]]\nprogram = \"skewed\"\n")
	o.call("workspace/didChangeWatchedFiles", wire.Object{})
	other := wire.Object{"uri": workspace.FileURI(folder(t)), "name": "other"}
	o.call("workspace/didChangeWorkspaceFolders", wire.Object{"event": wire.Object{"added": []any{other}, "removed": []any{other}}})
	o.command("skewlens.clear", wire.Object{})
	o.call("shutdown", nil)
	o.pages.Close()
	for _, op := range []string{"stat", "read", "write", "remove", "clock", "build", "run", "call sites", "send"} {
		if o.done[op] == 0 {
			t.Errorf("the session has no %s: it proves nothing about that", op)
		}
	}
}

// Keys have no file looked at, whatever is to be shown, and the configuration
// is read when it changes, whoever tells it.
func TestConfigurationIsReadOncePerChange(t *testing.T) {
	dir := folder(t)
	config, path := filepath.Join(dir, workspace.ConfigName), filepath.Join(dir, "skewed.c")
	o := oversee(t, Options{})
	o.call("initialize", wire.Object{"rootUri": workspace.FileURI(dir), "capabilities": wire.Object{}})
	o.call("initialized", nil)
	o.open(path)
	o.command("skewlens.profileTarget", wire.Object{})
	during := func(what string, stats, reads int, f func()) {
		t.Helper()
		s, r := o.done["stat"], o.done["read "+workspace.ConfigName]
		f()
		if s, r := o.done["stat"]-s, o.done["read "+workspace.ConfigName]-r; stats >= 0 && s != stats || r != reads {
			t.Errorf("%s: %d files were looked at, want %d, and the configuration was read %d times, want %d", what, s, stats, r, reads)
		}
	}
	if n := o.done["read "+workspace.ConfigName]; n != 1 {
		t.Errorf("it was read %d times before anything changed", n)
	}
	during("200 keys", 0, 0, func() {
		for i := range 200 {
			o.edit(path, i+2, "/")
			o.call("textDocument/hover", docOf(path))
			o.call("textDocument/inlayHint", docOf(path))
		}
	})
	during("lenses and commands", -1, 0, func() {
		o.call("textDocument/codeLens", docOf(path))
		o.command("skewlens.causes", wire.Object{})
	})
	put(t, config, "[[target]]\nprogram = \"skewed\"\n[[suppress]]\nfile = \"skewed.c\"\n")
	during("a watched change", -1, 1, func() {
		for range 5 {
			o.call("workspace/didChangeWatchedFiles", wire.Object{})
		}
	})
	put(t, config, "[[target]]\nprogram = \"skewed\"\n")
	during("one that nobody watches", -1, 1, func() {
		for range 5 {
			o.call("textDocument/codeLens", docOf(path))
		}
	})
	o.open(config)
	during("an open configuration", -1, 0, func() {
		for i := range 5 {
			o.edit(config, i+2, fmt.Sprintf("[[target]]\nname = \"n%d\"\nprogram = \"p\"\n", i))
			if got := textual(o.command("skewlens.targets", wire.Object{})); !strings.Contains(got, fmt.Sprintf(`"n%d"`, i)) {
				t.Errorf("targets: %s", got)
			}
		}
	})
}

// While the disk hangs, the client may go on typing and looking.
func TestADiskThatHangs(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "skewed.c")
	put(t, filepath.Join(dir, "skewed"), "program")
	for _, hangs := range []string{"stat skewed", "write *.json"} {
		var once sync.Once
		hung, goOn := make(chan struct{}), make(chan struct{})
		hang := func() { close(hung); <-goOn }
		ran := make(chan struct{})
		f := &fake{t: t, dir: dir, run: func(context.Context, Target, func(Progress)) (*profile.Profile, error) {
			close(ran)
			return canned(t, dir), nil
		}}
		c := serveWith(t, Options{Runner: f, Cache: filepath.Join(t.TempDir(), "cache")}, func(op, path string) {
			select {
			case <-ran:
			default:
				return
			}
			op1, pattern, _ := strings.Cut(hangs, " ")
			if ok, _ := filepath.Match(pattern, filepath.Base(path)); ok && op == op1 {
				once.Do(hang)
			}
		})
		c.begin(dir, nil)
		c.open(path)
		c.send(message{"id": "run", "method": "workspace/executeCommand", "params": wire.Object{"command": "skewlens.profileTarget"}})
		<-hung
		c.tell("textDocument/didChange", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "version": 2},
			"contentChanges": []wire.Object{{"range": protocol.Range{}, "text": "\n"}}})
		for _, method := range []string{"textDocument/hover", "textDocument/inlayHint"} {
			if got := c.call(method, docOf(path)); got["error"] != nil {
				t.Errorf("%s: %s", method, textual(got))
			}
		}
		if got := c.command("skewlens.cancel"); !matches(got["result"], any(map[string]any{"cancelled": 1.0})) {
			t.Errorf("cancel: %s", textual(got))
		}
		close(goOn)
		c.await(map[string]any{"id": "run"})
	}
}
