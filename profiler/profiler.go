// Package profiler runs a program and returns its profile.
//
//	Config ─▶ backend (native; others stand beside it) ─▶ *profile.Profile
//
// The target's input, output, exit code, working directory and signals are its
// own. Ctrl-C on a terminal reaches the whole foreground group, so the target
// gets it as if nobody looked, and the profile of what happened until then is
// returned.
package profiler

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/native"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Config says what to run, and how.
type Config struct {
	Path                  string
	Name                  string // as which the program is called, its argv[0]; "": Path
	Args                  []string
	Env                   []string // nil: this process's
	Dir                   string   // "": this process's
	Backend               string   // "auto" and "": the best that works here; "native"
	Libraries             []string // which shared libraries to profile too: patterns of their names, as "libfft*"
	FollowExec            bool     // profile the last program that takes the first one's place (execve)
	Stdin, Stdout, Stderr *os.File // nil: this process's
	Progress              func(Progress)
	Analyses              string // directory where analyses of large programs are kept for the next run; "": nowhere
	Probe                 string // for measuring: what the native backend shall do without, as "no-induction,no-align"
}

// Progress is how far a run has come.
type Progress struct {
	Elapsed   time.Duration
	Threads   int // alive
	Instances int // of sections, completed
}

// Run runs a program to its end and returns its profile. When ctx is
// cancelled the target is ended (SIGTERM, a second later SIGKILL) and the
// profile up to there is returned. Errors say in one line what failed, on
// what, and the mend.
func Run(ctx context.Context, c Config) (*profile.Profile, error) {
	switch c.Backend {
	case "", "auto", "native":
	default:
		return nil, fmt.Errorf("backend %q is not built in; use --backend native", c.Backend)
	}
	path, err := Find(c.Path, c.Dir)
	if err != nil {
		return nil, err
	}
	var opened []*Lines
	defer func() {
		for _, l := range opened {
			l.Close()
		}
	}()
	open := func(path string) (*image.Image, native.Lines, error) {
		im, l, err := openProgram(path)
		if err == nil {
			opened = append(opened, l)
		}
		return im, l, err
	}
	files := [3]uintptr{0, 1, 2}
	for i, f := range []*os.File{c.Stdin, c.Stdout, c.Stderr} {
		if f != nil {
			files[i] = f.Fd()
		}
	}
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	nc := native.Config{Path: path, Name: cmp.Or(c.Name, c.Path), Args: c.Args, Env: env, Dir: c.Dir, Files: files, Probe: c.Probe, Analyses: c.Analyses,
		Open: open, Libraries: c.Libraries, FollowExec: c.FollowExec}
	if c.Progress != nil {
		nc.Progress = func(e time.Duration, t, n int) { c.Progress(Progress{e, t, n}) }
	}
	guard := guardSignals(ctx)
	defer guard.stop()
	nc.Started = guard.started
	type result struct {
		p   *profile.Profile
		err error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // ptrace belongs to a thread; it ends with this goroutine
		p, err := native.Run(nc)
		done <- result{p, err}
	}()
	r := <-done
	runtime.KeepAlive(c)
	return r.p, r.err
}

// openProgram reads a program, or says why it cannot be profiled.
func openProgram(path string) (*image.Image, *Lines, error) {
	im, err := image.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if fi, err := os.Stat(path); err == nil && fi.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 && os.Geteuid() != 0 {
		return nil, nil, fmt.Errorf("%s: is setuid, and would run without its rights under a profiler; run skewlens as root", path)
	}
	if im.HasGo {
		return nil, nil, fmt.Errorf("%s is a Go program: goroutines migrate between threads, which this backend cannot follow yet", path)
	}
	l, err := OpenLines(path)
	return im, l, err
}

// TraceMend says why a system may forbid what the native backend does, and the
// mend.
func TraceMend() string { return tracee.Mend() }
