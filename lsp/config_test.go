package lsp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/profile"
)

// Each mistake is said on its line, and what is right around it still counts.

// A mistake is a diagnostic in the file, and goes when it is fixed, in the

// buffer or, for a client that watches files, on disk.

func TestConfigurationIsDynamic(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, workspace.ConfigName)
	put(t, path, "[[target]]\nprogram = \"skewed\"\nthreads = \"8\"\n")
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.begin(dir, nil)
	published := func(diagnostics ...any) map[string]any {
		if diagnostics == nil {
			diagnostics = []any{}
		}
		return map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": string(workspace.FileURI(path)), "diagnostics": diagnostics}}
	}
	wrong := map[string]any{"severity": 1.0, "source": "skewlens", "range": map[string]any{"start": map[string]any{"line": 2.0}}}
	c.await(published(wrong))
	c.tell("textDocument/didOpen", wire.Object{"textDocument": wire.Object{"uri": workspace.FileURI(path), "languageId": "toml", "version": 1, "text": "[[target]]\nprogram = \"skewed\"\n"}})
	c.await(published())
	c.tell("textDocument/didClose", docOf(path))
	c.await(published(wrong))
	put(t, path, "[[target]]\nprogram = \"skewed\"\nname = \"fixed\"\n")
	c.tell("workspace/didChangeWatchedFiles", wire.Object{"changes": []any{}})
	c.await(published())
	if got := c.command("skewlens.targets"); !matches(got["result"], any([]any{map[string]any{"name": "fixed"}})) {
		t.Errorf("targets: %s", textual(got))
	}
	put(t, path, "[[target]]\nprogram = \"skewed\"\nname = \"again, unwatched\"\n")
	if got := c.command("skewlens.targets"); !matches(got["result"], any([]any{map[string]any{"name": "again, unwatched"}})) {
		t.Errorf("targets: %s", textual(got))
	}
}

func TestSeveralRootsAndTargets(t *testing.T) {
	one, two := folder(t), folder(t)
	put(t, filepath.Join(two, workspace.ConfigName), "[[target]]\nprogram = \"x\"\n[[target]]\nprogram = \"y\"\n")
	f := &fake{t: t, dir: one}
	c := serve(t, Options{Runner: f})
	c.call("initialize", wire.Object{"workspaceFolders": []wire.Object{{"uri": workspace.FileURI(one), "name": "1"}, {"uri": workspace.FileURI(two), "name": "2"}}, "capabilities": wire.Object{}})
	c.tell("initialized", wire.Object{})
	for _, w := range []struct {
		args wire.Object
		want string
	}{
		{wire.Object{}, "skewed"},
		{wire.Object{"uri": workspace.FileURI(filepath.Join(two, "skewed.c"))}, "x"},
		{wire.Object{"uri": workspace.FileURI(filepath.Join(two, "skewed.c")), "target": "y"}, "y"},
	} {
		if got := c.command("skewlens.profileTarget", w.args); !matches(got["result"], any(map[string]any{"target": w.want})) {
			t.Errorf("%v ran %s, want %s", w.args, textual(got), w.want)
		}
	}
	c.tell("workspace/didChangeWorkspaceFolders", wire.Object{"event": wire.Object{"removed": []wire.Object{{"uri": workspace.FileURI(one)}}, "added": []wire.Object{}}})
	if got := c.command("skewlens.targets"); len(got["result"].([]any)) != 2 {
		t.Errorf("targets: %s", textual(got))
	}
}

// A file that is opened without a workspace folder has the nearest

// configuration above it, if that is the user's own and not above the home

// folder. To find it runs nothing.

