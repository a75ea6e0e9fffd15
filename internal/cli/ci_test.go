package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// steps are the commands of a workflow's steps, by name: those of more than a line.
func steps(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out, name, inside := map[string]string{}, "", false
	for _, line := range strings.Split(string(data), "\n") {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "- "):
			inside = false
			name = strings.TrimPrefix(text, "- name: ")
		case strings.HasPrefix(text, "run: |"):
			inside = true
		case strings.HasPrefix(text, "run: "):
			out[name] = strings.TrimPrefix(text, "run: ") + "\n"
		case inside:
			out[name] += text + "\n"
		}
	}
	return out
}

// The example for other people's CI does what it says: run step by step, on a
// repository whose second commit takes the balance away.
func TestExampleWorkflow(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs programs")
	}
	for _, tool := range []string{"git", "make", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here", tool)
		}
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "bin", "skewlens"), "../..").CombinedOutput(); err != nil {
		t.Fatalf("build: %s", out)
	}
	run := func(where, script string) (string, error) {
		cmd := exec.Command("bash", "-e", "-c", script)
		cmd.Dir = where
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "RUNNER_TEMP="+filepath.Join(dir, "temp"),
			"GITHUB_BASE_REF=main", "BUILD=make", "RUN=./solver", "XDG_CACHE_HOME="+filepath.Join(dir, "cache"),
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	project, err := filepath.Abs("../../editors/test/projects/make")
	if err != nil {
		t.Fatal(err)
	}
	repository := filepath.Join(dir, "repository")
	prepare := `mkdir temp && cp -r '` + project + `' repository && cd repository && git init -q -b main .
sed -i 's/1500 \* (me + 1)/1500 * 2/' src/main.c && git add . && git commit -qm balanced
git clone -q . ../origin && git remote add origin ../origin && git fetch -q
cp '` + project + `/src/main.c' src && git commit -qam skewed`
	if out, err := run(dir, prepare); err != nil {
		t.Fatalf("prepare: %s", out)
	}
	all := steps(t, "../../examples/ci/skewlens.yml")
	for _, name := range []string{"before", "after", "findings"} {
		if all[name] == "" {
			t.Fatalf("no step %s", name)
		}
		if out, err := run(repository, all[name]); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	data, err := os.ReadFile(filepath.Join(repository, "skewlens.sarif"))
	if err != nil || !strings.Contains(string(data), `"baselineState": "new"`) || !strings.Contains(string(data), `"uri": "src/work.c"`) {
		t.Errorf("the findings: %v %.2000s", err, data)
	}
	out, err := run(repository, all["verdict"])
	if err == nil || !strings.Contains(out, "points more imbalance than before") {
		t.Errorf("verdict: %v\n%s", err, out)
	}
}
