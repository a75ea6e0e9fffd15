package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/lsp/internal/text"
)

// MaxTargets of a folder count: their programs are read for lenses.
const MaxTargets = 64

// Target is a program to profile, and how to build it. Paths are absolute.
type Target struct {
	Name    string
	Root    string // the workspace folder
	Source  string // the file that says so
	Build   string // a command for the shell; empty: none
	First   string // stands for Build until it succeeded once; empty: Build does it
	Program string
	Args    []string // {threads} still in them
	Threads int      // 0: not said
	Cores   int      // virtual ones, on which threads are kept together; 0: none
	Units   bool     // look at the units in which work is dealt out
	Events  string   // what is counted, "edges" or "edges,cache"; "": edges
	Sample  string   // which part of the caches' sets is simulated, as "1/16"; "": all
	Machine string   // whose caches are simulated: a name, or a file; "": this one's
	Env     map[string]string
	Cwd     string

	Stdin string   // the file that the program reads; "": none
	Lib   []string // patterns of shared libraries that are counted too
	// Launcher starts the program's ranks, as mpirun does: a command and its arguments;
	// none: the program is started itself.
	Launcher []string
	Follow   bool              // profile what the program replaces itself by
	PathMap  map[string]string // folders as the compiler wrote them down, to those of this machine
	From     string            // where Program is empty: the source file whose program is looked for after the build
	For      string            // the source file that it was chosen for, where nobody wrote it down
}

// Config is what a folder says, and what is wrong with it.
type Config struct {
	Targets  []Target
	Suppress []Suppression
	Problems map[string][]Problem // by path
	Passed   []string             // what was to be run and cannot be, and why
}

// Problem is a mistake in a file.
type Problem struct {
	At       text.Point
	Message  string
	Severity protocol.DiagnosticSeverity
}

type configFile struct {
	Target   []configTarget `toml:"target"`
	Suppress []Suppression  `toml:"suppress"`
}

type configTarget struct {
	Name     string            `toml:"name"`
	Build    string            `toml:"build"`
	Program  string            `toml:"program"`
	Args     []string          `toml:"args"`
	Threads  int               `toml:"threads"`
	Cores    int               `toml:"cores"`
	Units    bool              `toml:"units"`
	Events   string            `toml:"events"`
	Machine  string            `toml:"machine"`
	Sample   string            `toml:"sample-sets"`
	Env      map[string]string `toml:"env"`
	Cwd      string            `toml:"cwd"`
	Stdin    string            `toml:"stdin"`
	Lib      []string          `toml:"lib"`
	Follow   bool              `toml:"follow-exec"`
	Launcher []string          `toml:"launcher"`
	PathMap  map[string]string `toml:"path-map"`
}

func (c *Config) problem(path string, p Problem) {
	if c.Problems == nil {
		c.Problems = map[string][]Problem{}
	}
	c.Problems[path] = append(c.Problems[path], p)
}

// readTOML reads .skewlens.toml. What is not known is said and passed over.
func (c *Config) readTOML(dir, path string, data []byte) {
	var f configFile
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // as editors on Windows begin a text
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&f)
	var strict *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &strict):
		for i := range strict.Errors {
			e := &strict.Errors[i]
			c.problem(path, at(e, fmt.Sprintf("%s is not known here: it is passed over", strings.Join(e.Key(), ".")), protocol.DiagnosticSeverityWarning))
		}
	case errors.As(err, &wrong):
		c.problem(path, at(wrong, inWords(wrong), protocol.DiagnosticSeverityError))
		return
	case err != nil:
		c.problem(path, Problem{Message: strings.TrimPrefix(err.Error(), "toml: "), Severity: protocol.DiagnosticSeverityError})
		return
	}
	where := tableLines(data)
	names := map[string]bool{}
	for i, t := range f.Target {
		line := 0
		if i < len(where) {
			line = where[i]
		}
		say := func(message string) {
			c.problem(path, Problem{At: text.Point{Line: line}, Message: message, Severity: protocol.DiagnosticSeverityError})
		}
		if i == MaxTargets {
			say(fmt.Sprintf("there are more than %d targets: this one and those after it are passed over", MaxTargets))
			break
		}
		if mistake := t.mistake(names); mistake != "" {
			say(mistake)
			continue
		}
		names[t.name()] = true
		c.Targets = append(c.Targets, t.target(dir, path))
	}
	for _, sup := range f.Suppress {
		if sup.File == "" {
			c.problem(path, Problem{Message: "a [[suppress]] without a file suppresses nothing: add file = \"…\"", Severity: protocol.DiagnosticSeverityWarning})
			continue
		}
		sup.File = below(dir, sup.File)
		sup.Line = strings.TrimSpace(sup.Line)
		c.Suppress = append(c.Suppress, sup)
	}
}

