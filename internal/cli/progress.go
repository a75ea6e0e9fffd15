package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/skewlens/skewlens/profiler"
)

// patience: shorter runs need no progress line.
const patience = time.Second

// progress is one line on a terminal, rewritten in place.
type progress struct {
	w     io.Writer
	shown bool
}

// newProgress returns nil when nobody would see it.
func newProgress(stderr io.Writer) *progress {
	if !terminal(stderr) {
		return nil
	}
	return &progress{w: stderr}
}

func (p *progress) show(r profiler.Progress) {
	if p == nil || r.Elapsed < patience {
		return
	}
	p.shown = true
	fmt.Fprintf(p.w, "\r\x1b[K%.0f s · %d threads · %d section instances", r.Elapsed.Seconds(), r.Threads, r.Instances)
}

// scale shows which run is under way; between runs nothing is shown.
func (p *progress) scale(r profiler.ScaleProgress) {
	if r.What == "" {
		p.erase()
		return
	}
	if r.Elapsed < patience {
		return
	}
	p.shown = true
	fmt.Fprintf(p.w, "\r\x1b[K%d of %d runs · %s", r.Done, r.All, r.What)
}

// erase takes the line away, so that the report does not begin in it.
func (p *progress) erase() {
	if p != nil && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
