package section

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// shift is a round of a pool, or its beginning.
type shift struct {
	parts    []arrival // one of each thread
	who      []*thread // that have begun to work
	out      int       // of them still do
	broken   bool      // what somebody did in it is not known
	overran  bool      // somebody worked on after its end,
	trails   bool      // did a twentieth of its work then,
	futures  bool      // the dispatcher waited for futures: whoever had the last one works on a moment
	doubtful bool      // it may have been woken for nothing:
	acted    bool      // what it did next is known,
	again    bool      // which was nothing but to wait again
	numbers  []uint64  // of the workers' idle code
	dead     []*thread // that have ended in it, before it was filed
	filed    bool
	end      arrival  // the dispatcher's
	own      *arrival // what the dispatcher did itself since it woke the first;
	all      *arrival // since it went on, which is the same where nobody had to be woken
	over     uint64
}

// current is the round that begins to be worked in now.
func (h *hand) current() *shift {
	if h.looked != nil {
		return h.looked.next
	}
	return h.now
}

// begins: a thread begins to work that idled in code of a number.
func (y *shift) begins(x *thread, number uint64) {
	y.out++
	if !slices.Contains(y.who, x) {
		y.who = append(y.who, x)
	}
	if !slices.Contains(y.numbers, number) {
		y.numbers = append(y.numbers, number)
	}
}

// add is told what a thread did that came back. It may do so thousands of times in a
// round: what it waited for and counted grows in lists of its own, and is not copied
// each time.
func (y *shift) add(a arrival) {
	if i := slices.IndexFunc(y.parts, func(b arrival) bool { return b.t == a.t }); i >= 0 {
		b := &y.parts[i]
		waits, delta := append(b.waits, a.waits...), record.Log(b.delta, a.delta)
		b.delta, a.delta = nil, nil
		y.parts[i] = a.after(b)
		y.parts[i].waits, y.parts[i].delta = waits, delta
		return
	}
	a.waits, a.delta = slices.Clip(a.waits), slices.Clip(a.delta) // behind them stand the thread's next ones
	y.parts = append(y.parts, a)
}

// misses reports whether somebody has not begun yet.
func (y *shift) misses(c *crew) bool {
	return slices.ContainsFunc(c.members, func(w *thread) bool { return w.alive && !slices.Contains(y.who, w) })
}

// absorb makes a round that turned out to be none a part of the one behind it.
func (y *shift) absorb(before *shift) {
	later := y.parts
	y.parts = before.parts
	for i := range later {
		y.add(later[i])
	}
	for _, x := range before.who {
		if !slices.Contains(y.who, x) {
			y.who = append(y.who, x)
		}
	}
	for _, n := range before.numbers {
		if !slices.Contains(y.numbers, n) {
			y.numbers = append(y.numbers, n)
		}
	}
	y.out += before.out
	y.broken = y.broken || before.broken
	y.futures = y.futures || before.futures
	y.dead = append(before.dead, y.dead...)
	y.own, y.all = pieces(before.own, y.own), pieces(before.all, y.all)
}

// pieces is what a thread did in two pieces; nil is none.
func pieces(first, then *arrival) *arrival {
	if first == nil || then == nil {
		return cmp.Or(first, then)
	}
	a := then.after(first)
	return &a
}

// mostIdly are the instructions in which nobody hands out work: to see that there
// is nothing yet.
const mostIdly = 1000

// onlyEnds reports whether all who went on in a round have done nothing but end: code in
// which threads see that there is no more to do may be that in which they wait for it,
// and the dispatcher passes where it waits once more when it sees the same.
func (p *poolRule) onlyEnds(y *shift) bool {
	return len(y.parts) > 0 && !slices.ContainsFunc(y.parts, func(a arrival) bool { return !a.ended || p.t.c.Work(a.delta) >= mostIdly })
}

// acts: what a dispatcher does after a wait, to come to wait at code of a number
// or, 0, to wake somebody. If that is where it waited before, and there was nothing
// between, it had been woken for nothing.
func (p *poolRule) acts(x *thread, h *hand, number uint64) {
	n := len(h.past) - 1
	if n < 0 || !h.past[n].doubtful || h.past[n].acted {
		return
	}
	y := h.past[n]
	y.acted = true
	if number == h.number && h.woke == nil && h.since.cuts == x.cuts {
		did := record.Sub(x.acc, h.since.acc)
		y.again = p.t.c.Work(did) < mostIdly && p.t.c.wakes(did) == 0
	}
	p.settle(h)
}

// settle judges the rounds from which all have come back, in their order. If a
// dispatcher went on while somebody was at work, and others had not begun, it was
// woken for nothing if it waits again at once, or they turn out to have had work.
func (p *poolRule) settle(h *hand) {
	for len(h.past) > 0 && h.past[0].out == 0 {
		y := h.past[0]
		if y.doubtful && !y.acted {
			return
		}
		h.past = h.past[1:]
		if !y.doubtful || !y.again && !y.overran && !y.trails {
			p.judge(h, p.crew(h, y.end.site), y)
			continue
		}
		next := h.now
		if len(h.past) > 0 {
			next = h.past[0]
		}
		next.absorb(y)
	}
}
