package lsp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Where a workspace says what to run.
const (
	configName = ".skewlens.toml"
	launchName = ".vscode/launch.json"
	maxConfig  = 1 << 20
	maxTargets = 64 // their programs are read for lenses
)

// Target is a program to profile, and how to build it. Paths are absolute.
type Target struct {
	Name    string
	Root    string // the workspace folder
	Source  string // the file that says so
	Build   string // a command for the shell; empty: none
	Program string
	Args    []string // {threads} still in them
	Threads int      // 0: not said
	Env     map[string]string
	Cwd     string
}

// suppression is a finding that is not to be shown.
type suppression struct {
	File     string `toml:"file"`
	Function string `toml:"function"`
	Kind     string `toml:"kind"`
	Line     string `toml:"line"`
}

// config is what a workspace folder says, and what is wrong with it.
type config struct {
	stamp    string // of the files it was read from
	targets  []Target
	suppress []suppression
	problems map[string][]problem // by path
}

// problem is a mistake in a file, by line and byte column from 0.
type problem struct {
	at       point
	message  string
	severity int
}

type configFile struct {
	Target []struct {
		Name    string            `toml:"name"`
		Build   string            `toml:"build"`
		Program string            `toml:"program"`
		Args    []string          `toml:"args"`
		Threads int               `toml:"threads"`
		Env     map[string]string `toml:"env"`
		Cwd     string            `toml:"cwd"`
	} `toml:"target"`
	Suppress []suppression `toml:"suppress"`
}

// refresh reads a folder's configuration again if its files changed. An open
// buffer counts before it is saved.
func (s *server) refresh(r *root) *config {
	own, launch := filepath.Join(r.path, configName), filepath.Join(r.path, launchName)
	if r.found && !ownFile(own) {
		r.conf = config{}
		return &r.conf
	}
	stamp := s.stamp(own) + s.stamp(launch)
	if stamp == r.conf.stamp {
		return &r.conf
	}
	delete(s.disk, own)
	delete(s.disk, launch)
	c := config{stamp: stamp, problems: map[string][]problem{}}
	if data, ok := s.configText(own, &c); ok {
		c.readTOML(r.path, own, data)
	}
	if data, ok := s.configText(launch, &c); ok && len(c.targets) == 0 && !r.found {
		c.readLaunch(r.path, launch, data)
	}
	r.conf = c
	return &r.conf
}

// stamp changes when a file does.
func (s *server) stamp(path string) string {
	if d := s.docs[path]; d != nil {
		return fmt.Sprintf("%p;", d.text)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "-;"
	}
	return fmt.Sprintf("%d %s;", info.Size(), info.ModTime().Format(time.RFC3339Nano))
}

func (s *server) configText(path string, c *config) ([]byte, bool) {
	if d := s.docs[path]; d != nil {
		return []byte(d.text.s), true
	}
	data, err := readBounded(path, maxConfig)
	if err != nil && !errors.Is(err, os.ErrNotExist) && filepath.Base(path) == configName {
		c.problem(path, problem{message: "this file cannot be read: " + err.Error(), severity: severityError})
	}
	return data, err == nil
}

func (c *config) problem(path string, p problem) {
	c.problems[path] = append(c.problems[path], p)
}

// readTOML reads .skewlens.toml. What is not known is said and passed over.
func (c *config) readTOML(dir, path string, data []byte) {
	var f configFile
	err := toml.NewDecoder(strings.NewReader(string(data))).DisallowUnknownFields().Decode(&f)
	var strict *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &strict):
		for i := range strict.Errors {
			e := &strict.Errors[i]
			c.problem(path, at(e, fmt.Sprintf("%s is not known here: it is passed over", strings.Join(e.Key(), ".")), severityWarning))
		}
	case errors.As(err, &wrong):
		c.problem(path, at(wrong, strings.TrimPrefix(wrong.Error(), "toml: "), severityError))
		return
	case err != nil:
		c.problem(path, problem{message: strings.TrimPrefix(err.Error(), "toml: "), severity: severityError})
		return
	}
	where := tableLines(data)
	names := map[string]bool{}
	for i, t := range f.Target {
		line := 0
		if i < len(where) {
			line = where[i]
		}
		say := func(format string, args ...any) {
			c.problem(path, problem{at: point{line, 0}, message: fmt.Sprintf(format, args...), severity: severityError})
		}
		if i == maxTargets {
			say("there are more than %d targets: this one and those after it are passed over", maxTargets)
			break
		}
		if t.Program == "" {
			say("this target has no program: add program = \"…\", relative to the workspace")
			continue
		}
		if t.Name == "" {
			t.Name = filepath.Base(t.Program)
		}
		switch {
		case names[t.Name]:
			say("two targets are called %q: give each a name", t.Name)
			continue
		case t.Threads < 0 || t.Threads > 1<<16:
			say("threads = %d: give a number of threads, 1 or more", t.Threads)
			continue
		case t.Threads == 0 && strings.Contains(strings.Join(t.Args, " "), "{threads}"):
			say("args has {threads} but the target has no threads: add threads = 8")
			continue
		case strings.ContainsRune(t.Program+t.Cwd+strings.Join(t.Args, ""), 0):
			say("a program's name and arguments cannot hold a zero character")
			continue
		}
		names[t.Name] = true
		c.targets = append(c.targets, Target{
			Name: t.Name, Root: dir, Source: path, Build: t.Build, Program: below(dir, t.Program),
			Args: t.Args, Threads: t.Threads, Env: t.Env, Cwd: below(dir, t.Cwd),
		})
	}
	for _, sup := range f.Suppress {
		if sup.File == "" {
			c.problem(path, problem{message: "a [[suppress]] without a file suppresses nothing: add file = \"…\"", severity: severityWarning})
			continue
		}
		sup.File = below(dir, sup.File)
		sup.Line = strings.TrimSpace(sup.Line)
		c.suppress = append(c.suppress, sup)
	}
}

func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func at(e *toml.DecodeError, message string, severity int) problem {
	row, column := e.Position()
	return problem{at: point{max(row-1, 0), max(column-1, 0)}, message: message, severity: severity}
}

// tableLines are the lines of the [[target]] headers.
func tableLines(data []byte) []int {
	var p unstable.Parser
	p.Reset(data)
	var lines []int
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.ArrayTable {
			continue
		}
		if it := e.Key(); it.Next() && string(it.Node().Data) == "target" && it.IsLast() {
			lines = append(lines, p.Shape(it.Node().Raw).Start.Line-1)
		}
	}
	return lines
}

// targets are all that the workspace can run, the default first.
func (s *server) targets() []Target {
	var out []Target
	for _, r := range s.roots {
		out = append(out, s.refresh(r).targets...)
	}
	return out
}

// matches reports whether a finding is one that is not to be shown.
func (p suppression) matches(path, function, kind, line string) bool {
	return p.File == path && (p.Function == "" || p.Function == function) &&
		(p.Kind == "" || p.Kind == kind) && (p.Line == "" || p.Line == line)
}
