package profiler_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profiler"
)

// scaled times a shell script, whose output goes to a file.
func scaled(t *testing.T, ctx context.Context, script string, change func(*profiler.ScaleConfig)) (runs *profiler.ScaleRuns, out string, err error) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	stdin, err := profiler.Replay(null)
	if err != nil {
		t.Fatal(err)
	}
	c := profiler.ScaleConfig{
		Program: profiler.Command{Path: "/bin/sh", Words: []string{"sh", "-c", script, "sh", "{threads}"}, Env: []string{"PATH=/bin:/usr/bin", "N={threads}", "OMP_NUM_THREADS=7"}},
		Threads: []int{1, 2}, Runs: 2, Warmup: 1, Stdin: stdin, Stdout: f, Stderr: f,
	}
	if change != nil {
		change(&c)
	}
	runs, err = profiler.Scale(ctx, c)
	b, readErr := os.ReadFile(f.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return runs, string(b), err
}

// Runs take turns, there and back, each with its number of threads.
func TestScaleTakesTurns(t *testing.T) {
	var told []string
	runs, out, err := scaled(t, context.Background(), `echo $1 $N $OMP_NUM_THREADS`, func(c *profiler.ScaleConfig) {
		c.Baseline = &profiler.Command{Path: "/bin/sh", Words: []string{"sh", "-c", "echo base"}}
		c.Elision = &profiler.Command{Path: "/bin/echo", Words: []string{"echo", "elision"}}
		c.Pin = true
		c.Progress = func(p profiler.ScaleProgress) {
			if p.What != "" {
				told = append(told, p.What)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	const there, back = "base|elision|1 1 1|2 2 2|", "2 2 2|1 1 1|elision|base|"
	if got := strings.ReplaceAll(out, "\n", "|"); got != there+back+there {
		t.Errorf("ran %s", got)
	}
	if len(runs.Baseline) != 2 || len(runs.Elision) != 2 || len(runs.At[1]) != 2 || len(runs.At[2]) != 2 || len(runs.At) != 2 {
		t.Errorf("%+v", runs)
	}
	if got := strings.Join(told[:4], ","); got != "the baseline,the elision,1 thread,2 threads" || len(told) != 12 {
		t.Errorf("told %s of %d", got, len(told))
	}
	for _, r := range runs.At[2] {
		if r.Wall <= 0 || r.CPU <= 0 || r.Left {
			t.Errorf("%+v", r)
		}
	}
}

// A run that fails ends it all, and it is said which.
func TestScaleEndsWithARunThatFails(t *testing.T) {
	for script, want := range map[string]string{
		`[ $1 = 1 ] || exit 3`:        `warm-up run 1 of 1 of sh -c`,
		`[ $1 = 1 ] || exit 4`:        `sh 2 (2 threads): exit status 4: only runs that succeed are timed; try it alone`,
		`[ $1 = 1 ] || kill -SEGV $$`: `ended by SIGSEGV`,
	} {
		if _, _, err := scaled(t, context.Background(), script, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
	}
	count := filepath.Join(t.TempDir(), "count")
	_, _, err := scaled(t, context.Background(), `echo x >>`+count+`; [ $(wc -l <`+count+`) -lt 4 ]`, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "run 1 of 2 of sh -c ") {
		t.Errorf("the fourth run: %v", err)
	}
	if _, _, err = scaled(t, context.Background(), "", func(c *profiler.ScaleConfig) { c.Program.Path = "/no/such" }); err == nil {
		t.Error("no error where there is no program")
	}
}

func TestScaleCanBeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, _, err := scaled(t, ctx, `while :; do :; done`, func(c *profiler.ScaleConfig) { c.Progress = func(profiler.ScaleProgress) { cancel() } })
	if err == nil || !strings.Contains(err.Error(), "ended by SIGTERM after 0 of 6 runs: nothing is reported") {
		t.Error(err)
	}
	_, out, err := scaled(t, ctx, `echo ran`, nil) // it is cancelled already
	if err == nil || out != "" {
		t.Errorf("%v, wrote %s", err, out)
	}
}

func TestScaleIsEndedBySignals(t *testing.T) {
	_, _, err := scaled(t, context.Background(), `trap 'exit 0' TERM; while :; do :; done`, func(c *profiler.ScaleConfig) {
		once := false
		c.Progress = func(p profiler.ScaleProgress) {
			if !once {
				once = true
				syscall.Kill(os.Getpid(), syscall.SIGTERM)
			}
		}
	})
	if err == nil || !strings.Contains(err.Error(), "ended by SIGTERM after 0 of 6 runs") {
		t.Error(err)
	}
}

// What a script has started ends with it.
func TestScaleLeavesNothingBehind(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	pids := filepath.Join(t.TempDir(), "pids")
	if err := syscall.Mkfifo(pids, 0o600); err != nil {
		t.Fatal(err)
	}
	started := make(chan *bufio.Reader, 1)
	go func() {
		f, err := os.Open(pids)
		if err != nil {
			t.Error(err)
		}
		t.Cleanup(func() { f.Close() })
		r := bufio.NewReader(f)
		r.ReadString('\n')
		cancel()
		started <- r
	}()
	_, _, err := scaled(t, ctx, `sh -c 'trap "" TERM; echo $$; while :; do :; done' >`+pids+`; exit 0`, nil)
	if err == nil || !strings.Contains(err.Error(), "ended by SIGTERM") {
		t.Error(err)
	}
	// What is killed ends a little later; then nobody can write there any more.
	if rest, err := io.ReadAll(<-started); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
}

// Each run reads the same input, whatever it is and however much of it was read
// before.
func TestInputIsReplayed(t *testing.T) {
	read := func(f *os.File) (all []string) {
		t.Helper()
		again, err := profiler.Replay(f)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			g, err := again()
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(g)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(b))
			g.Close()
		}
		return all
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { io.WriteString(w, "piped"); w.Close() }()
	if got := strings.Join(read(r), "|"); got != "piped|piped|piped" {
		t.Errorf("a pipe: %s", got)
	}
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	io.WriteString(f, "already new")
	f.Seek(8, io.SeekStart)
	if got := strings.Join(read(f), "|"); got != "new|new|new" {
		t.Errorf("a file of which some was read: %s", got)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if got := strings.Join(read(null), "|"); got != "||" {
		t.Errorf("/dev/null: %s", got)
	}
	null.Close()
	if _, err := profiler.Replay(null); err == nil {
		t.Error("no error for a closed file")
	}
}

// Threads that shall take turns have one core; runs with one thread alternate with them.
func TestScaleByTurns(t *testing.T) {
	cores, _, err := profiler.Cores()
	if err != nil {
		t.Fatal(err)
	}
	runs, out, err := scaled(t, context.Background(), `n=$1; unset OMP_NUM_THREADS; read -r stat < /proc/$$/stat; set -- ${stat##*) }; shift 38; echo $n $(nproc) $1`, func(c *profiler.ScaleConfig) { c.Threads, c.Turns, c.Warmup = []int{1}, []int{2}, 0 })
	if err != nil {
		t.Fatal(err)
	}
	one := fmt.Sprintf("1 %d 0\n", cores) // with the usual policy
	if want := one + "2 1 3\n2 1 3\n" + one; out != want || len(runs.At[1]) != 2 || len(runs.Turns[2]) != 2 || len(runs.At) != 1 || len(runs.Turns) != 1 {
		t.Errorf("%q, want %q: %+v", out, want, runs)
	}
	if after, _, err := profiler.Cores(); err != nil || after != cores {
		t.Errorf("then this process may use %d cores, before %d: %v", after, cores, err)
	}
}

// Runs by turns that take too long are given up.
func TestScaleByTurnsGivesUp(t *testing.T) {
	_, _, err := scaled(t, context.Background(), `[ $1 = 1 ] || while :; do :; done`, func(c *profiler.ScaleConfig) {
		c.Threads, c.Turns, c.TurnsLimit = []int{1}, []int{2}, 100*time.Millisecond
	})
	if !errors.Is(err, profiler.ErrTurns) {
		t.Errorf("%v", err)
	}
}
