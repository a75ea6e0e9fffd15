package units_test

import (
	"testing"
	"unicode/utf8"

	"github.com/skewlens/skewlens/internal/units"
)

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"work":                 "work",
		"std::map<int, char>":  "std::map<int, char>",
		"a\tb\x1b]0;title\x07": "a b\uFFFD]0;title\uFFFD",
		"two\nlines\r":         "two\uFFFDlines\uFFFD",
		"\xff\xfe":             "\uFFFD\uFFFD",
		"所有者 ü":                "所有者 ü",
		"a\u2028b\u202e":       "a\uFFFDb\uFFFD",
	} {
		if got := units.Printable(s); got != want || !utf8.ValidString(got) {
			t.Errorf("Printable(%q) = %q, want %q", s, got, want)
		}
	}
}
