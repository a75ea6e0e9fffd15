package discover

import (
	"regexp"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
)

// What a source in Fortran says of modules: which it has, which it uses, and of which it
// has a part (a submodule), for which it uses that.
var (
	holds  = pattern.New(`(?im)^\s*module\s+(\w+)\s*(?:!.*)?$`)
	uses   = pattern.New(`(?im)^\s*use(?:\s*,\s*(?:non_)?intrinsic)?\s*(?:::|\s)\s*(\w+)`)
	partOf = pattern.New(`(?im)^\s*submodule\s*\(\s*(\w+)`)
)

// modules are the names that a source says so.
func (f *Finder) modules(file string, said func() *regexp.Regexp) (names []string) {
	if familyOf(file) != inFortran {
		return nil
	}
	text, _ := f.text(file)
	for _, m := range said().FindAllStringSubmatch(text, -1) {
		names = append(names, strings.ToLower(m[1]))
	}
	return names
}

// saying are those of the sources that say one of the names so.
func (f *Finder) saying(sources []string, said func() *regexp.Regexp, names []string) (out []string) {
	for _, s := range sources {
		if slices.ContainsFunc(f.modules(s, said), func(name string) bool { return slices.Contains(names, name) }) {
			out = append(out, s)
		}
	}
	return out
}

// before are those of the sources that are to be compiled before a file.
func (f *Finder) before(file string, sources []string) []string {
	return f.saying(sources, holds, append(f.modules(file, uses), f.modules(file, partOf)...))
}

// linked are those of the sources without which a file is no program: those before it, and
// what has parts of its modules.
func (f *Finder) linked(file string, sources []string) []string {
	return append(f.before(file, sources), f.saying(sources, partOf, f.modules(file, holds))...)
}

// inOrder has each file come behind those that are to be compiled before it.
func (f *Finder) inOrder(files []string) (out []string) {
	seen := map[string]bool{}
	var visit func(file string)
	visit = func(file string) {
		if seen[file] {
			return
		}
		seen[file] = true
		for _, s := range f.before(file, files) {
			visit(s)
		}
		out = append(out, file)
	}
	for _, file := range files {
		visit(file)
	}
	return out
}
