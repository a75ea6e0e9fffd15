package docs

import (
	"slices"
	"strings"
	"testing"
)

// TestCauses: each kind that lists and marks name has a page, with an example where
// code shows it.
func TestCauses(t *testing.T) {
	kinds := Kinds()
	for _, want := range []string{"branch", "loop", "recursion", "start", "message", "event", "inflation", "serial"} {
		text, ok := Cause(want)
		if !slices.Contains(kinds, want) || !ok || !strings.HasPrefix(text, "# "+want+"\n\n") || strings.Contains(text, "\n## ") || len(text) < 100 {
			t.Errorf("%s: %q", want, text)
		}
		if example := strings.Contains(text, "/* before"); !example && want != "inflation" && want != "serial" {
			t.Errorf("%s has no example", want)
		}
	}
	for _, no := range []string{"", "bran", "The kinds of causes", "branch\nThreads", "\n"} {
		if text, ok := Cause(no); ok {
			t.Errorf("%q: %q", no, text)
		}
	}
}
