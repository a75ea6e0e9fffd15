package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/lsp"
	"github.com/skewlens/skewlens/profile"
)

// standIn is a runner whose skewlens is a shell script. $3 is the file that it
// shall save to, $SAVED one that holds a profile.
func standIn(t *testing.T, script string) *Runner {
	t.Helper()
	dir := t.TempDir()
	self, saved := filepath.Join(dir, "skewlens"), filepath.Join(dir, "saved")
	if err := os.WriteFile(self, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(saved)
	if err != nil {
		t.Fatal(err)
	}
	p := &profile.Profile{Program: profile.Program{Path: "/p", Args: []string{}}, Run: profile.Run{Backend: "native"}}
	if err := profile.Write(f, p); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SAVED", saved)
	return &Runner{Self: self, Dir: filepath.Join(t.TempDir(), "results")}
}

func TestProfile(t *testing.T) {
	for _, c := range []struct{ name, script, fails string }{
		{"saved", `cp "$SAVED" "$3"`, ""},
		{"saved, and failed then", `cp "$SAVED" "$3"; echo "skewlens: it was killed"; exit 2`, ""},
		{"failed with a reason", `echo "from the target"; echo "skewlens: first" >&2; echo "skewlens: no such program; give its path" >&2; exit 2`, "no such program; give its path"},
		{"failed without a reason", `exit 7`, "profile ./p: exit status 7"},
		{"saved nothing", `exit 0`, "nothing was saved"},
		{"saved something else", `echo nonsense > "$3"`, "profile"},
	} {
		r := standIn(t, c.script)
		p, err := r.Profile(context.Background(), lsp.Target{Program: "./p"}, func(lsp.Progress) {})
		if c.fails == "" && (err != nil || p.Program.Path != "/p") {
			t.Errorf("%s: %v, %v", c.name, p, err)
		}
		if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.fails)
		}
		if left, err := os.ReadDir(r.Dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", c.name, left, err)
		}
	}
}

func TestProfileHandsTheTargetOver(t *testing.T) {
	t.Setenv("ONE", "of this process")
	r := standIn(t, `shift 3; echo "$PWD $ONE $TWO: $*"; cat`)
	cwd := t.TempDir()
	said := []string{}
	_, err := r.Profile(context.Background(), lsp.Target{
		Program: "./p", Args: []string{"{threads}", "a b"}, Threads: 4, Cores: 8, Units: true, Events: "edges,cache", Machine: "paper", Sample: "1/8", Cwd: cwd, Env: map[string]string{"ONE": "1", "TWO": "2"},
	}, func(p lsp.Progress) {
		if p.Output != "" {
			said = append(said, p.Output)
		}
	})
	if err == nil {
		t.Error("a profile of nothing")
	}
	if got, want := strings.Join(said, "\n"), cwd+" 1 2: -o "+os.DevNull+" --threads 4 --cores 8 --units --events edges,cache --sample-sets 1/8 --machine paper -- ./p {threads} a b"; got != want {
		t.Errorf("it was called with\n%s\nwant\n%s", got, want)
	}
}

