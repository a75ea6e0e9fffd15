package profiler

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// TestEndedBefore: a signal, or who started the run, ends it also while the
// program is read or prepared, and nothing of it is left.
func TestEndedBefore(t *testing.T) {
	for name, end := range map[string]func(context.CancelFunc){
		"SIGTERM": func(context.CancelFunc) { syscall.Kill(os.Getpid(), syscall.SIGTERM) },
		"cancel":  func(cancel context.CancelFunc) { cancel() },
	} {
		for _, exists := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				target := exec.Command("sleep", "60")
				start := func(j backend.Job) {
					if err := target.Start(); err != nil {
						t.Error(err)
						return
					}
					stop(t, target) // as one that is prepared, it gets no signal but SIGKILL
					j.Started(target.Process.Pid)
				}
				gone := make(chan error, 1)
				proceed := make(chan struct{})
				takesLong := fake{"long", []backend.Events{backend.Edges}, func(j backend.Job) (*backend.Outcome, error) {
					if exists {
						start(j)
					}
					end(cancel)
					<-proceed
					if !exists {
						start(j)
					}
					gone <- target.Wait()
					return nil, errors.New("it was killed")
				}}
				_, err := run(ctx, Config{Path: "/bin/sleep"}, []backend.Backend{takesLong})
				if err == nil || !strings.Contains(err.Error(), "ended by SIGTERM before the program began") {
					t.Errorf("error %v", err)
				}
				close(proceed)
				<-gone
				if w := target.ProcessState.Sys().(syscall.WaitStatus); w.Signal() != syscall.SIGKILL {
					t.Errorf("the target ended by %v", w.Signal())
				}
			})
		}
	}
}

// stop stops a process.
func stop(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Process.Signal(syscall.SIGSTOP)
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &ws, syscall.WUNTRACED, nil); err != nil || !ws.Stopped() {
		t.Error(err, ws)
	}
}

// TestEndedBehind: a signal that comes when the target has ended ends what is left
// to do, if that takes long.
func TestEndedBehind(t *testing.T) {
	proceed := make(chan struct{})
	defer close(proceed)
	takesLong := fake{"long", []backend.Events{backend.Edges}, func(j backend.Job) (*backend.Outcome, error) {
		target := exec.Command("true")
		if err := target.Start(); err != nil {
			t.Error(err)
		}
		j.Started(target.Process.Pid)
		j.Running()
		target.Wait()
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
		<-proceed
		return nil, errors.New("nobody waits for it")
	}}
	_, err := run(context.Background(), Config{Path: "/bin/true"}, []backend.Backend{takesLong})
	if err == nil || !strings.Contains(err.Error(), "ended by SIGTERM before the profile was complete") {
		t.Errorf("error %v", err)
	}
}

// TestIgnoredStaysIgnored: under nohup the program outlives the terminal, and so
// does whoever profiles it.
func TestIgnoredStaysIgnored(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	looks := fake{"looks", []backend.Events{backend.Edges}, func(backend.Job) (*backend.Outcome, error) {
		if !signal.Ignored(syscall.SIGHUP) || signal.Ignored(syscall.SIGTERM) {
			t.Error("a signal that was ignored is no more, or the other way round")
		}
		return nil, errors.New("seen")
	}}
	_, _ = run(context.Background(), Config{Path: "/bin/true"}, []backend.Backend{looks})
}

func TestWithstands(t *testing.T) {
	if tracee.Withstands(os.Getpid(), syscall.SIGTERM) || tracee.Withstands(1<<30, syscall.SIGTERM) {
		t.Error("who handles a signal, or is not there, does not withstand it")
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	stop(t, cmd)
	cmd.Process.Signal(syscall.SIGTERM)
	if !tracee.Withstands(cmd.Process.Pid, syscall.SIGTERM) {
		t.Error("what is stopped does not get its signal")
	}
}

// TestWithstandsBlocked: what a program blocks is its own affair, but not where it is stopped
// and so cannot take it: as it is while it makes a thread.
func TestWithstandsBlocked(t *testing.T) {
	path := proctest.Build(t, "gcc", proctest.Source(t, "blocks.c", `
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, 0);
	puts("blocked");
	fflush(stdout);
	for (;;) pause();
}`))
	cmd := exec.Command(path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if _, err := io.ReadFull(out, make([]byte, 7)); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if tracee.Withstands(cmd.Process.Pid, syscall.SIGTERM) {
		t.Error("what blocks a signal may take it yet")
	}
	stop(t, cmd)
	if !tracee.Withstands(cmd.Process.Pid, syscall.SIGTERM) {
		t.Error("what is stopped takes no signal that it blocks")
	}
}
