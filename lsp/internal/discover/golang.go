package discover

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

var (
	mainPackage = pattern.New(`(?m)^package\s+main\b`)
	modulePath  = pattern.New(`(?m)^module\s+(\S+)`)
	workUses    = pattern.New(`(?m)^\s*(?:use\s+)?"?(\.[^\s"()]*)`)
	version     = pattern.New(`/v\d+$`)
	goAsks      = pattern.New(`\bos\.Args\b|\bflag\.`)
	benchmark   = pattern.New(`(?m)^func Benchmark\w*\(`)
)

// golang offers the programs of a file's module: that of its own folder, if it has
// one, else all. Each is built beside its source, as `go build` does it there. Where
// there is none, and of a test, it is the tests of the folder.
func (f *Finder) golang(root, path string) (all []Candidate) {
	dir := root
	if path != "" {
		dir = filepath.Dir(path)
	}
	for _, at := range above(root, dir) {
		text, ok := f.text(filepath.Join(at, "go.mod"))
		if !ok {
			continue
		}
		module := modulePath().FindStringSubmatch(text)
		if module == nil {
			return nil
		}
		if strings.HasSuffix(path, "_test.go") {
			return f.goTests(root, dir)
		}
		if path != "" {
			if c, ok := f.goProgram(root, at, module[1], dir); ok {
				return []Candidate{c}
			}
		}
		if all = f.goPrograms(root, at, module[1]); len(all) > 0 || path == "" {
			return all
		}
		return append(f.goTests(root, dir), f.goWorkspace(root, at)...)
	}
	return nil
}

// goPrograms are those of a module: its own, and those below cmd.
func (f *Finder) goPrograms(root, at, module string) (all []Candidate) {
	f.disk.Uses("read", at)
	folders, _ := filepath.Glob(filepath.Join(at, "cmd", "*"))
	for _, folder := range append([]string{at}, folders...) {
		if c, ok := f.goProgram(root, at, module, folder); ok {
			all = append(all, c)
		}
	}
	return all
}

// goWorkspace are the programs of the other modules of the workspace that a module is in.
func (f *Finder) goWorkspace(root, module string) (all []Candidate) {
	for _, dir := range above(root, module) {
		text, ok := f.text(filepath.Join(dir, "go.work"))
		if !ok {
			continue
		}
		for _, m := range workUses().FindAllStringSubmatch(text, -1) {
			at := filepath.Join(dir, m[1])
			if mod, ok := f.text(filepath.Join(at, "go.mod")); ok && at != module {
				if name := modulePath().FindStringSubmatch(mod); name != nil {
					all = append(all, f.goPrograms(root, at, name[1])...)
				}
			}
		}
		break
	}
	for i := range all {
		all[i].Why = "go.work"
	}
	return all
}

// goTests are the tests of a folder, if it has any, which run there, and its benchmarks.
func (f *Finder) goTests(root, dir string) []Candidate {
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if len(files) == 0 {
		return nil
	}
	name := filepath.Base(dir) + ".test"
	c := Candidate{Label: relative(root, filepath.Join(dir, name)), Why: "the tests of this folder"}
	c.Name, c.Root, c.Cwd, c.Program = name, root, dir, filepath.Join(dir, name)
	c.Build = in(root, dir, "go test -c -o "+workspace.Quote(name)+" .")
	all := []Candidate{c}
	if slices.ContainsFunc(files, func(file string) bool { return f.contains(file, benchmark()) }) {
		c.Label, c.Why, c.Args = c.Label+" -test.bench=.", "the benchmarks of this folder", []string{"-test.run=^$", "-test.bench=."}
		all = append(all, c)
	}
	return all
}

// function is the head of one of Go's, and tested what of it a test's is.
var (
	function = pattern.New(`(?m)^func\b(?: (\w+)\()?`)
	tested   = pattern.New(`^(Test|Benchmark|Fuzz)([^a-z]|$)`)
)

// TestAt is the tests of a folder or package, of which but that one is run that a line
// (from 0) of a file with tests is in; false where it is in none.
func (f *Finder) TestAt(root, path string, line int) (c Candidate, ok bool) {
	text, read := f.text(path)
	switch {
	case read && strings.HasSuffix(path, ".rs"):
		return f.rustTestAt(root, path, text, line)
	case !read || !strings.HasSuffix(path, "_test.go"):
		return c, false
	}
	name := ""
	for _, m := range function().FindAllStringSubmatchIndex(text, -1) {
		if strings.Count(text[:m[0]], "\n") > line {
			break
		}
		if name = ""; m[2] >= 0 && tested().MatchString(text[m[2]:m[3]]) {
			name = text[m[2]:m[3]]
		}
	}
	all := f.golang(root, path)
	if name == "" || len(all) == 0 {
		return c, false
	}
	c = all[0]
	c.Name += " " + name
	c.Args = []string{"-test.run=^" + name + "$"}
	if strings.HasPrefix(name, "Benchmark") {
		c.Args = []string{"-test.run=^$", "-test.bench=^" + name + "$"}
	}
	return c, true
}

// goProgram is what is built of a folder, if that is a program: one called like it,
// or, where that is the module itself, like the module.
func (f *Finder) goProgram(root, at, module, dir string) (c Candidate, ok bool) {
	f.disk.Uses("read", dir)
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, file := range files {
		text, read := f.text(file)
		if !read || strings.HasSuffix(file, "_test.go") {
			continue
		}
		if !mainPackage().MatchString(text) {
			return c, false
		}
		ok = true
		c.Asks = c.Asks || goAsks().MatchString(text)
	}
	if !ok {
		return c, false
	}
	name := filepath.Base(dir)
	if dir == at {
		name = filepath.Base(version().ReplaceAllString(module, ""))
	}
	program := filepath.Join(dir, name)
	if f.exists(program) && readProgram(program) == nil {
		program += ".out" // a folder, or a script: it stays
	}
	c.Label, c.Why = relative(root, program), "go.mod"
	c.Name, c.Root, c.Cwd, c.Program = name, root, root, program
	c.Build = in(root, dir, "go build -o "+workspace.Quote(filepath.Base(program))+" .")
	return c, true
}
