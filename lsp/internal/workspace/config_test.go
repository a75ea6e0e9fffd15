package workspace

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func readConfig(content string) *Config {
	c := &Config{}
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
cores = 16
units = true
events = "edges,cache"
machine = "paper"
[[suppress]]
file = "a.c"
line = "  if (x)  "
`)
	if len(c.Problems) > 0 || len(c.Targets) != 2 {
		t.Fatalf("targets %v, problems %v", c.Targets, c.Problems)
	}
	o := c.Targets[0]
	if o.Program != "/w/bin/owner" || o.Cwd != "/w/sub" || o.Threads != 8 || len(o.Args) != 2 || o.Env["OMP_WAIT_POLICY"] != "passive" || o.Build != "cc owner.c" {
		t.Errorf("owner is %+v", o)
	}
	if a := c.Targets[1]; a.Name != "other" || a.Program != "/abs/other" || a.Cwd != "/w" || a.Cores != 16 || !a.Units || a.Events != "edges,cache" || a.Machine != "paper" || o.Cores != 0 || o.Units {
		t.Errorf("other is %+v", a)
	}
	if s := c.Suppress[0]; !s.matches("/w/a.c", "f", "branch", "if (x)") || s.matches("/w/a.c", "f", "branch", "if (y)") || s.matches("/w/b.c", "f", "branch", "if (x)") {
		t.Errorf("suppression %+v", s)
	}
}

// Editors on Windows begin a text with a mark, which is no part of it.
func TestConfigurationWithAMark(t *testing.T) {
	if c := readConfig("\ufeff[[target]]\r\nprogram = \"a\"\r\n"); len(c.Problems) > 0 || len(c.Targets) != 1 || c.Targets[0].Program != "/w/a" {
		t.Errorf("targets %v, problems %v", c.Targets, c.Problems)
	}
}

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
		{"[[target]]\nprogram = \"a\"\nevents = \"cache\"\n", 0, "edges,cache", 0},
		{"[[target]]\nprogram = \"a\"\nmachine = \"paper\"\n", 0, "edges,cache", 0},
		{"[[target]]\nprogram = \"a\"\nsample-sets = \"1/16\"\n", 0, "edges,cache", 0},
		{"[[target]]\nprogram = \"a\"\nevents = \"edges,cache\"\nsample-sets = \"1/5\"\n", 0, "1/2, 1/4", 0},
		{"[[target]]\nprogram = \"a\"\n\n[[target]]\nprogram = \"a\"\n", 3, "two targets", 1},
		{"[[target]]\nprogram = \"a\"\nthreads = -1\n", 0, "threads = -1", 0},
		{"[[target]]\nprogram = \"a\"\nargs = [\"{threads}\"]\n", 0, "{threads}", 0},
		{"[[suppress]]\nkind = \"loop\"\n", 0, "without a file", 0},
	} {
		got := readConfig(c.content)
		ps := got.Problems["/w/.skewlens.toml"]
		if len(ps) != 1 || ps[0].At.Line != c.line || !strings.Contains(ps[0].Message, c.message) || len(got.Targets) != c.targets {
			t.Errorf("%q: targets %v, problems %+v; want one on line %d with %q", c.content, got.Targets, ps, c.line, c.message)
		}
	}
}

func TestLaunchJSON(t *testing.T) {
	c := &Config{}
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
}`), nil)
	names := []string{}
	for _, x := range c.Targets {
		names = append(names, x.Name)
	}
	if strings.Join(names, ",") != "Debug,One string,Go" {
		t.Fatalf("targets %v", names)
	}
	if d := c.Targets[0]; d.Program != "/w/a.out" || d.Cwd != "/w/run" || d.Env["X"] != "1" || d.Args[1] != "//not a comment" {
		t.Errorf("Debug is %+v", d)
	}
	if a := c.Targets[1].Args; len(a) != 2 || a[1] != "2" {
		t.Errorf("One string has arguments %q", a)
	}
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
		c := &Config{}
		c.readLaunch("/w", "/w/launch.json", in, nil)
		for _, x := range c.Targets {
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
		for _, x := range c.Targets {
			if !filepath.IsAbs(x.Program) || x.Name == "" || x.Threads < 0 {
				t.Fatalf("target %+v", x)
			}
		}
		for _, ps := range c.Problems {
			for _, p := range ps {
				if p.At.Line < 0 || p.Message == "" {
					t.Fatalf("problem %+v", p)
				}
			}
		}
	})
}

func FuzzTOMLString(f *testing.F) {
	f.Add("if (x == \"\\\")\t\x00\x7f🙂")
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		c := readConfig(Suppression{File: "/a", Function: s}.TOML())
		if len(c.Suppress) != 1 || c.Suppress[0].Function != s {
			t.Fatalf("%q became %+v %v", s, c.Suppress, c.Problems)
		}
	})
}
