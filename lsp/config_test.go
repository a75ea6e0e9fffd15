package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/skewlens/skewlens/profile"
)

func readConfig(content string) *config {
	c := &config{problems: map[string][]problem{}}
	c.readTOML("/w", "/w/.skewlens.toml", []byte(content))
	return c
}

func TestConfiguration(t *testing.T) {
	c := readConfig(`
[[target]]
name = "owner"
build = "cc owner.c"
program = "bin/owner"
args = ["{threads}", "x"]
threads = 8
env = { OMP_WAIT_POLICY = "passive" }
cwd = "sub"
[[target]]
program = "/abs/other"
[[suppress]]
file = "a.c"
line = "  if (x)  "
`)
	if len(c.problems) > 0 || len(c.targets) != 2 {
		t.Fatalf("targets %v, problems %v", c.targets, c.problems)
	}
	o := c.targets[0]
	if o.Program != "/w/bin/owner" || o.Cwd != "/w/sub" || o.Threads != 8 || len(o.Args) != 2 || o.Env["OMP_WAIT_POLICY"] != "passive" || o.Build != "cc owner.c" {
		t.Errorf("owner is %+v", o)
	}
	if a := c.targets[1]; a.Name != "other" || a.Program != "/abs/other" || a.Cwd != "/w" {
		t.Errorf("other is %+v", a)
	}
	if s := c.suppress[0]; !s.matches("/w/a.c", "f", "branch", "if (x)") || s.matches("/w/a.c", "f", "branch", "if (y)") || s.matches("/w/b.c", "f", "branch", "if (x)") {
		t.Errorf("suppression %+v", s)
	}
}

// Each mistake is said on its line, and what is right around it still counts.
func TestMistakesInTheConfiguration(t *testing.T) {
	for _, c := range []struct {
		content string
		line    int
		message string
		targets int
	}{
		{"[[target]\n", 0, "", 0},
		{"# x\n[[target]]\nprogram = 7\n", 2, "", 0},
		{"[[target]]\nprogram = \"a\"\nthread = 8\n", 2, "target.thread is not known here", 1},
		{"\n\n[[target]]\nname = \"a\"\n", 2, "no program", 0},
		{"[[target]]\nprogram = \"a\"\n\n[[target]]\nprogram = \"a\"\n", 3, "two targets", 1},
		{"[[target]]\nprogram = \"a\"\nthreads = -1\n", 0, "threads = -1", 0},
		{"[[target]]\nprogram = \"a\"\nargs = [\"{threads}\"]\n", 0, "{threads}", 0},
		{"[[suppress]]\nkind = \"loop\"\n", 0, "without a file", 0},
	} {
		got := readConfig(c.content)
		ps := got.problems["/w/.skewlens.toml"]
		if len(ps) != 1 || ps[0].at.line != c.line || !strings.Contains(ps[0].message, c.message) || len(got.targets) != c.targets {
			t.Errorf("%q: targets %v, problems %+v; want one on line %d with %q", c.content, got.targets, ps, c.line, c.message)
		}
	}
}

func TestLaunchJSON(t *testing.T) {
	c := &config{problems: map[string][]problem{}}
	c.readLaunch("/w", "/w/.vscode/launch.json", []byte(`{
	// comment with "quotes" and /* more */
	"version": "0.2.0", /* , */
	"configurations": [
		{ "name": "Debug", "type": "cppdbg", "request": "launch", "program": "${workspaceFolder}/a.out",
		  "args": ["8", "//not a comment",], "environment": [{"name": "X", "value": "1"}], "cwd": "${workspaceFolder}/run", },
		{ "name": "One string", "type": "lldb", "request": "launch", "program": "b", "args": "1 2" },
		{ "name": "Attach", "type": "cppdbg", "request": "attach", "program": "x" },
		{ "name": "Script", "type": "python", "request": "launch", "program": "x.py" },
		{ "name": "Asks", "type": "cppdbg", "request": "launch", "program": "${input:which}" },
		{ "name": "Go", "type": "go", "request": "launch", "mode": "exec", "program": "g" },
	],
}`))
	names := []string{}
	for _, x := range c.targets {
		names = append(names, x.Name)
	}
	if strings.Join(names, ",") != "Debug,One string,Go" {
		t.Fatalf("targets %v", names)
	}
	if d := c.targets[0]; d.Program != "/w/a.out" || d.Cwd != "/w/run" || d.Env["X"] != "1" || d.Args[1] != "//not a comment" {
		t.Errorf("Debug is %+v", d)
	}
	if a := c.targets[1].Args; len(a) != 2 || a[1] != "2" {
		t.Errorf("One string has arguments %q", a)
	}
}