func TestConfigurationWithoutAWorkspaceFolder(t *testing.T) {
	const toml = "[[target]]\nprogram = \"p\"\n"
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(top, "home")
	t.Setenv("HOME", home)
	for _, dir := range []string{top, home + "/a", home + "/a/b", home + "/link", home + "/other"} {
		put(t, filepath.Join(dir, workspace.ConfigName), toml)
	}
	must(0, os.Rename(home+"/link/"+workspace.ConfigName, home+"/link/real"))
	must(0, os.Symlink("real", home+"/link/"+workspace.ConfigName))
	if os.Getuid() == 0 {
		must(0, os.Chown(home+"/other/"+workspace.ConfigName, 65534, 65534))
	} else {
		must(0, os.Remove(home+"/other/"+workspace.ConfigName))
	}
	for _, w := range []struct{ file, root string }{
		{home + "/a/b/c/d/x.c", home + "/a/b"},
		{home + "/a/x.c", home + "/a"},
		{home + "/x.c", ""},       // there is one above the home folder
		{home + "/link/x.c", ""},  // a link
		{home + "/other/x.c", ""}, // somebody else's
		{top + "/elsewhere/x.c", top},
	} {
		put(t, w.file, "void f(void) { pthread_join(a, b); }\n")
		c := serve(t, Options{Runner: nil}) // to run anything panics
		c.call("initialize", wire.Object{"processId": nil, "rootUri": nil, "capabilities": wire.Object{}})
		c.tell("initialized", wire.Object{})
		c.open(w.file)
		if config := filepath.Join(filepath.Dir(w.file), workspace.ConfigName); w.root == "" && exists(config) {
			c.open(config) // nor when one looks at it
		}
		want := []any{map[string]any{"root": w.root}}
		if w.root == "" {
			want = []any{}
		}
		if got := c.command("skewlens.targets"); !matches(got["result"], any(want)) {
			t.Errorf("%s: %s, want %v", w.file, textual(got), want)
		}
		if got := textual(c.call("textDocument/codeLens", docOf(w.file))); !strings.Contains(got, "Profile parallel section") {
			t.Errorf("%s: lenses %s", w.file, got)
		}
		quit(c)
	}

	// Beside the client's own folders too: a file of none of them has its own.
	c := serve(t, Options{Runner: nil})
	c.begin(home+"/a/b/c", nil)
	c.open(home + "/a/x.c")
	if got := c.command("skewlens.targets"); !matches(got["result"], any([]any{map[string]any{"root": home + "/a"}})) {
		t.Errorf("beside a workspace folder: %s", textual(got))
	}
	quit(c)

	// One that is made later counts from the next save on.
	c = serve(t, Options{Runner: nil})
	c.call("initialize", wire.Object{"processId": nil, "rootUri": nil, "capabilities": wire.Object{}})
	c.tell("initialized", wire.Object{})
	c.open(home + "/x.c")
	put(t, home+"/"+workspace.ConfigName, toml)
	c.tell("textDocument/didSave", docOf(home+"/x.c"))
	if got := c.command("skewlens.targets"); !matches(got["result"], any([]any{map[string]any{"root": home, "program": home + "/p"}})) {
		t.Errorf("after a save: %s", textual(got))
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// What is written for TOML reads back as it was.

func TestLookingDoesNothing(t *testing.T) {
	const greedy = "[[target]]\nname = \"a\"\nprogram = \"../../../dev/zero\"\nbuild = \"touch pwned\"\nargs = [\"a\"]\ncwd = \"/\"\nenv = { LD_PRELOAD = \"./x.so\" }\n"
	fifo := func(path string) { must(0, syscall.Mkfifo(path, 0o600)) }
	for name, w := range map[string]struct {
		make func(dir, config string)
		line float64 // of the mistake; -1: there is none
		says string
	}{
		"all that can be asked for": {func(dir, config string) {
			put(t, config, greedy+"[[target]]\nname = \"dir\"\nprogram = \".\"\nbuild = \"touch pwned\"\n[[suppress]]\nfile = \"../../etc/passwd\"\n")
			put(t, filepath.Join(dir, workspace.LaunchName), "{")
		}, -1, ""},
		"a launch.json": {func(dir, config string) {
			put(t, filepath.Join(dir, workspace.LaunchName), `{"configurations": [{"name": "x", "type": "lldb", "request": "launch", "program": "/bin/rm", "args": ["-rf", "."], "preLaunchTask": "touch pwned"}]}`)
		}, -1, ""},
		"programs that are pipes, devices and no programs": {func(dir, config string) {
			fifo(filepath.Join(dir, "pipe"))
			must(0, os.Symlink("/dev/zero", filepath.Join(dir, "zero")))
			must(0, os.Symlink("loop", filepath.Join(dir, "loop")))
			put(t, filepath.Join(dir, "script"), "#!/bin/sh\ntouch pwned\n")
			must(0, os.Chmod(filepath.Join(dir, "script"), 0o755))
			put(t, config, "")
			for _, p := range []string{"pipe", "zero", "loop", "script", "../../../../../../../../dev/zero", "missing"} {
				put(t, config, string(must(os.ReadFile(config)))+"[[target]]\nbuild = \"touch pwned\"\nname = \""+p+"\"\nprogram = \""+p+"\"\n")
			}
		}, -1, ""},
		"a link to all zeros":   {func(dir, config string) { must(0, os.Symlink("/dev/zero", config)) }, 0, "it is not a regular file"},
		"a link to itself":      {func(dir, config string) { must(0, os.Symlink(workspace.ConfigName, config)) }, 0, "cannot be read"},
		"a pipe":                {func(dir, config string) { fifo(config) }, 0, "it is not a regular file"},
		"a folder":              {func(dir, config string) { put(t, config+"/x", "") }, 0, "it is not a regular file"},
		"a huge file":           {func(dir, config string) { put(t, config, ""); must(0, os.Truncate(config, 1<<40)) }, 0, "it is larger than 1 MB"},
		"zero bytes":            {func(dir, config string) { put(t, config, greedy+"\x00\x00") }, 7, ""},
		"a zero byte in a name": {func(dir, config string) { put(t, config, "\n[[target]]\nprogram = \"a\\u0000b\"\n") }, 1, "zero character"},
		"no UTF-8":              {func(dir, config string) { put(t, config, "# x\n[[target]]\nprogram = \"\xff\xfe\"\n") }, 2, ""},
		"no end":                {func(dir, config string) { put(t, config, "[[target]]\nprogram = \"a\"\nargs = [[[[[[") }, 2, ""},
		"too many": {func(dir, config string) {
			var b strings.Builder
			for i := range workspace.MaxTargets + 9 {
				fmt.Fprintf(&b, "[[target]]\nprogram = \"%d\"\n", i)
			}
			put(t, config, b.String())
		}, 2 * workspace.MaxTargets, "more than 64 targets"},
	} {
		t.Run(name, func(t *testing.T) {
			top := must(filepath.EvalSymlinks(t.TempDir()))
			dir, cache := filepath.Join(top, "workspace"), filepath.Join(top, "cache")
			for _, env := range []string{"HOME", "TMPDIR", "XDG_CACHE_HOME"} {
				t.Setenv(env, filepath.Join(top, env))
			}
			path, config := filepath.Join(dir, "skewed.c"), filepath.Join(dir, workspace.ConfigName)
			copyTo(t, "testdata/skewed.c", path)
			fifo(filepath.Join(dir, "pipe.c"))
			w.make(dir, config)
			before := tree(t, top)
			reads := func(program string) ([]profile.Location, error) {
				if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() {
					t.Errorf("it would read %s", program)
				}
				return nil, errors.New("no program")
			}
			c := serve(t, Options{Runner: nil, CallSites: reads, Cache: cache}) // a nil Runner: to run anything panics
			c.begin(dir, nil)
			if w.line >= 0 {
				got := c.await(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": string(workspace.FileURI(config))}})
				d := got["params"].(map[string]any)["diagnostics"].([]any)
				if !matches(d[0], any(map[string]any{"range": map[string]any{"start": map[string]any{"line": w.line}}})) || !strings.Contains(textual(d), w.says) {
					t.Errorf("diagnostics %s, want line %v and %q", textual(d), w.line, w.says)
				}
			}
			for _, p := range []string{path, filepath.Join(dir, "pipe.c"), config} {
				uri := workspace.FileURI(p)
				c.tell("textDocument/didOpen", wire.Object{"textDocument": wire.Object{"uri": uri, "languageId": "c", "version": 1, "text": "pthread_join(a, b);\n"}})
				for _, method := range []string{"textDocument/codeLens", "textDocument/hover", "textDocument/inlayHint", "textDocument/codeAction"} {
					if got := c.call(method, docOf(p)); got["error"] != nil {
						t.Errorf("%s: %s", method, textual(got))
					}
				}
				c.tell("textDocument/didChange", wire.Object{"textDocument": wire.Object{"uri": uri, "version": 2}, "contentChanges": []wire.Object{{"text": greedy}}})
				c.tell("textDocument/didSave", docOf(p))
				c.call("textDocument/codeLens", docOf(p))
				c.tell("textDocument/didClose", docOf(p))
			}
			c.tell("workspace/didChangeWatchedFiles", wire.Object{"changes": []any{}})
			for _, name := range []string{"skewlens.causes", "skewlens.targets", "skewlens.nextCause", "skewlens.clear", "skewlens.cancel"} {
				if got := c.command(name); got["error"] != nil {
					t.Errorf("%s: %s", name, textual(got))
				}
			}
			quit(c)
			if after := tree(t, top); after != before {
				t.Errorf("there was\n%s\nand now there is\n%s", before, after)
			}
		})
	}
}

// tree lists all that is below a folder, and when it was written.

func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
