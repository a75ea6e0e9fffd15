package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profiler"
)

func TestProgressLine(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b}
	p.show(profiler.Progress{Elapsed: patience / 2, Threads: 8})
	p.erase()
	if b.Len() != 0 {
		t.Errorf("a short run has a progress line: %q", b.String())
	}
	p.show(profiler.Progress{Elapsed: 12 * time.Second, Threads: 8, Instances: 40})
	p.erase()
	p.erase()
	if want := "\r\x1b[K12 s · 8 threads · 40 section instances\r\x1b[K"; b.String() != want {
		t.Errorf("progress %q, want %q", b.String(), want)
	}
}
