package cli

import (
	"bytes"
	"context"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/internal/examples"
)

// testApp has the examples from their folder, instead of embedded ones.
var testApp = app{examples: examples.Set{FS: os.DirFS("../..")}}

// skewlens runs a command line as main does.
func skewlens(args ...string) (stdout, stderr string, status int) {
	var out, err bytes.Buffer
	status = testApp.start(context.Background(), &out, &err, args)
	return out.String(), err.String(), status
}

func TestUsage(t *testing.T) {
	for _, c := range testApp.commands() {
		if out, _, status := skewlens("help", c.name); status != 0 || !strings.Contains(out, "usage: skewlens "+c.name) {
			t.Errorf("help %s: status %d, %q", c.name, status, out)
		}
		if out, _, status := skewlens(c.name, "-h"); status != 0 || !strings.Contains(out, c.summary) {
			t.Errorf("%s -h: status %d, %q", c.name, status, out)
		}
	}
	if out, _, status := skewlens("version"); status != 0 || !strings.HasPrefix(out, "skewlens ") {
		t.Errorf("version: status %d, %q", status, out)
	}
}

// Help and version may be asked for as of any program.
func TestOtherNamesOfHelpAndVersion(t *testing.T) {
	help, _, _ := skewlens("help")
	for _, c := range testApp.commands() {
		if !strings.Contains(help, "skewlens "+c.name) {
			t.Errorf("help does not name %s", c.name)
		}
	}
	for _, name := range []string{"-h", "-help", "--help"} {
		if out, stderr, status := skewlens(name); out != help || stderr != "" || status != 0 {
			t.Errorf("%s: status %d, %q%q", name, status, out, stderr)
		}
	}
	version, _, _ := skewlens("version")
	for _, name := range []string{"-v", "-version", "--version"} {
		if out, _, status := skewlens(name); out != version || status != 0 {
			t.Errorf("%s: status %d, %q", name, status, out)
		}
	}
	want, _, _ := skewlens("help", "demo")
	if out, _, status := skewlens("demo", "--threads", "3", "--help"); out != want || status != 0 {
		t.Errorf("help after another flag: status %d, %q", status, out)
	}
}

func TestVersionOfABuild(t *testing.T) {
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}
	for _, c := range []struct {
		main     string
		settings []debug.BuildSetting
		want     string
	}{
		{"v1.2.3", nil, "v1.2.3"},
		{"(devel)", nil, "(devel)"},
		{"", nil, "(devel)"},
		{"", []debug.BuildSetting{commit}, "0123456789ab"},
		{"(devel)", []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "true"}}, "0123456789ab+changes"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.main}, Settings: c.settings}
		if got := versionOf(info); got != c.want {
			t.Errorf("%q with %v: %q, want %q", c.main, c.settings, got, c.want)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "skewlens profile"},
		{"nonsense", `no command is called "nonsense"`},
		{"--format json profile sh", "flags stand behind theirs"},
		{"sh 8", "but a program is: skewlens profile -- sh 8"},
		{"./nonsense 8", `no command is called "./nonsense"`},
		{"help nonsense", `no command is called "nonsense"`},
		{"version 2", "takes no arguments"},
		{"profile", "no program to profile"},
		{"profile --", "no program to profile"},
		{"profile --nonsense -- sh", "nonsense"},
		{"profile --threads sh", "want a number"},
		{"profile --fail-above 20% sh", "want a number, and nothing behind it"},
		{"profile --units=perhaps sh", "want true or false"},
		{"profile --format docx -- sh", "choose text, html, json, sarif, pprof, callgrind, perfetto"},
		{"profile --format pprof -- sh", "add -o FILE"},
		{"profile --format perfetto -- sh", "add -o FILE"},
		{"profile --backend valgrind -- sh", "not built yet"},
		{"profile --backend magic -- sh", "choose auto, native, perf"},
		{"profile --events cache -- sh", "edges,cache"},
		{"profile --machine paper -- sh", "--events edges,cache"},
		{"profile --sample-sets 1/16 -- sh", "--events edges,cache"},
		{"profile --events edges,cache --sample-sets 1/3 -- sh", "1/2, 1/4"},
		{"profile --events edges,cache --sample-sets 16 -- sh", "1/2, 1/4"},
		{"profile --sizes 16K -- sh", "--events edges,cache"},
		{"profile --events edges,cache --sizes 16K --machine paper -- sh", "leave out --machine"},
		{"profile --events edges,cache --sizes 16K --verify -- sh", "leave out --machine and --verify"},
		{"profile --events edges,cache --sizes 17K -- sh", "no size that can be told"},
		{"profile --verify -- sh", "--events edges,cache"},
		{"profile --response cycles -- sh", "add --events edges,hardware"},
		{"profile --backend perf --cores 4 -- sh", "--events edges,hardware"},
		{"profile --backend native --events hardware -- sh", "--events edges,hardware"},
		{"profile --backend perf --machine paper -- sh", "--events edges,cache"},
		{"profile --method guess -- sh", "choose exact, paper"},
		{"profile --threads 0 -- sh", "1 or more"},
		{"profile --fail-above 101 -- sh", "0 to 100"},
		{"profile --fail-above -1 -- sh", "0 to 100"},
		{"profile --save same -o same -- sh", "same file"},
		{"profile -- sh {threads}", "add --threads"},
		{"report", "one saved profile"},
		{"report a b", "one saved profile"},
		{"report --response seconds x", "cycles, task-clock"},
		{"demo nonsense", "demo --list"},
		{"demo a b", "one example"},
		{"demo --threads 0", "1 to 256"},
		{"doctor a b", "at most one"},
		{"profile --lib [ -- sh", "want a pattern"},
		{"profile --threads many -- sh", "see skewlens help profile"},
		{"demo --nonsense", "see skewlens help demo"},
		{"report --nonsense x", "see skewlens help report"},
		{"demo --all owner", "got both"},
	} {
		_, stderr, status := skewlens(strings.Fields(c.args)...)
		if status != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("skewlens %s: status %d, %q, want status 1 and %q", c.args, status, stderr, c.want)
		}
		if c.args != "" && strings.Count(stderr, "\n") != 1 {
			t.Errorf("skewlens %s: more than one line: %q", c.args, stderr)
		}
	}
}

func onlyFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}
