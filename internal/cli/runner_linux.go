package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/skewlens/skewlens/lsp"
	"github.com/skewlens/skewlens/profile"
)

// runner runs targets for the language server: this same program as a child,
// so that nothing that happens to a target, or to its profiler, takes the
// server down.
//
//	server ─▶ skewlens profile --save FILE -- target   in a process group of its own
//	   └ cancel: SIGKILL to the whole group; the kernel ends what is traced
//	   └ death of the server: the group's guard does the same
type runner struct {
	self string // this program's file
	dir  string // for FILE; empty: the system's temporary directory
}

// tick is how often progress is told.
const tick = 500 * time.Millisecond

// Build runs a build command in the workspace folder.
func (r *runner) Build(ctx context.Context, t lsp.Target, line func(string)) error {
	cmd := exec.Command("/bin/sh", "-c", t.Build)
	cmd.Dir = t.Root
	return runGroup(ctx, cmd, line)
}

// Profile runs a target under skewlens profile and reads what it saved.
func (r *runner) Profile(ctx context.Context, t lsp.Target, progress func(lsp.Progress)) (*profile.Profile, error) {
	if r.dir != "" {
		if err := os.MkdirAll(r.dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder for results: %w", err)
		}
	}
	dir, err := os.MkdirTemp(r.dir, "run-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the profile: %w", err)
	}
	defer os.RemoveAll(dir)
	saved := filepath.Join(dir, "profile.skew")
	args := []string{"profile", "--save", saved, "-o", os.DevNull}
	if t.Threads > 0 {
		args = append(args, "--threads", strconv.Itoa(t.Threads))
	}
	cmd := exec.Command(r.self, append(append(args, "--", t.Program), t.Args...)...)
	cmd.Dir = t.Cwd
	cmd.Env = os.Environ()
	for name, value := range t.Env {
		cmd.Env = with(cmd.Env, name, value)
	}
	var mu sync.Mutex // lines come from one goroutine, ticks from another
	said := ""
	stop := ticks(func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		progress(lsp.Progress{Elapsed: d})
	})
	err = runGroup(ctx, cmd, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		if own, ok := strings.CutPrefix(line, "skewlens: "); ok {
			said = own
		}
		progress(lsp.Progress{Output: line})
	})
	stop()
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

// ticks calls f every now and then until stopped.
func ticks(f func(time.Duration)) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	start := time.Now()
	go func() {
		defer close(ended)
		t := time.NewTicker(tick)
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

// runGroup runs a command in a process group of its own, which does not outlive
// this process or ctx, and hands on what it prints, line by line. What leaves
// the group (by setsid, as daemons do) is out of reach.
func runGroup(ctx context.Context, cmd *exec.Cmd, line func(string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	group, end, err := guard()
	if err != nil {
		return fmt.Errorf("start the guard of %s: %w", cmd.Path, err)
	}
	defer end()
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	cmd.Stdout, cmd.Stderr = write, write // standard input is empty: ours is the client's
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	err = cmd.Start()
	write.Close()
	if err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	read2 := make(chan struct{})
	go func() {
		defer close(read2)
		eachLine(read, line)
	}()
	select {
	case err = <-exited:
	case <-ctx.Done():
		end()
		<-exited
		err = ctx.Err()
	}
	end() // a grandchild may hold the pipe open; it belongs to the group too
	select {
	case <-read2:
	case <-time.After(time.Second): // one that left the group
		read.Close()
		<-read2
	}
	return err
}

// guard begins a process group by a process that kills it all, itself too, when
// its input ends: when this process dies, whatever the way. end does so at once.
func guard() (group int, end func(), err error) {
	g := exec.Command("/bin/sh", "-c", "trap '' HUP INT QUIT TERM; read x; kill -KILL 0")
	g.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err := g.StdinPipe(); err != nil {
		return 0, nil, err
	}
	if err := g.Start(); err != nil {
		return 0, nil, err
	}
	return g.Process.Pid, sync.OnceFunc(func() {
		_ = syscall.Kill(-g.Process.Pid, syscall.SIGKILL)
		_ = g.Wait()
	}), nil
}

// eachLine hands on lines, those that are very long in pieces.
func eachLine(r io.Reader, f func(string)) {
	in := bufio.NewReaderSize(r, 4096)
	for {
		b, err := in.ReadSlice('\n')
		if s := strings.ToValidUTF8(strings.TrimRight(string(b), "\r\n"), "\uFFFD"); s != "" {
			f(s)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
