package report

import (
	"strings"

	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
)

// cacheMiss is the kind of all causes that are misses of a cache.
const cacheMiss = "cache-miss"

// miss adds to a cause what is known of the cache's misses that it stands for.
func (b *builder) miss(out *Cause, c *lime.Cause) {
	level, is := strings.CutSuffix(c.Kind, "-miss")
	if c.Kind == "upgrade" { // the line was there, but others might read it
		level, is = "l1d", true
	}
	if !is {
		return
	}
	if c.Kind == profile.CacheMiss { // told by the processor: neither of which cache, nor why
		out.Misses = out.Counts
		return
	}
	out.Erased, out.Instructions = known(c.Erased), c.Missing
	e := &b.p.Events[c.Event]
	out.Kind, out.Level, out.Misses = cacheMiss, level, out.Counts
	if kind, sharing := strings.CutSuffix(e.Reason, "-sharing"); sharing {
		out.Miss, out.Sharing = "coherence", kind
	} else if c.Kind == "upgrade" {
		out.Miss = "coherence"
	} else {
		out.Miss = e.Reason
	}
	if e.Partner != 0 {
		out.Partner = &Partner{Location: b.location(e.Partner), Thread: writer(e.Writer)}
	}
}

// writer is a thread, counted from 1; nil for 0, which is several.
func writer(t profile.ThreadID) *int {
	if t == 0 {
		return nil
	}
	id := int(t) - 1
	return &id
}
