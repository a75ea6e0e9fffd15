package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// balanced is the same program after its threads take turns: all go the same way.
func balanced() *profile.Profile {
	p := skewed()
	for i := range p.Sections[0].Instances[0].Parts {
		p.Sections[0].Instances[0].Parts[i].Counts = profile.Counts{Event: []profile.EventID{0, 1, 3}, N: []uint64{1, 1, 1}}
	}
	return p
}

func TestCompareCommand(t *testing.T) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before.skew"), filepath.Join(dir, "after.skew")
	if _, stderr, status := profileWith(&fake{p: balanced()}, "--save", before, "-o", os.DevNull, "sh"); status != 0 {
		t.Fatal(stderr)
	}
	if _, stderr, status := profileWith(&fake{p: skewed()}, "--save", after, "-o", os.DevNull, "sh"); status != 0 {
		t.Fatal(stderr)
	}
	for format, want := range map[string]string{"text": "imbalance before", "json": `"verdict"`, "html": "<table>", "sarif": `"baselineState"`} {
		out, stderr, status := skewlens("compare", "--format", format, before, after)
		if status != 0 || stderr != "" || !strings.Contains(out, want) {
			t.Errorf("%s: status %d, %q: %.300s", format, status, stderr, out)
		}
	}
	file := filepath.Join(dir, "out.json")
	if _, stderr, status := skewlens("compare", "--format", "json", "-o", file, before, after); status != 0 || stderr != "" {
		t.Errorf("-o: status %d, %q", status, stderr)
	}
	if data, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(data), "{") {
		t.Errorf("-o: %v", err)
	}
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"--fail-worse 5 " + before + " " + after, exitAbove, "points more imbalance than before"},
		{"--fail-worse 100 " + before + " " + after, 0, ""},
		{"--fail-worse 0 " + after + " " + before, 0, ""},
		{"--fail-worse 101 " + before + " " + after, exitUsage, "points from 0 to 100"},
		{before, exitUsage, "two saved profiles"},
		{"--format pprof " + before + " " + after, exitUsage, "choose text, html, json, sarif"},
		{"--response bogus " + before + " " + after, exitUsage, "choose instructions, busy-time"},
		{before + " " + filepath.Join(dir, "gone"), exitFailed, "check the path"},
		{"-o " + filepath.Join(dir, "no", "where") + " " + before + " " + after, exitFailed, "where"},
	} {
		_, stderr, status := skewlens(append([]string{"compare"}, strings.Fields(c.args)...)...)
		if status != c.status || !strings.Contains(stderr, c.says) || strings.Count(stderr, "\n") > 1 {
			t.Errorf("compare %s: status %d, %q", c.args, status, stderr)
		}
	}
}
