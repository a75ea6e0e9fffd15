package profiler_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/export/callgrind"
	"github.com/skewlens/skewlens/profiler"
)

// TestRanBefore: the first run of a program tells the next ones where to count, a far
// longer one tells them anew, and every run counts the same.
func TestRanBefore(t *testing.T) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	counts := func(analyses, script string) string {
		t.Helper()
		p := runWith(t, profiler.Config{Path: "/bin/bash", Args: []string{"-c", script}, Env: []string{"LC_ALL=C"}, Analyses: analyses, Libraries: []string{"none"}})
		var b bytes.Buffer
		if err := callgrind.Write(&b, p, callgrind.Options{}); err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`(?m)^pid:.*$`).ReplaceAllString(b.String(), "")
	}
	again := func() (is bool) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			is = is || strings.HasSuffix(e.Name(), "-ran")
		}
		return is
	}
	const short, long = "for ((i = 0; i < 100; i++)); do s=$((s + i % 7)); done", "for ((i = 0; i < 200000; i++)); do s=$((s + i % 7)); done"
	wantShort, wantLong := counts("", short), counts("", long)
	for run, x := range []struct{ script, want string }{{short, wantShort}, {short, wantShort}, {long, wantLong}, {long, wantLong}, {long, wantLong}, {short, wantShort}} {
		if got := counts(dir, x.script); got != x.want {
			t.Errorf("run %d counts otherwise", run)
		}
		if is, want := again(), run == 2; is != want {
			t.Errorf("to be analysed again after run %d: %v", run, is)
		}
	}
}
