package discover

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
)

var (
	rustTested   = pattern.New(`^\s*#\[(\w+::)*test\b`)
	rustFunction = pattern.New(`^(\s*)(?:pub(?:\([^)]*\))?\s+)?(?:async\s+|const\s+|unsafe\s+)*fn\s+(\w+)`)
)

// rustTestAt is TestAt in Rust. A test is named to its program as a part of its path, of
// which the modules are not known here.
func (f *Finder) rustTestAt(root, path, text string, line int) (c Candidate, ok bool) {
	name := rustTestOf(strings.Split(text, "\n"), line)
	all := f.cargo(root, path)
	i := slices.IndexFunc(all, func(c Candidate) bool { return c.From != "" })
	if name == "" || i < 0 {
		return c, false
	}
	c = all[i]
	c.Name += " " + name
	c.Args = []string{name}
	return c, true
}

// rustTestOf is the function with #[test] that a line is in, by how far it is indented; "":
// none.
func rustTestOf(lines []string, line int) (name string) {
	indent, tested := "", false
	for i, l := range lines[:min(line+1, len(lines))] {
		m := rustFunction().FindStringSubmatch(l)
		switch {
		case rustTested().MatchString(l):
			tested = true
		case m != nil && tested:
			name, indent, tested = m[2], m[1], false
		case m != nil && len(m[1]) <= len(indent), l == indent+"}" && i < line:
			name = ""
		}
	}
	return name
}
