package section

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Goroutines that are made as long as there is room in a channel, and take something out of
// it when they have done their work:
//
//	maker   sends go, sends go, sends go ─ sends, sends, sends ─ sends go, …
//	made            └─ work, receive, end
//
// Who fills the channel once more, at another line, goes on when none of them works: that is
// where they met. What room there is in the channel is not known; once is no filling.

// sent is how often in a row a goroutine has sent into one channel at one place, since it last
// made another one.
type sent struct {
	on    uint64
	at    profile.Addr
	times int
}

// holding is what a batch's goroutines take up of a channel.
type holding struct {
	channel uint64
	at      profile.Addr // where the maker sends before it makes one
	made    int          // that were made so
	filled  int          // how often it has sent elsewhere since
}

// makes: a goroutine makes another one.
func (h *holding) makes(x *thread) {
	if x.sent.times == 1 && (h.made == 0 || h.channel == x.sent.on) {
		h.channel, h.at = x.sent.on, x.sent.at
		h.made++
	}
	h.filled, x.sent.times = 0, 0
}

// joins: of so many goroutines all were made so, and the maker has filled the channel.
func (h *holding) joins(made int) bool { return h.made == made && h.filled > 1 }

// holds: a goroutine sends something, which may be for one that it will make, or to wait for
// those that it has made.
func (g *goRule) holds(x *thread, r record.Record) {
	at := profile.Addr(r.Site)
	if x.sent.on != r.Arg1 || x.sent.at != at {
		x.sent = sent{on: r.Arg1, at: at}
	}
	x.sent.times++
	n := len(g.batches[x])
	if n == 0 {
		return
	}
	y := g.batches[x][n-1]
	if h := &y.held; h.made == y.made && y.made > 1 && h.channel == r.Arg1 && g.t.c.Line(h.at) != g.t.c.Line(at) {
		h.filled++
		y.at, y.chain, y.last, y.busy = at, r.Chain, r.TSC, x.clock-y.clock
	}
}
