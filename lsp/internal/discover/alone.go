package discover

import (
	"path/filepath"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// compiler is a command, to which names of files come, and what stands behind them.
type compiler struct{ before, after string }

var fortran = compiler{"gfortran -O2 -g", ""}

// Ways to compile files that no build system knows. A C file may use the math
// library, which other languages have anyway.
var compilers = map[string]compiler{
	".c":  {"cc -O2 -g -pthread", " -lm"},
	".cc": {"c++ -O2 -g -pthread", ""}, ".cpp": {"c++ -O2 -g -pthread", ""}, ".cxx": {"c++ -O2 -g -pthread", ""}, ".C": {"c++ -O2 -g -pthread", ""}, ".c++": {"c++ -O2 -g -pthread", ""},
	".rs":  {"rustc -O -g", ""},
	".f90": fortran, ".f95": fortran, ".f03": fortran, ".f08": fortran, ".f18": fortran, ".f": fortran, ".for": fortran, ".ftn": fortran,
	".F90": fortran, ".F95": fortran, ".F03": fortran, ".F08": fortran, ".F18": fortran, ".F": fortran, ".FOR": fortran, ".FTN": fortran,
	".go":  {"go build", ""},
	".d":   {"ldc2 -O2 -g", ""},
	".nim": {"nim c -d:release --debugger:native --threads:on", ""},
}

// begins is a main that stands where one is defined: not in a comment or in a text.
var begins = pattern.New(`(?m)^[ \t]*(?:extern\s+"C"\s+)?(?:[\w:<>\[\]()]+[ \t*&]+)*main\s*\(|^\s*#\s*define\s+(?:CATCH_CONFIG_MAIN|DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN)\b|(?im:^\s*program\s+\w)`)

// Alone is what is compiled without a build system, of which a file is a part.
func (f *Finder) Alone(root, path string) []Candidate {
	if path == "" {
		return nil
	}
	return f.alone(root, path)
}

// alone compiles the programs that a file is of, each from its own sources, where these
// lie in one folder; else there is nothing to offer.
func (f *Finder) alone(root, path string) (all []Candidate) {
	programs := f.together(path)
	if len(programs) == 0 && familyOf(path) == aHeader {
		programs = f.users(root, path)
	}
	for _, p := range programs {
		all = append(all, ranked(f.compile(root, p))...)
	}
	return all
}

// compile is a program that is compiled at once, and whether it is one of MPI's.
func (f *Finder) compile(root string, p sourced) (c Candidate, mpi bool) {
	path := p.files[0]
	with := compilers[filepath.Ext(path)]
	program := strings.TrimSuffix(path, filepath.Ext(path))
	if f.exists(program) && readProgram(program) == nil {
		program += ".out" // a folder, or a script: it stays
	}
	c = Candidate{Label: relative(root, program), Why: "compiled from this file alone"}
	if len(p.files) > 1 {
		c.Why = "compiled from the sources of this folder"
	}
	c.Name, c.Root, c.Cwd, c.Program = filepath.Base(program), root, root, program
	var names, texts []string
	for i, file := range append(f.inOrder(p.files), p.headers...) {
		text, _ := f.text(file)
		if texts = append(texts, text); i < len(p.files) {
			name := relative(root, file)
			if strings.HasPrefix(name, "-") {
				name = "./" + name // else it is a flag
			}
			names = append(names, workspace.Quote(name))
		}
	}
	text, from, to := strings.Join(texts, "\n"), " "+strings.Join(names, " "), " -o "+workspace.Quote(relative(root, program))
	mpi = familyOf(path) != inGo && ofMPI().MatchString(text)
	c.Asks = looks().MatchString(text) || filepath.Ext(path) == ".go" && goAsks().MatchString(text)
	if len(p.files) == 1 {
		if words := f.compiled(root, path); words != nil {
			c.Why += ", as compile_commands.json says"
			c.Build = strings.Join(words, " ") + " -g -pthread" + from + to + with.after
			return c, mpi
		}
	}
	switch filepath.Ext(path) {
	case ".go":
		c.Build = with.before + to + from
	case ".rs":
		c.Build = with.before + from + to
	case ".d":
		c.Build = with.before + from + " -of=" + workspace.Quote(relative(root, program))
	case ".nim":
		c.Build = with.before + " -o:" + workspace.Quote(relative(root, program)) + from
	default:
		if mpi {
			with.before = compilesMPI.Replace(with.before)
		}
		flags, libraries := needs(path, text)
		for _, dir := range above(root, filepath.Dir(path)) {
			if include := filepath.Join(dir, "include"); f.exists(include) {
				flags += " -I " + workspace.Quote(relative(root, include)) // as projects without a build of their own lie
			}
		}
		c.Build = with.before + flags + from + to + libraries + with.after
	}
	return c, mpi
}
