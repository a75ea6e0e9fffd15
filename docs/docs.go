// Package docs is what the program itself can show of this folder: its pages are
// written for readers on the web, and nobody should need the web for them.
package docs

import (
	_ "embed"
	"strings"
)

//go:embed causes.md
var causes string

// Cause explains a kind of cause, in Markdown with its heading; false where there is
// no such kind.
func Cause(kind string) (text string, ok bool) {
	_, rest, ok := strings.Cut(causes, "\n## "+kind+"\n")
	if !ok || strings.Contains(kind, "\n") {
		return "", false
	}
	text, _, _ = strings.Cut(rest, "\n## ")
	return "# " + kind + "\n\n" + strings.TrimSpace(text) + "\n", true
}

// Kinds are those that [Cause] knows, as the page has them.
func Kinds() (all []string) {
	for _, part := range strings.Split(causes, "\n## ")[1:] {
		name, _, _ := strings.Cut(part, "\n")
		all = append(all, name)
	}
	return all
}