// A mistake is a diagnostic in the file, and goes when it is mended, in the
// buffer or, for a client that watches files, on disk.
func TestConfigurationIsDynamic(t *testing.T) {
	dir := workspace(t)
	path := filepath.Join(dir, configName)
	put(t, path, "[[target]]\nprogram = \"skewed\"\nthreads = \"8\"\n")
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}})
	c.begin(dir, nil)
	published := func(diagnostics ...any) map[string]any {
		if diagnostics == nil {
			diagnostics = []any{}
		}
		return map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": string(fileURI(path)), "diagnostics": diagnostics}}
	}
	wrong := map[string]any{"severity": 1.0, "source": "skewlens", "range": map[string]any{"start": map[string]any{"line": 2.0}}}
	c.await(published(wrong))
	c.tell("textDocument/didOpen", object{"textDocument": object{"uri": fileURI(path), "languageId": "toml", "version": 1, "text": "[[target]]\nprogram = \"skewed\"\n"}})
	c.await(published())
	c.tell("textDocument/didClose", docOf(path))
	c.await(published(wrong))
	put(t, path, "[[target]]\nprogram = \"skewed\"\nname = \"mended\"\n")
	c.tell("workspace/didChangeWatchedFiles", object{"changes": []any{}})
	c.await(published())
	if got := c.command("skewlens.targets"); !matches(got["result"], any([]any{map[string]any{"name": "mended"}})) {
		t.Errorf("targets: %s", textual(got))
	}
	put(t, path, "[[target]]\nprogram = \"skewed\"\nname = \"again, unwatched\"\n")
	if got := c.command("skewlens.targets"); !matches(got["result"], any([]any{map[string]any{"name": "again, unwatched"}})) {
		t.Errorf("targets: %s", textual(got))
	}
}

