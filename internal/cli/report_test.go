package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

func TestSaveAndReport(t *testing.T) {
	dir := t.TempDir()
	saved, out := filepath.Join(dir, "run.skew"), filepath.Join(dir, "report.json")
	stdout, stderr, status := profileWith(&fake{p: skewed()}, "--save", saved, "-o", out, "--format", "json", "sh")
	if status != 0 || stdout != "" || stderr != "" {
		t.Fatalf("status %d, %q, %q", status, stdout, stderr)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got, stderr, status := skewlens("report", "--format", "json", saved)
	if status != 0 || got != string(want) {
		t.Errorf("report of the saved profile: status %d, %s\n%s\nwant\n%s", status, stderr, got, want)
	}
	if _, _, status := skewlens("report", "--fail-above", "50", saved); status != exitAbove {
		t.Errorf("report --fail-above 50: status %d, want 3", status)
	}
	onlyFiles(t, dir, "report.json", "run.skew")
}

func TestFilesThatAreNoProfiles(t *testing.T) {
	dir := t.TempDir()
	var whole bytes.Buffer
	if err := profile.Write(&whole, skewed()); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty": {}, "foreign": []byte("\x7fELF and so on"), "truncated": whole.Bytes()[:whole.Len()-9],
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, content, 0o666); err != nil {
			t.Fatal(err)
		}
		_, stderr, status := skewlens("report", file)
		if status != exitFailed || !strings.Contains(stderr, file) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q, want status 2 and one line that names the file", name, status, stderr)
		}
	}
	if _, stderr, status := skewlens("report", filepath.Join(dir, "gone")); status != exitFailed || !strings.Contains(stderr, "check the path") {
		t.Errorf("a file that is not there: status %d, %q", status, stderr)
	}
}

// TestFilesTakenForProfiles: what is easily taken for a profile is told what it is.
func TestFilesTakenForProfiles(t *testing.T) {
	for content, want := range map[string]string{"": "it is empty", "\x7fELF and so on": "but a program", "{\n \"version\": 1": "perhaps a report", "<!doctype html>": "perhaps a report", "#include": "begins with \"#include\""} {
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, stderr, _ := skewlens("report", file); !strings.Contains(stderr, want) {
			t.Errorf("%q: %q, want %q", content, stderr, want)
		}
	}
}

// TestFlagsBehindFiles: who typed the file first types the format at the end; behind -- are files.
func TestFlagsBehindFiles(t *testing.T) {
	dir := t.TempDir()
	saved, odd := filepath.Join(dir, "run.skew"), filepath.Join(dir, "--format")
	for _, file := range []string{saved, odd} {
		if _, stderr, status := profileWith(&fake{p: skewed()}, "--save", file, "sh"); status != 0 {
			t.Fatal(stderr)
		}
	}
	want, _, _ := skewlens("report", "--format", "json", saved)
	for _, args := range [][]string{{saved, "--format", "json"}, {"--format=text", saved, "--format=json"}, {saved, "--format", "json", "--"}} {
		if got, stderr, status := skewlens(append([]string{"report"}, args...)...); status != 0 || got != want {
			t.Errorf("report %q: status %d, %s", args, status, stderr)
		}
	}
	if _, stderr, status := skewlens("report", saved, "-h"); status != 0 {
		t.Errorf("report FILE -h: status %d, %s", status, stderr)
	}
	want, _, _ = skewlens("compare", "--format", "json", saved, saved)
	if got, stderr, status := skewlens("compare", saved, "--format", "json", saved); status != 0 || got != want {
		t.Errorf("compare: status %d, %s", status, stderr)
	}
	t.Chdir(dir)
	if _, stderr, status := skewlens("report", "--", "--format"); status != 0 {
		t.Errorf("a file that is called as a flag: status %d, %s", status, stderr)
	}
	if _, _, status := skewlens("report", saved, "--nonsense"); status != exitUsage {
		t.Errorf("report FILE --nonsense: status %d", status)
	}
}

func TestEveryFormat(t *testing.T) {
	dir := t.TempDir()
	saved := filepath.Join(dir, "run.skew")
	if _, stderr, status := profileWith(&fake{p: skewed()}, "--save", saved, "--lib", "libfft", "sh"); status != 0 {
		t.Fatal(stderr)
	}
	for format, begins := range map[string]string{
		"text": "/nowhere/skewed\n", "html": "<!doctype html>", "json": "{", "pprof": "\x1f\x8b", "callgrind": "# callgrind format", "perfetto": "\n", "sarif": "{",
	} {
		out, stderr, status := skewlens("report", "--format", format, saved)
		if status != 0 || stderr != "" || !strings.HasPrefix(out, begins) {
			t.Errorf("%s: status %d, %q, and it begins %.20q, want %q", format, status, stderr, out, begins)
		}
	}
	if _, stderr, status := skewlens("report", "-o", filepath.Join(dir, "no", "x"), saved); status != exitFailed || !strings.Contains(stderr, "create its directory first") {
		t.Errorf("written nowhere: status %d, %q", status, stderr)
	}
}
