package profiler

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// guard keeps signals that are meant for the target from ending the profiler.
//
// From a terminal, Ctrl-C and Ctrl-\ go to the whole foreground group: the
// target has got them already. A signal that was sent to the profiler alone is
// passed on. SIGTERM and SIGHUP are always passed on.
type guard struct {
	mu     sync.Mutex
	pid    int
	signal chan os.Signal
	quit   chan struct{}
}

func guardSignals(ctx context.Context) *guard {
	g := &guard{signal: make(chan os.Signal, 8), quit: make(chan struct{})}
	signal.Notify(g.signal, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	go g.watch(ctx)
	return g
}

func (g *guard) started(pid int) {
	g.mu.Lock()
	g.pid = pid
	g.mu.Unlock()
}

func (g *guard) stop() {
	signal.Stop(g.signal)
	close(g.quit)
}

func (g *guard) send(sig syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pid > 0 {
		syscall.Kill(g.pid, sig)
	}
}

func (g *guard) watch(ctx context.Context) {
	done := ctx.Done()
	var kill <-chan time.Time
	for {
		select {
		case s := <-g.signal:
			sig := s.(syscall.Signal)
			if (sig == syscall.SIGINT || sig == syscall.SIGQUIT) && tracee.InForeground() {
				continue
			}
			g.send(sig)
		case <-done:
			done = nil
			g.send(syscall.SIGTERM)
			kill = time.After(time.Second)
		case <-kill:
			g.send(syscall.SIGKILL)
		case <-g.quit:
			return
		}
	}
}
