package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report/scaling"
)

// client is the other end of the wire: it sends bytes and reads messages.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *io.PipeReader
	ended chan error // what Serve returned

	mu   sync.Mutex
	came *sync.Cond
	got  []message // not awaited yet
	gone bool

	mute    bool                         // does not answer the server's requests
	answers map[string]func(message) any // else: by null, where there is none
	ids     int
}

type message map[string]any

// folder is one with the example and its configuration.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	copyTo(t, "testdata/skewed.c", filepath.Join(dir, "skewed.c"))
	put(t, filepath.Join(dir, workspace.ConfigName), "[[target]]\nname = \"skewed\"\nprogram = \"skewed\"\nargs = [\"{threads}\"]\nthreads = 4\n")
	return dir
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	put(t, to, string(data))
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// canned is the profile of the example, as if it had been built in dir.
func canned(t testing.TB, dir string) *profile.Profile {
	t.Helper()
	data, err := os.ReadFile("testdata/skewed.txt")
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ReadText(strings.NewReader(strings.ReplaceAll(string(data), "@DIR@", dir)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fake runs nothing. Without functions it returns the canned profile at once.
type fake struct {
	t     testing.TB
	dir   string
	build func(ctx context.Context, t Target, line func(string)) error
	run   func(ctx context.Context, t Target, progress func(Progress)) (*profile.Profile, error)
	scale func(ctx context.Context, t Target, progress func(Progress)) (*scaling.Report, error)
}

func (f *fake) Build(ctx context.Context, t Target, line func(string)) error {
	if f.build == nil {
		return nil
	}
	return f.build(ctx, t, line)
}

func (f *fake) Profile(ctx context.Context, t Target, progress func(Progress)) (*profile.Profile, error) {
	if f.run != nil {
		return f.run(ctx, t, progress)
	}
	progress(Progress{Output: "hello from the target"})
	progress(Progress{Elapsed: time.Second})
	return canned(f.t, f.dir), nil
}

func (f *fake) Scale(ctx context.Context, t Target, progress func(Progress)) (*scaling.Report, error) {
	if f.scale != nil {
		return f.scale(ctx, t, progress)
	}
	progress(Progress{Output: "hello from the target"})
	return scaled(f.dir), nil
}

var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

// serve starts a server and its client.
func serve(t *testing.T, opt Options) *client {
	t.Helper()
	return serveWith(t, opt, nil)
}

// serveWith is serve, of a server that watch looks over; nil: nothing does.
func serveWith(t *testing.T, opt Options, watch func(op, path string)) *client {
	t.Helper()
	if opt.Now == nil {
		opt.Now = func() time.Time { return noon }
	}
	fromClient, in := io.Pipe()
	out, fromServer := io.Pipe()
	c := &client{t: t, in: in, out: out, ended: make(chan error, 1)}
	c.came = sync.NewCond(&c.mu)
	s := newServer(opt)
	s.disk.Watch = watch
	go func() {
		err := s.serve(context.Background(), fromClient, fromServer)
		fromServer.Close()
		fromClient.Close()
		c.ended <- err
		close(c.ended)
	}()
	go c.read()
	t.Cleanup(func() { in.Close(); out.Close(); <-c.ended })
	return c
}

func (c *client) read() {
	in := bufio.NewReader(c.out)
	for {
		data, err := wire.ReadFrame(in)
		var m message
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err != nil {
			c.mu.Lock()
			c.gone = true
			c.mu.Unlock()
			c.came.Broadcast()
			return
		}
		if m["method"] != nil && m["id"] != nil && !c.mute {
			var result any
			if f := c.answers[m["method"].(string)]; f != nil {
				result = f(m)
			}
			c.send(message{"id": m["id"], "result": result})
		}
		c.mu.Lock()
		c.got = append(c.got, m)
		c.mu.Unlock()
		c.came.Broadcast()
	}
}

func (c *client) send(m message) {
	m["jsonrpc"] = "2.0"
	data, err := json.Marshal(m)
	if err != nil {
		c.t.Error(err)
	}
	c.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(data), data))
}

func (c *client) raw(s string) { _, _ = io.WriteString(c.in, s) }

// await takes the first message that matches. What has an id alone is an
// answer; the server's own requests have ids too.
func (c *client) await(want map[string]any) message {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for i, m := range c.got {
			answer := want["id"] != nil && want["method"] == nil
			if matches(map[string]any(m), any(want)) && !(answer && m["method"] != nil) {
				c.got = append(c.got[:i:i], c.got[i+1:]...)
				return m
			}
		}
		if c.gone {
			all, _ := json.MarshalIndent(c.got, "", " ")
			w, _ := json.Marshal(want)
			c.t.Fatalf("the server ended, and this never came: %s\nwhat came:\n%s", w, all)
		}
		c.came.Wait()
	}
}

// matches: an wire.Object matches one that has at least its members.
func matches(got, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for k, v := range w {
			x, there := g[k]
			if !there || !matches(x, v) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !matches(g[i], w[i]) {
				return false
			}
		}
		return true
	case string:
		return got == w || w == "*"
	}
	return got == want
}

// call sends a request and awaits its answer.
func (c *client) call(method string, params any) message {
	c.t.Helper()
	c.ids++
	id := fmt.Sprintf("call-%d", c.ids)
	c.send(message{"id": id, "method": method, "params": params})
	return c.await(map[string]any{"id": id})
}

func (c *client) tell(method string, params any) {
	c.send(message{"method": method, "params": params})
}

// begin goes through the handshake.
func (c *client) begin(dir string, capabilities any) {
	c.t.Helper()
	if capabilities == nil {
		capabilities = wire.Object{}
	}
	c.call("initialize", wire.Object{"processId": nil, "rootUri": workspace.FileURI(dir), "capabilities": capabilities})
	c.tell("initialized", wire.Object{})
}

func (c *client) open(path string) {
	c.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	c.tell("textDocument/didOpen", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "languageId": "c", "version": 1, "text": string(data)}})
}

func (c *client) command(name string, args ...any) message {
	c.t.Helper()
	return c.call("workspace/executeCommand", wire.Object{"command": name, "arguments": args})
}

func textual(v any) string {
	b, _ := json.Marshal(v)
	return string(bytes.TrimSpace(b))
}

func docOf(path string) wire.Object {
	return wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path)}}
}
