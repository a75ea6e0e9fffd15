package discover

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

var makefiles = []string{"GNUmakefile", "makefile", "Makefile"} // as make looks for them

func (f *Finder) makefile(dir string) (text string, ok bool) {
	for _, name := range makefiles {
		if text, ok = f.text(filepath.Join(dir, name)); ok {
			return text, true
		}
	}
	return "", false
}

func makes(root, dir string) string {
	if dir == root {
		return "make"
	}
	return "make -C " + workspace.Quote(relative(root, dir))
}

// calledCompiler is a command that compiles, as far as we know its name.
const calledCompiler = `(ccache +)?(/\S*/)?([\w.]+-)*(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|gfortran|mpicc|mpicxx|mpic\+\+|mpifort|mpif90)(-[\d.]+)?`

var (
	saysLines = pattern.New(`(^|[\s='"])-g(gdb|dwarf|[0-3]\b|\s|$|['"])`)
	condition = pattern.New(`^ *(ifeq|ifneq|ifdef|ifndef|endif)\b`)
	assigns   = pattern.New(`^\s*((export|override)\s+)?[\w.]+\s*[:?+]*=`)
	sets      = pattern.New(`(?m)^ *(?:export\s+|override\s+)?(\w+)\s*[:?]*=[ \t]*(.*?)\s*$`)
	compiles  = pattern.New(`^` + calledCompiler + `( -\S+)*$`)
)

// variables are those that name compilers, with what make has them be, and what of a
// Makefile uses them: by name, or by rules of make's own.
var variables = []struct {
	name, compiler string
	used           func() *regexp.Regexp
}{
	{"CC", "cc", pattern.New(`\$[({]CC[)}]|\.[co]\b`)},
	{"CXX", "c++", pattern.New(`\$[({]CXX[)}]|\.(cc|cpp|cxx|C|o)\b`)},
	{"FC", "gfortran", pattern.New(`\$[({]FC[)}]|\.[fF](90)?\b`)},
}

// withLines are the words by which a first build of a Makefile that does not say -g has
// debug information. One that says it in a comment, under a condition, or for a target of
// its own, does not.
func withLines(makefile string) (words string) {
	depth := 0 // of conditions
	for _, line := range strings.Split(makefile, "\n") {
		line, _, _ = strings.Cut(line, "#")
		switch m := condition().FindStringSubmatch(line); {
		case m != nil && m[1] == "endif":
			depth--
		case m != nil:
			depth++
		}
		if depth <= 0 && saysLines().MatchString(line) && (assigns().MatchString(line) || strings.HasPrefix(line, "\t") && !strings.Contains(line, "$(")) {
			return ""
		}
	}
	return compilersWithLines(makefile)
}

// compilersWithLines are words that have compilers be called with -g, whatever else is set.
func compilersWithLines(makefile string) (words string) {
	said := map[string]string{}
	var others []string // variables of its own that name compilers
	for _, m := range sets().FindAllStringSubmatch(makefile, -1) {
		if said[m[1]] = m[2]; compiles().MatchString(m[2]) && !slices.Contains(others, m[1]) {
			others = append(others, m[1])
		}
	}
	for _, v := range variables {
		c, ok := said[v.name]
		if !ok {
			c = v.compiler
		}
		if c != "" && (ok || used(v.used(), makefile)) && !strings.ContainsAny(c, "$`#\\\"'") {
			words += " " + v.name + "=" + workspace.Quote(c+" -g")
		}
		others = slices.DeleteFunc(others, func(o string) bool { return o == v.name })
	}
	for _, o := range others {
		called := regexp.MustCompile(`(?m)^\t[@-]*\$[({]` + o + `[)}]\s`)
		if c := said[o]; compiles().MatchString(c) && called.MatchString(makefile) {
			words += " " + o + "=" + workspace.Quote(c+" -g")
		}
	}
	return words
}

// calls is a recipe that calls a compiler by its own name: no variable reaches it.
var calls = pattern.New(`(?m)^\t[@-]*` + calledCompiler + `\s.*`)

// used reports whether a Makefile uses a variable, by name or by rules of make's own; not by
// these where its recipes call compilers themselves: then .c is in the names of their files.
func used(how *regexp.Regexp, makefile string) bool {
	itself := slices.ContainsFunc(calls().FindAllString(makefile, -1), func(line string) bool { return !strings.Contains(line, " -M") }) // else dependencies are looked for
	return slices.ContainsFunc(how.FindAllString(makefile, -1), func(m string) bool { return m[0] == '$' || !itself })
}

// everyProgram is a rule by which a Makefile makes a program of any name.
var everyProgram = pattern.New(`(?m)^%\s*:`)

// own is the word by which a Makefile makes the one program that a file with a main is:
// else all are made for it.
func (f *Finder) own(makefile, path string) string {
	if path == "" || !f.contains(path, begins()) {
		return ""
	}
	return rule(makefile, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
}

// rule is the word by which a Makefile makes a program of a name, if it does, and that is
// not what it makes anyway.
func rule(makefile, name string) string {
	if !plain().MatchString(name) || deeds().MatchString(name) {
		return ""
	}
	if m := firstRule().FindStringSubmatch(makefile); m != nil && strings.TrimSpace(m[1]) == name {
		return ""
	}
	rule := regexp.MustCompile(`(?m)^([^\t\n:=#]*\s)?` + regexp.QuoteMeta(name) + `(\s[^\n:=]*)?:([^=]|$)`)
	listed := regexp.MustCompile(`(^|\s)` + regexp.QuoteMeta(name) + `(\s|$)`)
	if rule.MatchString(makefile) || everyProgram().MatchString(makefile) && listed.MatchString(makefile) {
		return " " + name
	}
	return ""
}

var firstRule = pattern.New(`(?m)^(\w[^\t\n:=#]*):(?:[^=]|$)`)

var (
	plain = pattern.New(`^\w[\w.+/-]*$`)
	deeds = pattern.New(`^(all|test|tests|check|run|bench|benchmark|benchmarks|install|clean|demo|help)$`) // mostly done by a rule, not made
)
