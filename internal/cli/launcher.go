package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/skewlens/skewlens/internal/launch"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
)

// With --launcher skewlens does itself what a person types otherwise:
//
//	skewlens profile --launcher "mpirun -n 4" -- program
//	mpirun -n 4 skewlens profile --save DIR/ -- program; skewlens report DIR

// launched starts the program by its launcher and returns the profile of all ranks. When
// ctx is cancelled, or a signal comes, the launcher gets it, and ends the ranks.
func (o *profileFlags) launched(ctx context.Context, words []string, pr *progress) (*profile.Profile, error) {
	dir := o.ranks
	if dir == "" {
		var err error
		if dir, err = o.sharedFolder(); err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
	}
	cmd, err := o.launcherCommand(dir, words)
	if err != nil {
		return nil, err
	}
	failed := o.await(ctx, cmd, dir, pr)
	p, err := loadRanks(dir)
	if err != nil && failed != nil {
		return nil, fmt.Errorf("%s: %w; no rank left a profile", strings.Join(o.launcher, " "), failed)
	}
	if failed != nil {
		p.Warnings = append([]profile.Warning{{Code: "launcher", Message: fmt.Sprintf("%s failed: %v", filepath.Base(o.launcher[0]), failed)}}, p.Warnings...)
	}
	return p, err
}

// sharedFolder makes a folder for the ranks' files, where other machines see it too, as
// a rule: beside the file that is to be saved, or in the present directory.
func (o *profileFlags) sharedFolder() (string, error) {
	beside := "."
	if o.save != "" {
		beside = filepath.Dir(o.save)
	}
	beside, err := filepath.Abs(beside)
	if err != nil {
		return "", err
	}
	if dir, err := os.MkdirTemp(beside, launch.Folder); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", launch.Folder)
}

func (o *profileFlags) launcherCommand(dir string, words []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	path, err := profiler.Find(o.launcher[0], "")
	if err != nil {
		return nil, err
	}
	args := append(append([]string{}, o.launcher[1:]...), self, "profile", "--save", dir+"/", "--backend", o.backend, "--events", o.events)
	add := func(is bool, flags ...string) {
		if is {
			args = append(args, flags...)
		}
	}
	add(o.threads > 0, "--threads", strconv.Itoa(o.threads))
	add(o.cores > 0, "--cores", strconv.Itoa(o.cores))
	add(o.machine != "", "--machine", o.machine)
	add(o.units, "--units")
	add(o.noCache, "--no-cache")
	add(o.follow, "--follow-exec")
	add(o.probe != "", "--probe", o.probe)
	for _, l := range o.libraries {
		add(true, "--lib", l)
	}
	cmd := exec.Command(path, append(append(args, "--"), words...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd, nil
}

// await runs the launcher to its end.
func (o *profileFlags) await(ctx context.Context, cmd *exec.Cmd, dir string, pr *progress) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	began, tick := time.Now(), time.NewTicker(patience/2)
	defer tick.Stop()
	done := ctx.Done()
	var kill <-chan time.Time
	for {
		select {
		case err := <-ended:
			pr.erase()
			return err
		case s := <-signals: // Ctrl-C has gone to the whole foreground group, the launcher too
			if s == syscall.SIGTERM || s == syscall.SIGHUP {
				_ = cmd.Process.Signal(s)
			}
		case <-done:
			done = nil
			_ = cmd.Process.Signal(syscall.SIGTERM)
			kill = time.After(moment)
		case <-kill:
			_ = cmd.Process.Kill()
		case <-tick.C:
			pr.ranks(time.Since(began), launch.Running(dir))
		}
	}
}

// ranks shows how far ranks have come.
func (p *progress) ranks(elapsed time.Duration, s launch.State) {
	if p != nil && elapsed >= patience {
		p.shown = true
		fmt.Fprintf(p.w, "\r\x1b[K%.0f s · %s", elapsed.Seconds(), s)
	}
}

// launch runs ranks by a launcher, and reports on all of them.
func (o *profileFlags) launch(ctx context.Context, stdout, stderr io.Writer, words []string) error {
	if strings.HasSuffix(o.save, "/") || isDir(o.save) {
		o.ranks, o.save = strings.TrimRight(o.save, "/"), ""
		if err := os.MkdirAll(o.ranks, 0o777); err != nil {
			return err
		}
	}
	p, err := o.launched(ctx, words, newProgress(stderr))
	if err != nil {
		return err
	}
	o.ranks = "" // there is a report on all of them
	err = o.finish(stdout, stderr, p, nil, nil)
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	return err
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
