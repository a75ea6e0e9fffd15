// Package runner runs targets for the language server: skewlens itself as a
// child, so that nothing that happens to a target, or to its profiler, takes the
// server down.
//
//	server ─▶ skewlens profile --save FILE -- target   in a process group of its own
//	   │         └─▶ FILE ─▶ profile
//	   ├ cancel: SIGKILL to the whole group; the kernel ends what is traced
//	   └ death of the server: the group's guard does the same
package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/skewlens/skewlens/internal/launch"
	"github.com/skewlens/skewlens/lsp"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report/scaling"
)

// Runner is an lsp.Runner.
type Runner struct {
	Self string // the program file of skewlens
	Dir  string // for FILE; empty: the system's temporary directory

	mu    sync.Mutex
	group int // of what is measured now; 0: nothing is
}

// Finish has what is measured end as at Ctrl-C in a terminal: what it did so far is
// reported. It reports whether anything was.
func (r *Runner) Finish() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.group != 0 && syscall.Kill(-r.group, syscall.SIGINT) == nil
}

// measures says what Finish ends.
func (r *Runner) measures(group int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.group = group
}

// tick is how often progress is told.
const tick = 500 * time.Millisecond

// parallelCMake is how many files at once CMake builds, where no command says it.
const parallelCMake = "CMAKE_BUILD_PARALLEL_LEVEL"

// Build runs a build command in the workspace folder.
func (r *Runner) Build(ctx context.Context, t lsp.Target, line func(string)) error {
	cmd := exec.Command("/bin/sh", "-c", t.Build)
	cmd.Dir = t.Root
	if os.Getenv(parallelCMake) == "" { // CMake waits for one file after the other otherwise
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", parallelCMake, runtime.NumCPU()))
	}
	return runGroup(ctx, cmd, func(int) {}, line)
}

// Profile runs a target under skewlens profile and reads what it saved. When
// nothing was saved, the error is what skewlens said.
func (r *Runner) Profile(ctx context.Context, t lsp.Target, progress func(lsp.Progress)) (p *profile.Profile, err error) {
	err = r.saved(ctx, t, "profile", r.profile, progress, func(f io.Reader) (err error) {
		p, err = profile.Read(f)
		return err
	})
	return p, err
}

// Scale times a target by skewlens scale and reads its report.
func (r *Runner) Scale(ctx context.Context, t lsp.Target, progress func(lsp.Progress)) (report *scaling.Report, err error) {
	err = r.saved(ctx, t, "scale", r.scale, progress, func(f io.Reader) (err error) {
		report, err = scaling.ReadJSON(f)
		return err
	})
	return report, err
}

// saved runs a command of skewlens that saves something of a target to a file, and
// reads that.
func (r *Runner) saved(ctx context.Context, t lsp.Target, what string, command func(lsp.Target, string) *exec.Cmd, progress func(lsp.Progress), read func(io.Reader) error) error {
	if info, err := os.Stat(t.Cwd); t.Cwd != "" && (err != nil || !info.IsDir()) { // it would be said of skewlens itself
		return fmt.Errorf("run %s in %s: there is no such folder; make it, or change cwd", t.Name, t.Cwd)
	}
	dir, err := r.folder()
	if err != nil {
		return fmt.Errorf("make a folder for what is measured: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "saved")
	cmd := command(t, file)
	if t.Stdin != "" {
		in, err := os.Open(t.Stdin)
		if err != nil {
			return fmt.Errorf("open the standard input of %s: %w", t.Name, err)
		}
		defer in.Close()
		cmd.Stdin = in
	}
	defer r.measures(0)
	said, err := r.follow(ctx, cmd, func(g lsp.Progress) {
		if g.Output == "" {
			g.Ranks = launch.InFolder(dir)
		}
		progress(g)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f, openErr := os.Open(file)
	switch {
	case openErr == nil: // whatever else went wrong, this was measured
	case said != "":
		return errors.New(said)
	case err != nil:
		return fmt.Errorf("%s %s: %w", what, t.Program, err)
	default:
		return fmt.Errorf("%s %s: nothing was saved: %w", what, t.Program, openErr)
	}
	defer f.Close()
	return read(f)
}

// folder makes one for a run: among the others, or, where none can be made there (a
// home that is full or read-only), where temporary files are.
func (r *Runner) folder() (string, error) {
	name := fmt.Sprintf("run-%d-", os.Getpid())
	if r.Dir != "" && os.MkdirAll(r.Dir, 0o700) == nil {
		r.sweep()
		if dir, err := os.MkdirTemp(r.Dir, name); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", "skewlens-"+name)
}

// sweep removes what runners left behind whose process was killed.
func (r *Runner) sweep() {
	left, _ := filepath.Glob(filepath.Join(r.Dir, "run-*-*"))
	for _, dir := range left {
		pid, err := strconv.Atoi(strings.Split(filepath.Base(dir), "-")[1])
		if err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			os.RemoveAll(dir)
		}
	}
}

// profile profiles a target to a file.
func (r *Runner) profile(t lsp.Target, saved string) *exec.Cmd {
	args := []string{"profile", "--save", saved, "-o", os.DevNull}
	if t.Threads > 0 {
		args = append(args, "--threads", strconv.Itoa(t.Threads))
	}
	if t.Cores > 0 {
		args = append(args, "--cores", strconv.Itoa(t.Cores))
	}
	if t.Units {
		args = append(args, "--units")
	}
	if t.Events != "" {
		args = append(args, "--events", t.Events)
	}
	if t.Sample != "" {
		args = append(args, "--sample-sets", t.Sample)
	}
	if t.Machine != "" {
		args = append(args, "--machine", t.Machine)
	}
	for _, l := range t.Lib {
		args = append(args, "--lib", l)
	}
	for _, w := range t.Launcher {
		args = append(args, "--launcher", w)
	}
	if t.Follow {
		args = append(args, "--follow-exec")
	}
	return r.command(t, args)
}

// scale times a target on as many cores as there are, and fewer.
func (r *Runner) scale(t lsp.Target, file string) *exec.Cmd {
	return r.command(t, []string{"scale", "--format", "json", "-o", file})
}

// command is skewlens with a target.
func (r *Runner) command(t lsp.Target, args []string) *exec.Cmd {
	cmd := exec.Command(r.Self, append(append(args, "--", t.Program), t.Args...)...)
	cmd.Dir = t.Cwd
	cmd.Env = os.Environ()
	for name, value := range t.Env { // the last setting of a name is what the child gets
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// follow runs a command, tells its progress, and returns its last message: what
// it printed behind its own name.
func (r *Runner) follow(ctx context.Context, cmd *exec.Cmd, progress func(lsp.Progress)) (said string, err error) {
	var mu sync.Mutex // lines come from one goroutine, ticks from another
	stop := ticks(tick, func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		progress(lsp.Progress{Elapsed: d})
	})
	defer stop()
	err = runGroup(ctx, cmd, r.measures, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		if own, ok := strings.CutPrefix(line, "skewlens: "); ok {
			said = own
		}
		progress(lsp.Progress{Output: line})
	})
	return said, err
}

// ticks calls f every now and then until stopped.
func ticks(every time.Duration, f func(time.Duration)) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	start := time.Now()
	go func() {
		defer close(ended)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				f(time.Since(start))
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}
