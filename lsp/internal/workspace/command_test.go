package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a person would type in the folder is what is built and run.
func TestTakeCommand(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "out/p"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(dir, "out/p"), 0o755); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"./out/p 8 'a b'":                         "p|W/out/p|8 a b||W|map[]|",
		"cd out && ./p":                           "p|W/out/p|||W/out|map[]|",
		"zig build && zig-out/bin/x {threads}":    "x|W/zig-out/bin/x|{threads}|zig build|W|map[]|",
		"cd lib && make && A=1 B='x y' ./test -v": "test|W/lib/test|-v|cd lib && make|W/lib|map[A:1 B:x y]|",
		"mpirun -n 4 out/p in":                    "p|W/out/p|in||W|map[]|mpirun -n 4",
		"./out/p 8 < data/in.txt":                 "p|W/out/p|8||W|map[]||W/data/in.txt",
		"make && sh run.sh":                       "sh|sh|run.sh|make|W|map[]|",
	} {
		got := Target{Root: dir}
		if err := got.TakeCommand(line); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got.Name == "sh" && filepath.IsAbs(got.Program) {
			got.Program = "sh"
		}
		said := fmt.Sprintf("%s|%s|%s|%s|%s|%v|%s", got.Name, got.Program, strings.Join(got.Args, " "), got.Build, got.Cwd, got.Env, strings.Join(got.Launcher, " "))
		if got.Follow != (got.Name == "p") {
			t.Errorf("%s: follows %v: only a script is a launcher", line, got.Follow)
		}
		if got.Stdin != "" {
			said += "|" + got.Stdin
		}
		if said = strings.ReplaceAll(said, dir, "W"); said != want {
			t.Errorf("%s: %s, want %s", line, said, want)
		}
		if back := (Target{Name: "x", Root: dir, Cwd: dir, Program: "/p", Env: got.Env}).TOML(); len(got.Env) > 0 && !strings.Contains(back, "env = {") {
			t.Errorf("written down as %s", back)
		}
	}
	for line, why := range map[string]string{"": "names no program", "make &&": "names no program", "A=1": "names no program", "./nowhere": "no program", "cd out && ./q": "no program", "'x": "quotes"} {
		got := Target{Root: dir}
		if err := got.TakeCommand(line); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", line, err)
		}
	}
}