func TestSeveralRootsAndTargets(t *testing.T) {
	one, two := workspace(t), workspace(t)
	put(t, filepath.Join(two, configName), "[[target]]\nprogram = \"x\"\n[[target]]\nprogram = \"y\"\n")
	f := &fake{t: t, dir: one}
	c := serve(t, Options{Runner: f})
	c.call("initialize", object{"workspaceFolders": []object{{"uri": fileURI(one), "name": "1"}, {"uri": fileURI(two), "name": "2"}}, "capabilities": object{}})
	c.tell("initialized", object{})
	for _, w := range []struct {
		args object
		want string
	}{
		{object{}, "skewed"},
		{object{"uri": fileURI(filepath.Join(two, "skewed.c"))}, "x"},
		{object{"uri": fileURI(filepath.Join(two, "skewed.c")), "target": "y"}, "y"},
	} {
		if got := c.command("skewlens.profileTarget", w.args); !matches(got["result"], any(map[string]any{"target": w.want})) {
			t.Errorf("%v ran %s, want %s", w.args, textual(got), w.want)
		}
	}
	c.tell("workspace/didChangeWorkspaceFolders", object{"event": object{"removed": []object{{"uri": fileURI(one)}}, "added": []object{}}})
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
		put(t, filepath.Join(dir, configName), toml)
	}
	must(0, os.Rename(home+"/link/"+configName, home+"/link/real"))
	must(0, os.Symlink("real", home+"/link/"+configName))
	if os.Getuid() == 0 {
		must(0, os.Chown(home+"/other/"+configName, 65534, 65534))
	} else {
		must(0, os.Remove(home+"/other/"+configName))
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
		c.call("initialize", object{"processId": nil, "rootUri": nil, "capabilities": object{}})
		c.tell("initialized", object{})
		c.open(w.file)
		if config := filepath.Join(filepath.Dir(w.file), configName); w.root == "" && exists(config) {
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

	// The client's own folders are meant, where it has some.
	c := serve(t, Options{Runner: nil})
	c.begin(home+"/a/b/c", nil)
	c.open(home + "/a/x.c")
	if got := c.command("skewlens.targets"); !matches(got["result"], any([]any{})) {
		t.Errorf("beside a workspace folder: %s", textual(got))
	}
	quit(c)

	// One that is made later counts from the next save on.
	c = serve(t, Options{Runner: nil})
	c.call("initialize", object{"processId": nil, "rootUri": nil, "capabilities": object{}})
	c.tell("initialized", object{})
	c.open(home + "/x.c")
	put(t, home+"/"+configName, toml)
	c.tell("textDocument/didSave", docOf(home+"/x.c"))
	if got := c.command("skewlens.targets"); !matches(got["result"], any([]any{map[string]any{"root": home, "program": home + "/p"}})) {
		t.Errorf("after a save: %s", textual(got))
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func FuzzJSONC(f *testing.F) {
	f.Add([]byte(`{"a": [1, 2,], /* x */ "b": "//", // y
}`))
	f.Add([]byte(`"\`))
	f.Add([]byte("/*"))
	f.Add([]byte(`{"configurations":[{"name":"a","type":"lldb","request":"launch","program":"${env:X}","args":"a b"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		out := plainJSON(in)
		if len(out) != len(in) {
			t.Fatal("offsets moved")
		}
		if json.Valid(in) && string(in[:min(3, len(in))]) != "\xef\xbb\xbf" {
			if string(out) != string(in) {
				t.Fatalf("%q is JSON already, and became %q", in, out)
			}
		}
		c := &config{problems: map[string][]problem{}}
		c.readLaunch("/w", "/w/launch.json", in)
		for _, x := range c.targets {
			if !filepath.IsAbs(x.Program) || !filepath.IsAbs(x.Cwd) {
				t.Fatalf("target %+v", x)
			}
		}
	})
}

func FuzzConfiguration(f *testing.F) {
	f.Add([]byte("[[target]]\nprogram = \"a\"\nargs = [\"{threads}\"]\nthreads = 8\nenv = {A = \"b\"}\n[[suppress]]\nfile = \"x\"\n"))
	f.Add([]byte("target = [{program = \"a\"}, {program = \"b\"}]"))
	f.Add([]byte("[[target]]\n[[target.x]]\n[target]"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c := readConfig(string(in))
		for _, x := range c.targets {
			if !filepath.IsAbs(x.Program) || x.Name == "" || x.Threads < 0 {
				t.Fatalf("target %+v", x)
			}
		}
		for _, ps := range c.problems {
			for _, p := range ps {
				if p.at.line < 0 || p.message == "" {
					t.Fatalf("problem %+v", p)
				}
			}
		}
	})
}

// What is written for TOML reads back as it was.
func FuzzTOMLString(f *testing.F) {
	f.Add("if (x == \"\\\")\t\x00\x7f🙂")
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		c := readConfig("[[suppress]]\nfile = \"/a\"\nfunction = " + tomlString(s) + "\n")
		if len(c.suppress) != 1 || c.suppress[0].Function != s {
			t.Fatalf("%q became %+v %v", s, c.suppress, c.problems)
		}
	})
}

func FuzzScan(f *testing.F) {
	f.Add("int x; /* BARRIER() */ pthread_join(a, b); // x\n#pragma omp parallel for\n a / b / c\n/*")
	f.Add("a.f90:0:1:\nError: of no place")
	f.Fuzz(func(t *testing.T, s string) {
		x := newText(s)
		for _, l := range []string{"c", "rust", "fortran"} {
			for _, line := range scan(x, l, "") {
				if line < 0 || line >= x.lines() {
					t.Fatal(line)
				}
			}
		}
		b := &buildLog{dir: "/w"}
		for _, line := range strings.Split(s, "\n") {
			b.add(line)
		}
	})
}

func TestScan(t *testing.T) {
	for line, want := range map[string]bool{
		"  pthread_barrier_wait(&b);":                 true,
		"    pthread_join(t[i], NULL);":               true,
		"  BARRIER(Global->start, P)":                 true,
		"#define BARRIER(b) {pthread_mutex_lock(b)":   false,
		"  BARRIER_INIT(x, 4);":                       false,
		"  BARINIT(x)":                                false,
		"  sync.arrive_and_wait();":                   true,
		"  worker.join();":                            true,
		"#pragma omp parallel for":                    true,
		"# pragma omp target teams parallel":          true,
		"#pragma omp atomic":                          false,
		"// pthread_join(a, b)":                       false,
		"/* pthread_join( */ f();":                    false,
		"/* x */ pthread_join(a, b); /*":              true,
		"extern int pthread_join(pthread_t, void**);": false,
		"int joined(int x);":                          false,
		"a = b / c / d; pthread_join(a, 0);":          true,
	} {
		if got := len(scan(newText(line), "c", "")) == 1; got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	if len(scan(newText("  h.join().unwrap();"), "rust", "")) != 1 || len(scan(newText("!$OMP PARALLEL DO"), "", "a.f90")) != 1 || len(scan(newText("pthread_join("), "python", "a.py")) != 0 {
		t.Error("other languages")
	}
}

// A workspace is somebody else's. To open, edit, hover and save in it builds,
// runs and writes nothing, whatever it holds; what is wrong with its
// configuration is said there, on its line.
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
			put(t, filepath.Join(dir, launchName), "{")
		}, -1, ""},
		"a launch.json": {func(dir, config string) {
			put(t, filepath.Join(dir, launchName), `{"configurations": [{"name": "x", "type": "lldb", "request": "launch", "program": "/bin/rm", "args": ["-rf", "."], "preLaunchTask": "touch pwned"}]}`)
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
		"a link to itself":      {func(dir, config string) { must(0, os.Symlink(configName, config)) }, 0, "cannot be read"},
		"a pipe":                {func(dir, config string) { fifo(config) }, 0, "it is not a regular file"},
		"a folder":              {func(dir, config string) { put(t, config+"/x", "") }, 0, "it is not a regular file"},
		"a huge file":           {func(dir, config string) { put(t, config, ""); must(0, os.Truncate(config, 1<<40)) }, 0, "it is larger than 1 MB"},
		"zero bytes":            {func(dir, config string) { put(t, config, greedy+"\x00\x00") }, 7, ""},
		"a zero byte in a name": {func(dir, config string) { put(t, config, "\n[[target]]\nprogram = \"a\\u0000b\"\n") }, 1, "zero character"},
		"no UTF-8":              {func(dir, config string) { put(t, config, "# x\n[[target]]\nprogram = \"\xff\xfe\"\n") }, 2, ""},
		"no end":                {func(dir, config string) { put(t, config, "[[target]]\nprogram = \"a\"\nargs = [[[[[[") }, 2, ""},
		"too many": {func(dir, config string) {
			var b strings.Builder
			for i := range maxTargets + 9 {
				fmt.Fprintf(&b, "[[target]]\nprogram = \"%d\"\n", i)
			}
			put(t, config, b.String())
		}, 2 * maxTargets, "more than 64 targets"},
	} {
		t.Run(name, func(t *testing.T) {
			top := must(filepath.EvalSymlinks(t.TempDir()))
			dir, cache := filepath.Join(top, "workspace"), filepath.Join(top, "cache")
			for _, env := range []string{"HOME", "TMPDIR", "XDG_CACHE_HOME"} {
				t.Setenv(env, filepath.Join(top, env))
			}
			path, config := filepath.Join(dir, "skewed.c"), filepath.Join(dir, configName)
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
				got := c.await(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": string(fileURI(config))}})
				d := got["params"].(map[string]any)["diagnostics"].([]any)
				if !matches(d[0], any(map[string]any{"range": map[string]any{"start": map[string]any{"line": w.line}}})) || !strings.Contains(textual(d), w.says) {
					t.Errorf("diagnostics %s, want line %v and %q", textual(d), w.line, w.says)
				}
			}
			for _, p := range []string{path, filepath.Join(dir, "pipe.c"), config} {
				uri := fileURI(p)
				c.tell("textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": "c", "version": 1, "text": "pthread_join(a, b);\n"}})
				for _, method := range []string{"textDocument/codeLens", "textDocument/hover", "textDocument/inlayHint", "textDocument/codeAction"} {
					if got := c.call(method, docOf(p)); got["error"] != nil {
						t.Errorf("%s: %s", method, textual(got))
					}
				}
				c.tell("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": 2}, "contentChanges": []object{{"text": greedy}}})
				c.tell("textDocument/didSave", docOf(p))
				c.call("textDocument/codeLens", docOf(p))
				c.tell("textDocument/didClose", docOf(p))
			}
			c.tell("workspace/didChangeWatchedFiles", object{"changes": []any{}})
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