func (t configTarget) target(dir, source string) Target {
	out := Target{
		Name: t.name(), Root: dir, Source: source, Build: t.Build, Program: below(dir, t.Program),
		Args: t.Args, Threads: t.Threads, Cores: t.Cores, Units: t.Units, Events: t.Events, Machine: t.Machine, Sample: t.Sample, Env: t.Env, Cwd: below(dir, t.Cwd),
		Lib: t.Lib, Follow: t.Follow, Launcher: t.Launcher,
	}
	if t.Stdin != "" {
		out.Stdin = below(dir, t.Stdin)
	}
	for from, to := range t.PathMap {
		if out.PathMap == nil {
			out.PathMap = map[string]string{}
		}
		out.PathMap[filepath.Clean(from)] = below(dir, to)
	}
	return out
}

func (t configTarget) name() string {
	if t.Name == "" {
		return filepath.Base(t.Program)
	}
	return t.Name
}

// samples are the parts of caches' sets that can be simulated.
var samples = []string{"1/2", "1/4", "1/8", "1/16", "1/32"}

// mistake says why a target cannot be run; names are those before it.
func (t configTarget) mistake(names map[string]bool) string {
	args := strings.Join(t.Args, " ")
	switch {
	case t.Program == "":
		return "this target has no program: add program = \"…\", relative to the workspace"
	case names[t.name()]:
		return fmt.Sprintf("two targets are called %q: give each a name", t.name())
	case t.Threads < 0 || t.Threads > 1<<16:
		return fmt.Sprintf("threads = %d: give a number of threads, 1 or more", t.Threads)
	case t.Cores < 0 || t.Cores > 1<<16:
		return fmt.Sprintf("cores = %d: give a number of cores, 1 or more", t.Cores)
	case t.Events != "" && t.Events != "edges" && t.Events != "edges,cache":
		return fmt.Sprintf("events = %q: give edges, or edges,cache", t.Events)
	case t.Machine != "" && t.Events != "edges,cache":
		return "machine says whose caches are simulated, and none are: add events = \"edges,cache\""
	case t.Sample != "" && t.Events != "edges,cache":
		return "sample-sets says how much of caches is simulated, and none are: add events = \"edges,cache\""
	case t.Sample != "" && !slices.Contains(samples, t.Sample):
		return fmt.Sprintf("sample-sets = %q: give one of %s", t.Sample, strings.Join(samples, ", "))
	case t.Threads == 0 && strings.Contains(args, "{threads}"):
		return "args has {threads} but the target has no threads: add threads = 8"
	case len(t.Launcher) > 0 && strings.TrimSpace(t.Launcher[0]) == "":
		return "launcher names no command: launcher = [\"mpirun\", \"-n\", \"4\"]"
	case strings.ContainsRune(strings.Join(t.Launcher, "")+t.Program+t.Cwd+t.Stdin+args+strings.Join(t.Lib, ""), 0):
		return "a program's name and arguments cannot hold a zero character"
	}
	return ""
}

func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func at(e *toml.DecodeError, message string, severity protocol.DiagnosticSeverity) Problem {
	row, column := e.Position()
	return Problem{At: text.Point{Line: max(row-1, 0), Col: max(column-1, 0)}, Message: message, Severity: severity}
}

// takes is what a key takes, in words; texts where it is not here.
var takes = map[string]string{
	"threads": "a number, as threads = 8", "cores": "a number, as cores = 8", "units": "true or false", "follow-exec": "true or false",
	"args": "a list of texts, as args = [\"8\", \"input.txt\"]", "lib": "a list of texts, as lib = [\"libfft*\"]",
	"env": "a table of texts, as env = { NAME = \"value\" }", "path-map": "a table of texts, as path-map = { \"/build/src\" = \"src\" }",
	"target": "a table, headed [[target]]", "suppress": "a table, headed [[suppress]]",
}

// mismatch is how the decoder says that a value has another type than its key: in
// the terms of the program that reads it.
var mismatch = pattern.New(`^toml: cannot decode TOML (\w+) into `)

// inWords is a mistake of a value without the types of this program.
func inWords(e *toml.DecodeError) string {
	m := mismatch().FindStringSubmatch(e.Error())
	if m == nil || len(e.Key()) == 0 {
		return strings.TrimPrefix(e.Error(), "toml: ")
	}
	is := map[string]string{"string": "a text", "integer": "a whole number", "float": "a number with a point", "boolean": "true or false", "array": "a list"}[m[1]]
	return fmt.Sprintf("%s: this is %s, and it takes %s", strings.Join(e.Key(), "."), cmp.Or(is, m[1]), cmp.Or(takes[e.Key()[len(e.Key())-1]], "a text in quotes"))
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
