package discover

import (
	"path/filepath"
	"regexp"
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

var (
	saysLines = pattern.New(`(^|[\s='"])-g(gdb|dwarf|[0-3]\b|\s|$|['"])`)
	assigns   = pattern.New(`^\s*((export|override)\s+)?[\w.]+\s*[:?+]*=`)
	sets      = pattern.New(`(?m)^\s*(?:export\s+|override\s+)?(CC|CXX|FC)\s*[:?]*=[ \t]*(.*?)\s*$`)
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
// debug information. One that says it in a comment, or for a target of its own, does not.
func withLines(makefile string) (words string) {
	for _, line := range strings.Split(makefile, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if saysLines().MatchString(line) && (assigns().MatchString(line) || strings.HasPrefix(line, "\t") && !strings.Contains(line, "$(")) {
			return ""
		}
	}
	return compilersWithLines(makefile)
}

// compilersWithLines are words that have compilers be called with -g, whatever else is set.
func compilersWithLines(makefile string) (words string) {
	said := map[string]string{}
	for _, m := range sets().FindAllStringSubmatch(makefile, -1) {
		said[m[1]] = m[2]
	}
	for _, v := range variables {
		c, ok := said[v.name]
		if !ok {
			c = v.compiler
		}
		if c != "" && v.used().MatchString(makefile) && !strings.ContainsAny(c, "$`#\\\"'") {
			words += " " + v.name + "=" + workspace.Quote(c+" -g")
		}
	}
	return words
}
