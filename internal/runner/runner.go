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
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skewlens/skewlens/lsp"
	"github.com/skewlens/skewlens/profile"
)

// Runner is an lsp.Runner.
type Runner struct {
	Self string // the program file of skewlens
	Dir  string // for FILE; empty: the system's temporary directory
}

// tick is how often progress is told.
const tick = 500 * time.Millisecond

// Build runs a build command in the workspace folder.
func (r *Runner) Build(ctx context.Context, t lsp.Target, line func(string)) error {
	cmd := exec.Command("/bin/sh", "-c", t.Build)
	cmd.Dir = t.Root
	return runGroup(ctx, cmd, line)
}

// Profile runs a target under skewlens profile and reads what it saved. When
// nothing was saved, the error is what skewlens said.
func (r *Runner) Profile(ctx context.Context, t lsp.Target, progress func(lsp.Progress)) (*profile.Profile, error) {
	if r.Dir != "" {
		if err := os.MkdirAll(r.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder for results: %w", err)
		}
	}
	dir, err := os.MkdirTemp(r.Dir, "run-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the profile: %w", err)
	}
	defer os.RemoveAll(dir)
	saved := filepath.Join(dir, "profile.skew")
	said, err := follow(ctx, r.command(t, saved), progress)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	f, openErr := os.Open(saved)
	switch {
	case openErr == nil: // whatever else went wrong, this was measured
	case said != "":
		return nil, errors.New(said)
	case err != nil:
		return nil, fmt.Errorf("profile %s: %w", t.Program, err)
	default:
		return nil, fmt.Errorf("profile %s: no profile was saved: %w", t.Program, openErr)
	}
	defer f.Close()
	return profile.Read(f)
}

// command profiles a target to a file.
func (r *Runner) command(t lsp.Target, saved string) *exec.Cmd {
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
	if t.Machine != "" {
		args = append(args, "--machine", t.Machine)
	}
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
func follow(ctx context.Context, cmd *exec.Cmd, progress func(lsp.Progress)) (said string, err error) {
	var mu sync.Mutex // lines come from one goroutine, ticks from another
	stop := ticks(tick, func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		progress(lsp.Progress{Elapsed: d})
	})
	defer stop()
	err = runGroup(ctx, cmd, func(line string) {
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
