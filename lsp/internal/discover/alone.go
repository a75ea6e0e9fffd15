package discover

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// Ways to compile one file that no build system knows. A C file may use the math
// library, which other languages have anyway.
var compilers = map[string]struct{ before, after string }{
	".c":  {"cc -O2 -g -pthread", " -lm"},
	".cc": {"c++ -O2 -g -pthread", ""}, ".cpp": {"c++ -O2 -g -pthread", ""}, ".cxx": {"c++ -O2 -g -pthread", ""}, ".C": {"c++ -O2 -g -pthread", ""}, ".c++": {"c++ -O2 -g -pthread", ""},
	".rs":  {"rustc -O -g", ""},
	".f90": {"gfortran -O2 -g", ""}, ".f95": {"gfortran -O2 -g", ""}, ".f03": {"gfortran -O2 -g", ""}, ".f08": {"gfortran -O2 -g", ""}, ".f": {"gfortran -O2 -g", ""}, ".F90": {"gfortran -O2 -g", ""},
}

var (
	begins = regexp.MustCompile(`\bmain\s*\(|(?im:^\s*program\s+\w)`)
	openMP = regexp.MustCompile(`(?im)^\s*(#\s*pragma\s+omp\b|[!c*]\$omp\b)`)
)

// alone compiles a file that is a whole program; else there is nothing to offer.
func (f *Finder) alone(root, path string) []Candidate {
	with, ok := compilers[filepath.Ext(path)]
	text, read := f.text(path)
	if !ok || !read || !begins.MatchString(text) {
		return nil
	}
	program := strings.TrimSuffix(path, filepath.Ext(path))
	if f.exists(program) && readProgram(program) == nil {
		program += ".out" // a folder, or a script: it stays
	}
	c := Candidate{Label: relative(root, program), Why: "compiled from this file alone", Asks: looks.MatchString(text)}
	c.Name, c.Root, c.Cwd, c.Program = filepath.Base(program), root, root, program
	to := " " + workspace.Quote(relative(root, path)) + " -o " + workspace.Quote(relative(root, program)) + with.after
	if words := f.compiled(root, path); words != nil {
		c.Why += ", as compile_commands.json says"
		c.Build = strings.Join(words, " ") + " -g -pthread" + to
		return []Candidate{c}
	}
	flags := ""
	if openMP.MatchString(text) && filepath.Ext(path) != ".rs" {
		flags = " -fopenmp"
	}
	if filepath.Ext(path) != ".rs" {
		for _, dir := range above(root, filepath.Dir(path)) {
			if include := filepath.Join(dir, "include"); f.exists(include) {
				flags += " -I " + workspace.Quote(relative(root, include)) // as projects without a build of their own lie
			}
		}
	}
	c.Build = with.before + flags + to
	return []Candidate{c}
}
