package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFlagsBehindTheProgram: what stands behind the program is the program's, and a person who
// meant skewlens is told; one who wrote -- is not.
func TestFlagsBehindTheProgram(t *testing.T) {
	for _, c := range []struct {
		args string
		told bool
	}{
		{"sh --format json", true},
		{"--units sh -c : --save=x", true},
		{"-- sh --format json", false},
		{"--units -- sh --threads 8", false},
		{"sh -- --format json", false},
		{"sh --verbose -o x", false},
		{"sh", false},
		{"-o " + filepath.Join(t.TempDir(), "r") + " sh --format json", false}, // the program's messages stand alone
	} {
		f := &fake{p: skewed()}
		_, stderr, status := profileWith(f, strings.Fields(c.args)...)
		if told := strings.Contains(stderr, "write it before the program"); told != c.told || status != 0 {
			t.Errorf("%s: status %d, told %v, want %v: %s", c.args, status, told, c.told, stderr)
		}
	}
}
