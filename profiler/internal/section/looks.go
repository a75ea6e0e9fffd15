package section

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Who waits for the results of what it has handed out as futures looks at each by
// itself. That is over when it does something else. If it finds all results there,
// and nobody waits for what it hands out next, nothing of that is recorded: but its
// counters tell that it called what would have woken somebody. What others began
// to do behind its last look is then of the next round.

// look is the end of a dispatcher's last look at a future.
type look struct {
	passing
	next *shift // what began behind it
}

// awaits: a thread waits for a future.
func (p *poolRule) awaits(x *thread, r record.Record) {
	h := p.hand(x)
	if l := h.looked; h.awaits && l != nil {
		if l.cuts == x.cuts && p.t.c.wakes(record.Sub(x.acc, l.acc)) > 0 {
			p.awaited(x, r)
		} else {
			p.looksOn(h)
		}
	}
	if len(h.in) == 0 && !h.awaits {
		h.awaits, h.arrived = true, x.arrive(r)
	}
}

// looked: it has its result.
func (p *poolRule) looked(x *thread, r record.Record) {
	if h := p.hand(x); h.awaits {
		p.looksOn(h)
		h.looked = &look{passing{cuts: x.cuts, acc: slices.Clip(x.acc), tsc: r.TSC}, &shift{}}
	}
}

// looksOn: it has handed nothing out since, so that is one round still.
func (p *poolRule) looksOn(h *hand) {
	if h.looked == nil {
		return
	}
	y := h.looked.next
	h.looked = nil
	if y.out == 0 && len(y.parts) == 0 {
		return
	}
	y.absorb(h.now)
	for _, w := range p.hands {
		if w.round == h.now {
			w.round = y
		}
	}
	h.now = y
}

// awaited: it does something else.
func (p *poolRule) awaited(x *thread, r record.Record) {
	if h := p.hands[x]; h != nil && h.awaits {
		h.awaits, h.now.futures = false, true
		p.goesOn(x, h, r)
		p.looksOn(h) // unless a round ended there
	}
}
