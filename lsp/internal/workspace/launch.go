package workspace

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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
// passed over in silence.
func (c *Config) readLaunch(dir, path string, data []byte) {
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

var variable = regexp.MustCompile(`\$\{[^}]*\}`)

func (v *variables) expand(s string) string {
	return variable.ReplaceAllStringFunc(s, func(m string) string {
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
