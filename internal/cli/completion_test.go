package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What shells complete is what there is: asked of the shells themselves.
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	made := map[string]string{}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		out, stderr, status := skewlens("completion", shell)
		if status != 0 || stderr != "" || !strings.Contains(out, "fail-worse") {
			t.Errorf("%s: status %d, %q", shell, status, stderr)
		}
		made[shell] = filepath.Join(dir, shell)
		if err := os.WriteFile(made[shell], []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		if path, err := exec.LookPath(shell); err == nil {
			if out, err := exec.Command(path, "-n", made[shell]).CombinedOutput(); err != nil {
				t.Errorf("%s cannot read it: %s", shell, out)
			}
		}
	}
	for words, want := range map[string]string{
		"co": "compare completion", "compare --fail": "--fail-worse", "report --format ": "text html json sarif pprof callgrind perfetto", "help vers": "version",
	} {
		line := strings.Split("skewlens "+words, " ")
		script := `compopt() { :; }; source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _skewlens; echo "${COMPREPLY[*]}"`
		out, err := exec.Command("bash", append([]string{"-c", script, made["bash"]}, line...)...).Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q completes to %q, want %q (%v)", words, got, want, err)
		}
	}
	if _, stderr, status := skewlens("completion", "csh"); status != exitUsage || !strings.Contains(stderr, "bash, zsh or fish") {
		t.Errorf("csh: status %d, %q", status, stderr)
	}
}

// The manual page has all commands and flags, and nothing in it is taken for a
// request.
func TestMan(t *testing.T) {
	out, stderr, status := skewlens("man")
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %q", status, stderr)
	}
	for _, want := range []string{`.SS "skewlens compare`, `\fB\-\-fail\-worse\fR \fIPOINTS\fR`, "Exit status: 0 compared"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s", want)
		}
	}
	if mandoc, err := exec.LookPath("mandoc"); err == nil {
		cmd := exec.Command(mandoc, "-T", "lint", "-W", "error")
		cmd.Stdin = strings.NewReader(out)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("mandoc: %s", said)
		}
	}
	if _, _, status := skewlens("man", "3"); status != exitUsage {
		t.Errorf("man 3: status %d", status)
	}
	if got := roff(".a\n'b\\-"); got != `\&.a`+"\n"+`\&'b\e\-` {
		t.Errorf("roff: %q", got)
	}
}