// What a runner left behind that was killed goes when the next one runs.
func TestLeftBehind(t *testing.T) {
	r := standIn(t, `cp "$SAVED" "$3"`)
	own, gone, other := "run-"+strconv.Itoa(os.Getpid())+"-1", "run-999999999-1", "run-not-one"
	for _, d := range []string{own, gone, other} {
		if err := os.MkdirAll(filepath.Join(r.Dir, d, "inside"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Profile(context.Background(), lsp.Target{Program: "./p"}, func(lsp.Progress) {}); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(r.Dir); len(left) != 2 || left[0].Name() != own || left[1].Name() != other {
		t.Errorf("there are %v", left)
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct{ name, script, fails string }{
		{"reported", `test "$1 $2 $3 $4 $6 $7" = "scale --format json -o -- ./p" && echo '{"version":1,"points":[{"p":1}],"inflated_lines":[{"location":{}}]}' > "$5"`, ""},
		{"of another version", `echo '{"version":9,"points":[{"p":1}]}' > "$5"`, "measure again"},
		{"without points", `echo '{"version":1}' > "$5"`, "0 points"},
		{"a line without a place", `echo '{"version":1,"points":[{"p":1}],"inflated_lines":[{}]}' > "$5"`, "no location"},
		{"no JSON", `echo nonsense > "$5"`, "read report"},
		{"failed", `echo "skewlens: run 1 of 5 of ./p: exit status 3" >&2; exit 2`, "run 1 of 5"},
	} {
		r := standIn(t, c.script)
		got, err := r.Scale(context.Background(), lsp.Target{Program: "./p"}, func(lsp.Progress) {})
		if c.fails == "" && (err != nil || len(got.Points) != 1) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.fails)
		}
	}
}

func TestBuild(t *testing.T) {
	r, dir := &Runner{}, t.TempDir()
	said := []string{}
	line := func(s string) { said = append(said, s) }
	if err := r.Build(context.Background(), lsp.Target{Root: dir, Build: "printf 'in %s\\r\\n\\nend' $PWD"}, line); err != nil || strings.Join(said, "|") != "in "+dir+"|end" {
		t.Errorf("%v, it said %q", err, said)
	}
	said = nil
	if err := r.Build(context.Background(), lsp.Target{Root: dir, Build: "echo at $CMAKE_BUILD_PARALLEL_LEVEL"}, line); err != nil || strings.Join(said, "") != "at "+strconv.Itoa(runtime.NumCPU()) {
		t.Errorf("%v, it said %q", err, said)
	}
	if err := r.Build(context.Background(), lsp.Target{Root: dir, Build: "exit 3"}, line); err == nil || err.Error() != "exit status 3" {
		t.Errorf("a build that fails: %v", err)
	}
	if err := r.Build(context.Background(), lsp.Target{Root: filepath.Join(dir, "gone"), Build: "true"}, line); err == nil || !strings.Contains(err.Error(), "start /bin/sh") {
		t.Errorf("a build nowhere: %v", err)
	}
}

func TestResultsNeedAFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, "", "/dev/null/x"} {
		r := &Runner{Self: "/bin/true", Dir: dir}
		temporary := t.TempDir()
		t.Setenv("TMPDIR", temporary)
		if _, err := r.Profile(context.Background(), lsp.Target{}, func(lsp.Progress) {}); err == nil || !strings.Contains(err.Error(), "nothing was saved") {
			t.Errorf("in %q, where nothing can be written: %v", dir, err)
		}
		if left, _ := os.ReadDir(temporary); len(left) > 0 {
			t.Errorf("in %q: left behind: %v", dir, left)
		}
		t.Setenv("TMPDIR", file)
		if _, err := r.Profile(context.Background(), lsp.Target{}, func(lsp.Progress) {}); err == nil || !strings.Contains(err.Error(), "make a folder for what is measured") {
			t.Errorf("in %q, and nowhere else: %v", dir, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := standIn(t, `echo up; trap '' TERM; while :; do sleep 1000; done`)
	if _, err := r.Profile(ctx, lsp.Target{Program: "p"}, func(lsp.Progress) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it ran: %v", err)
	}
	if _, err := r.Profile(ctx, lsp.Target{Program: "p"}, func(lsp.Progress) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

// What never ends by itself is ended as at a terminal, and what it did is there.
func TestFinished(t *testing.T) {
	r := standIn(t, `trap 'cp "$SAVED" "$3"; exit 0' INT; echo up; while :; do sleep 1000 & wait $!; done`)
	if r.Finish() {
		t.Error("there was nothing to finish")
	}
	p, err := r.Profile(context.Background(), lsp.Target{Program: "p"}, func(g lsp.Progress) {
		if g.Output == "up" && !r.Finish() {
			t.Error("it was not there to be finished")
		}
	})
	if err != nil || p.Program.Path != "/p" || r.Finish() {
		t.Errorf("%+v, %v", p, err)
	}
}

// What leaves the process group may hold the pipe open: it is not waited for.
func TestOutlived(t *testing.T) {
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	err := (&Runner{}).Build(context.Background(), lsp.Target{Root: dir, Build: `mkfifo up; setsid sh -c 'echo $$ > pid; echo > up; exec sleep 1000000' & read x < up`}, func(string) {})
	if err != nil {
		t.Error(err)
	}
	b, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(n)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("it did not live on: %v", err)
	}
}

func TestTicks(t *testing.T) {
	told := make(chan time.Duration)
	stop := ticks(time.Millisecond, func(d time.Duration) {
		select {
		case told <- d:
		default:
		}
	})
	first := <-told
	if second := <-told; second < first || first <= 0 {
		t.Errorf("ticks at %v and %v", first, second)
	}
	stop()
	select {
	case d := <-told:
		t.Errorf("a tick at %v after the end", d)
	default:
	}
}

func TestLongLinesComeInPieces(t *testing.T) {
	got := []string{}
	eachLine(strings.NewReader(strings.Repeat("x", 5000)+"\nshort\xff\n\n"), func(s string) { got = append(got, s) })
	if len(got) != 3 || len(got[0])+len(got[1]) != 5000 || got[2] != "short\uFFFD" {
		t.Errorf("%d pieces: %.20q", len(got), got)
	}
}

// A folder that is not there is what is said to be missing, and not skewlens.
func TestNoFolderToRunIn(t *testing.T) {
	r := standIn(t, `cp "$SAVED" "$3"`)
	gone := filepath.Join(t.TempDir(), "gone")
	_, err := r.Profile(context.Background(), lsp.Target{Name: "p", Program: "./p", Cwd: gone}, func(lsp.Progress) {})
	if err == nil || !strings.Contains(err.Error(), gone) || !strings.Contains(err.Error(), "change cwd") {
		t.Errorf("%v", err)
	}
}
