package workspace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
)

// launchFile is VS Code's launch.json, as far as it says what is run.
type launchFile struct {
	Configurations []struct {
		Name        string          `json:"name"`
		Type        string          `json:"type"`
		Request     string          `json:"request"`
		Mode        string          `json:"mode"` // of Go
		Program     string          `json:"program"`
		Args        json.RawMessage `json:"args"` // a list, or one string
		Cwd         string          `json:"cwd"`
		Before      json.RawMessage `json:"preLaunchTask"` // a label, or an object with a type
		Env         map[string]any  `json:"env"`
		Environment []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"environment"`
	} `json:"configurations"`
}

// native are the debuggers of native programs.
var native = map[string]bool{"cppdbg": true, "lldb": true, "lldb-dap": true, "gdb": true, "cppvsdbg": true}

// readLaunch reads launch.json. It is not ours, so what cannot be used is
// passed over; what was meant to be run and cannot be is told to who asks for it.
func (c *Config) readLaunch(dir, path string, data []byte, tasks map[string]string) {
	var f launchFile
	if json.Unmarshal(plainJSON(data), &f) != nil {
		return
	}
	names := map[string]bool{}
	for _, l := range f.Configurations {
		if !native[l.Type] && !(l.Type == "go" && l.Mode == "exec") || l.Request != "launch" || l.Program == "" {
			continue
		}
		v := &variables{dir: dir}
		t := Target{Name: v.expand(l.Name), Root: dir, Source: path, Program: v.expand(l.Program), Cwd: v.expand(l.Cwd), Env: map[string]string{}}
		var list []string
		var one string
		if json.Unmarshal(l.Args, &list) != nil && json.Unmarshal(l.Args, &one) == nil {
			list = strings.Fields(one)
		}
		for _, a := range list {
			t.Args = append(t.Args, v.expand(a))
		}
		for name, value := range l.Env {
			t.Env[name] = v.expand(fmt.Sprint(value))
		}
		for _, e := range l.Environment {
			t.Env[e.Name] = v.expand(e.Value)
		}
		var label string
		if json.Unmarshal(l.Before, &label) == nil {
			t.Build = tasks[label]
		}
		if v.unknown != "" {
			c.Passed = append(c.Passed, fmt.Sprintf("%s of launch.json has ${%s}, which only its extension knows", l.Name, v.unknown))
		}
		if len(c.Targets) == MaxTargets || v.unknown != "" || t.Name == "" || names[t.Name] || strings.ContainsRune(t.Program+t.Cwd+strings.Join(t.Args, ""), 0) {
			continue
		}
		names[t.Name] = true
		t.Program, t.Cwd = below(dir, t.Program), below(dir, t.Cwd)
		c.Targets = append(c.Targets, t)
	}
}

// variables are those of VS Code that mean something without an editor.
type variables struct {
	dir     string
	unknown string
}

var variable = pattern.New(`\$\{[^}]*\}`)

func (v *variables) expand(s string) string {
	return variable().ReplaceAllStringFunc(s, func(m string) string {
		name := m[2 : len(m)-1]
		switch {
		case name == "workspaceFolder" || name == "workspaceRoot":
			return v.dir
		case name == "workspaceFolderBasename":
			return filepath.Base(v.dir)
		case name == "userHome":
			home, _ := os.UserHomeDir()
			return home
		case name == "pathSeparator" || name == "/":
			return "/"
		case strings.HasPrefix(name, "env:"):
			return os.Getenv(strings.TrimPrefix(name, "env:"))
		}
		v.unknown = name
		return m
	})
}

// tasksFile is VS Code's tasks.json, as far as a launch can ask for it.
type tasksFile struct {
	Tasks []struct {
		Label   string            `json:"label"`
		Name    string            `json:"taskName"` // before version 2
		Type    string            `json:"type"`
		Command json.RawMessage   `json:"command"` // a text, or an object with a value
		Args    []json.RawMessage `json:"args"`
		Options struct {
			Cwd string `json:"cwd"`
		} `json:"options"`
	} `json:"tasks"`
}

// commanding are the types of tasks that run a command as "shell" and "process" do.
var commanding = map[string]bool{"": true, "shell": true, "process": true, "cppbuild": true}

// readTasks are the commands of tasks.json by label, each for a shell in the
// workspace folder. What needs an extension is left out.
func readTasks(w Workspace, path, dir string) map[string]string {
	data, err := configText(w, path)
	var f tasksFile
	if err != nil || json.Unmarshal(plainJSON(data), &f) != nil {
		return nil
	}
	out := map[string]string{}
	for _, t := range f.Tasks {
		v := &variables{dir: dir}
		command, isCommand := taskWord(v, t.Command)
		if !commanding[t.Type] || !isCommand || command == "" {
			continue
		}
		if t.Type == "process" || t.Type == "cppbuild" {
			command = Quote(command)
		}
		for _, a := range t.Args {
			word, _ := taskWord(v, a)
			command += " " + Quote(word)
		}
		if t.Options.Cwd != "" {
			if cwd := below(dir, v.expand(t.Options.Cwd)); cwd != dir {
				command = "cd " + Quote(cwd) + " && " + command
			}
		}
		if v.unknown == "" && !strings.ContainsRune(command, 0) {
			out[cmp.Or(t.Label, t.Name)] = command
		}
	}
	return out
}

// taskWord is a word of a task, which may come with how to quote it.
func taskWord(v *variables, data json.RawMessage) (string, bool) {
	var word string
	var object struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(data, &word) == nil {
		return v.expand(word), true
	}
	err := json.Unmarshal(data, &object)
	return v.expand(object.Value), err == nil
}

// Quote writes a word for a shell.
func Quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=,:@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
