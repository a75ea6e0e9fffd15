// Package proctest holds what tests of running programs share: it builds small
// programs, and lets another tool count what they execute, to compare with.
//
//	source ─Source─▶ file ─Build─▶ program ┬─▶ the test profiles it ─▶ counts
//	                                       └─Callgrind─▶ counts ─┐        │
//	                                    what differs ◀─Describe──┴────────┘
//
// Callgrind simulates the processor, which shares nothing with how this project
// counts: where both say the same of every instruction, both are right. A tool
// that is not installed skips the test where people work, and fails it in CI.
package proctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Need ends a test that needs a tool: as a failure in CI, as a visible skip
// elsewhere.
func Need(t testing.TB, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is not installed; ./test installs it", tool)
			}
			t.Skipf("%s is not installed; ./test installs it", tool)
		}
	}
}

// Build compiles sources (files, or "x.c" texts made by Source) and returns
// the program.
func Build(t testing.TB, compiler string, args ...string) string {
	t.Helper()
	Need(t, compiler)
	out := filepath.Join(t.TempDir(), "prog")
	cmd := exec.Command(compiler, append([]string{"-o", out}, args...)...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, msg)
	}
	return out
}

// Source writes a text into a file and returns its path.
func Source(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
