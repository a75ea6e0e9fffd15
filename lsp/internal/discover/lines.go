package discover

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// bare: a program has no debug information, so that nothing found in it would stand on
// a line. Most builds are so, unless somebody asked for more.
func (p *program) bare() bool { return len(p.files) == 0 }

// anew are candidates for a program that has no debug information: it is built once more
// with it, where its build system can be told so by a command, or it is taken as it is.
func (f *Finder) anew(root string, c Candidate) (all []Candidate) {
	if first, build := f.withDebug(root, c.Program); first != "" {
		with := c
		with.First, with.Build, with.Why = first, build, c.Why+" without debug information: build it anew with that, then causes have lines"
		all = append(all, with)
	}
	c.Why += " without debug information: nothing will stand on a line"
	return append(all, c)
}

// withDebug is the command that builds a program from the beginning with -g and all else
// as it was, and the one that does it from then on; empty where nothing says how.
func (f *Finder) withDebug(root, program string) (first, build string) {
	for _, dir := range above(root, filepath.Dir(program)) {
		folder := workspace.Quote(relative(root, dir))
		if cache, ok := f.text(filepath.Join(dir, "CMakeCache.txt")); ok {
			build = "cmake --build " + folder + f.target(dir, filepath.Base(program))
			return "cmake " + folder + withFlags(cache) + " && " + build, build
		}
		if f.exists(filepath.Join(dir, "meson-private")) {
			build = "meson compile -C " + folder
			return "meson configure " + folder + " -Ddebug=true && " + build, build
		}
		text, ok := f.makefile(dir)
		if !ok || !names(text, program) {
			continue
		}
		words := compilersWithLines(text)
		own := rule(text, relative(dir, program))
		switch build = makes(root, dir) + own + words; {
		case words == "":
			return "", ""
		case own == "" && cleans().MatchString(text):
			return makes(root, dir) + " clean && " + build, build
		}
		return build + " -B", build // and what else was made stays
	}
	return "", ""
}

var (
	cleans     = pattern.New(`(?m)^clean\s*:`)
	cacheFlags = pattern.New(`(?m)^CMAKE_(C|CXX|Fortran)_FLAGS:\w+=(.*)$`)
)

// withFlags are the words by which a CMake project that was configured has -g, too.
func withFlags(cache string) (words string) {
	for _, m := range cacheFlags().FindAllStringSubmatch(cache, -1) {
		words += " -DCMAKE_" + m[1] + "_FLAGS=" + workspace.Quote(strings.TrimSpace(strings.TrimSpace(m[2])+" -g"))
	}
	return words
}

// names reports whether a Makefile builds a program: by its name, or by a rule of any.
func names(makefile, program string) bool {
	name := regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(filepath.Base(program)) + `($|[^\w.-])`)
	return name.MatchString(makefile) || strings.Contains(makefile, "%")
}
