package workspace

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// usualThreads is what {threads} stands for where nobody says another number.
const usualThreads = 8

// TakeArguments takes a line as a person would write it behind the program's name:
// words, of which quotes and backslashes keep spaces together. It expands nothing.
func (t *Target) TakeArguments(line string) error {
	t.Args, t.Threads = nil, 0
	var word strings.Builder
	quote, escaped, inWord := rune(0), false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				t.Args = append(t.Args, word.String())
			}
			word.Reset()
			inWord = false
		case r == 0:
			return errors.New("a program's arguments cannot hold a zero character")
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 || escaped {
		return errors.New("the arguments end within quotes: close them")
	}
	if inWord {
		t.Args = append(t.Args, word.String())
	}
	if strings.Contains(line, "{threads}") {
		t.Threads = usualThreads
	}
	return nil
}

// TOML is the target as .skewlens.toml would have it.
func (t Target) TOML() string {
	relative := func(path string) string {
		if r, err := filepath.Rel(t.Root, path); err == nil && !strings.HasPrefix(r, "../") {
			return r
		}
		return path
	}
	cwd, stdin := "", ""
	if t.Stdin != "" {
		stdin = relative(t.Stdin)
	}
	if t.Cwd != t.Root {
		cwd = relative(t.Cwd)
	}
	libs := slices.Clone(t.Lib)
	for i, l := range libs {
		if r := relative(l); r != l && t.Cwd == t.Root {
			libs[i] = "./" + r
		}
	}
	out := struct {
		Target []any `toml:"target"`
	}{[]any{struct {
		Name    string   `toml:"name"`
		Build   string   `toml:"build,omitempty"`
		Program string   `toml:"program"`
		Args    []string `toml:"args,omitempty"`
		Threads int      `toml:"threads,omitempty"`
		Cwd     string   `toml:"cwd,omitempty"`

		Stdin    string            `toml:"stdin,omitempty"`
		Env      map[string]string `toml:"env,omitempty,inline"`
		Lib      []string          `toml:"lib,omitempty"`
		Launcher []string          `toml:"launcher,omitempty"`
		Follow   bool              `toml:"follow-exec,omitempty"`
	}{t.Name, t.Build, relative(t.Program), t.Args, t.Threads, cwd, stdin, t.Env, libs, t.Launcher, t.Follow}}}
	var b bytes.Buffer
	e := toml.NewEncoder(&b)
	e.SetIndentTables(false)
	if err := e.Encode(out); err != nil {
		return ""
	}
	return b.String()
}

// mapped is a path by the longest folder of path-map that it is in.
func (t Target) mapped(path string) (string, bool) {
	best := ""
	for from := range t.PathMap {
		if within(path, from) && len(from) > len(best) {
			best = from
		}
	}
	if best == "" {
		return "", false
	}
	return filepath.Join(t.PathMap[best], strings.TrimPrefix(path, best)), true
}
