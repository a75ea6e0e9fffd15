package profiler

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/skewlens/skewlens/profiler/internal/timed"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// guard keeps signals that are meant for the target from ending the profiler.
//
// From a terminal, Ctrl-C and Ctrl-\ go to the whole foreground group: the
// target has got them already. A signal that was sent to the profiler alone is
// passed on. SIGTERM and SIGHUP are always passed on.
//
// While the program is read, and once it has ended, a signal ends the run. A target
// that a signal should have ended and that is there a moment later is killed: it
// cannot get it while it is prepared. What the program does about signals is its
// own affair.
type guard struct {
	mu     sync.Mutex
	phase  phase
	pid    int
	signal chan os.Signal
	quit   chan struct{}
	last   syscall.Signal
	family []int         // processes that the target had started when the first signal came
	given  error         // why the run was given up,
	up     chan struct{} // closed then
}

// phase is how far a target has come.
type phase uint8

const (
	read     phase = iota // there is none yet
	prepared              // it exists, and does not run on by itself
	running
)

// patience is how long a signal may take to end the target.
const patience = 500 * time.Millisecond

func guardSignals(ctx context.Context) *guard {
	g := &guard{signal: make(chan os.Signal, 8), quit: make(chan struct{}), up: make(chan struct{})}
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // by nohup, or as a shell's job in the background: then the target ignores it too
			signal.Notify(g.signal, sig)
		}
	}
	go g.watch(ctx)
	return g
}

func (g *guard) started(pid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pid, g.phase = pid, prepared
	if g.given != nil {
		g.family = timed.Descendants(pid) // it may have come far before it was known here
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (g *guard) runs() {
	g.mu.Lock()
	g.phase = running
	g.mu.Unlock()
}

// ended: the target has, and another one may be started.
func (g *guard) ended() {
	g.mu.Lock()
	g.phase, g.pid = read, 0
	g.mu.Unlock()
}

// signalled is the last signal that came; 0: none did.
func (g *guard) signalled() syscall.Signal {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}

// note keeps a signal, and at the first one the target's processes: when it has
// ended, they are not known to be its own.
func (g *guard) note(sig syscall.Signal) {
	g.mu.Lock()
	if g.last == 0 && g.pid > 0 {
		g.family = timed.Descendants(g.pid)
	}
	g.last = sig
	g.mu.Unlock()
}

// endFamily ends what the target had started when a signal came and has not ended
// with it.
func (g *guard) endFamily(sig syscall.Signal) {
	g.mu.Lock()
	left := g.family
	g.family = nil
	g.mu.Unlock()
	for since := time.Now(); ; time.Sleep(patience / 50) {
		left = slices.DeleteFunc(left, func(pid int) bool { return !timed.Runs(pid) })
		if time.Since(since) > patience {
			sig = syscall.SIGKILL
		}
		for _, pid := range left {
			syscall.Kill(pid, sig)
		}
		if len(left) == 0 || sig == syscall.SIGKILL {
			return
		}
	}
}

func (g *guard) stop() {
	signal.Stop(g.signal)
	close(g.quit)
}

// send passes a signal on, and reports whether there is a target; signal 0 only
// asks that.
func (g *guard) send(sig syscall.Signal) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pid > 0 && syscall.Kill(g.pid, sig) == nil
}

// giveUp ends the run without a profile, if it has come no farther.
func (g *guard) giveUp(sig syscall.Signal, until phase) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.phase <= until && g.given == nil {
		before := "the program began"
		if g.phase == running {
			before = "the profile was complete"
		}
		g.given = fmt.Errorf("ended by %s before %s", tracee.SignalName(sig), before)
		close(g.up)
	}
}

// got handles a signal; again: it is not the first one. Where the target was gone
// before, it is meant for us; but a first Ctrl-C may be what ended the target.
func (g *guard) got(sig syscall.Signal, again bool) (gone bool) {
	g.giveUp(sig, read)
	if (sig == syscall.SIGINT || sig == syscall.SIGQUIT) && tracee.InForeground() {
		return again && !g.send(0)
	}
	return !g.send(sig)
}

func (g *guard) watch(ctx context.Context) {
	done := ctx.Done()
	var last syscall.Signal
	gone := false
	var kill, late <-chan time.Time
	for {
		select {
		case s := <-g.signal:
			g.note(s.(syscall.Signal))
			late = time.After(patience)
			gone = g.got(s.(syscall.Signal), last != 0)
			last = s.(syscall.Signal)
		case <-late:
			g.mu.Lock()
			stuck := g.phase == prepared || tracee.Withstands(g.pid, last)
			g.mu.Unlock()
			if gone {
				g.giveUp(last, running)
			} else if stuck {
				g.send(syscall.SIGKILL)
				g.giveUp(last, prepared)
			}
		case <-done:
			done, last = nil, syscall.SIGTERM
			g.note(last)
			g.giveUp(last, read)
			g.send(last)
			kill = time.After(time.Second)
		case <-kill:
			g.send(syscall.SIGKILL)
			g.giveUp(last, prepared)
		case <-g.quit:
			return
		}
	}
}
