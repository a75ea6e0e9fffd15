package workspace

import (
	"path/filepath"
	"strings"
	"testing"
)

// A value of the wrong type is told in words, with what its key takes.
func TestMistakesInWords(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`threads = "8"`, "target.threads: this is a text, and it takes a number, as threads = 8"},
		{`program = 3`, "target.program: this is a whole number, and it takes a text in quotes"},
		{`args = "a b"`, `target.args: this is a text, and it takes a list of texts, as args = ["8", "input.txt"]`},
		{`units = 1.5`, "target.units: this is a number with a point, and it takes true or false"},
		{`env = ["A=1"]`, `target.env: this is a list, and it takes a table of texts, as env = { NAME = "value" }`},
		{`threads = 99999999999999999999`, "decimal number is too large to fit in a 64-bit signed integer"},
	} {
		cfg := &Config{}
		cfg.readTOML("/w", "/w/f", []byte("[[target]]\n"+c.line+"\n"))
		got := cfg.Problems["/w/f"]
		if len(got) != 1 || got[0].Message != c.want || got[0].At.Line != 1 {
			t.Errorf("%s: %+v, want %s", c.line, got, c.want)
		}
	}
}

func TestMoreOfATarget(t *testing.T) {
	c := &Config{}
	c.readTOML("/w", "/w/f", []byte("[[target]]\nprogram = \"p\"\nstdin = \"in.txt\"\nlib = [\"libfft*\"]\nfollow-exec = true\npath-map = { \"/build/\" = \"src\" }\n"))
	if len(c.Problems) > 0 || len(c.Targets) != 1 {
		t.Fatalf("%+v", c)
	}
	got := c.Targets[0]
	if got.Stdin != "/w/in.txt" || len(got.Lib) != 1 || !got.Follow || got.PathMap["/build"] != "/w/src" {
		t.Errorf("%+v", got)
	}
	if to, ok := got.mapped("/build/a/x.c"); !ok || to != "/w/src/a/x.c" {
		t.Errorf("mapped to %s", to)
	}
	if _, ok := got.mapped("/builder/x.c"); ok {
		t.Error("another folder was mapped")
	}
}

// What launch.json has run before is a command of tasks.json; what only an
// extension knows is told.
func TestTasks(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, ".vscode/tasks.json"), `{"tasks": [
		{"label": "make it", "type": "shell", "command": "make", "args": ["-C", "a b", {"value": "all", "quoting": "strong"}]},
		{"label": "compile", "type": "cppbuild", "command": "/usr/bin/gcc", "args": ["-g", "${workspaceFolder}/x.c"], "options": {"cwd": "${workspaceFolder}/sub"}},
		{"label": "theirs", "type": "npm", "command": "x"}, {"label": "asks", "command": "${input:x}"}, {"label": "none"}]}`)
	put(t, filepath.Join(dir, ".vscode/launch.json"), `{"configurations": [
		{"name": "a", "type": "cppdbg", "request": "launch", "program": "a", "preLaunchTask": "make it"},
		{"name": "b", "type": "cppdbg", "request": "launch", "program": "b", "preLaunchTask": "compile"},
		{"name": "c", "type": "cppdbg", "request": "launch", "program": "c", "preLaunchTask": "theirs"},
		{"name": "d", "type": "cppdbg", "request": "launch", "program": "${command:cmake.launchTargetPath}", "preLaunchTask": {"type": "npm"}}]}`)
	d := &Disk{}
	w := New(d).WithRoot(NewRoot(d, dir))
	w = w.WithRead(w.Reread())
	var builds []string
	for _, t := range w.Targets() {
		builds = append(builds, t.Name+": "+strings.ReplaceAll(t.Build, dir, "W"))
	}
	want := "a: make -C 'a b' all\nb: cd W/sub && /usr/bin/gcc -g W/x.c\nc: "
	if got := strings.Join(builds, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if passed := w.Roots()[0].Passed; len(passed) != 1 || !strings.Contains(passed[0], "d of launch.json has ${command:cmake.launchTargetPath}") {
		t.Errorf("passed over: %q", passed)
	}
}

// What a person chose stays while files are read again, and gives way to what they
// say of that name.
func TestChosen(t *testing.T) {
	dir := t.TempDir()
	d := &Disk{}
	w := New(d).WithRoot(NewRoot(d, dir))
	w = w.WithRead(w.Reread())
	one := Target{Name: "one", Root: dir, Cwd: dir, Program: filepath.Join(dir, "one"), Build: "make", Args: []string{"a b", `"`}, Threads: 8}
	w = w.WithChosen(one).WithChosen(Target{Name: "two", Root: dir}).WithChosen(one)
	names := func() string {
		var out []string
		for _, t := range w.Targets() {
			out = append(out, t.Name+t.Source)
		}
		return strings.ReplaceAll(strings.Join(out, " "), dir, "W")
	}
	if got := names(); got != "two one" {
		t.Errorf("chosen: %s", got)
	}
	put(t, filepath.Join(dir, ConfigName), one.TOML())
	w = w.WithRead(w.Reread())
	if got := names(); got != "oneW/.skewlens.toml two" {
		t.Errorf("written down: %s", got)
	}
	back := w.Targets()[0]
	back.Source = ""
	if back.TOML() != one.TOML() || len(back.Args) != 2 || back.Args[1] != `"` {
		t.Errorf("it came back as %+v", back)
	}
}

func TestTakeArguments(t *testing.T) {
	for line, want := range map[string]string{
		"": "", "  8  input.txt ": "8|input.txt", `'a b' "c 'd" e\ f`: "a b|c 'd|e f", `""`: "", `x"y z"w`: "xy zw", `{threads}`: "{threads}", `'\' "\""`: `\|"`,
	} {
		var got Target
		if err := got.TakeArguments(line); err != nil || strings.Join(got.Args, "|") != want {
			t.Errorf("%q: %q, %v, want %q", line, got.Args, err, want)
		}
	}
	for _, line := range []string{`'a`, `a\`, "a\x00b"} {
		if err := new(Target).TakeArguments(line); err == nil {
			t.Errorf("%q was taken", line)
		}
	}
}
