package cfg

import "slices"

// Locks tells which critical sections calls stand in. It keeps the function that
// was looked at last.
type Locks struct {
	d     *Dealer
	g     *Graph
	space Space // which that is in
}

// NewLocks prepares that for a program.
func NewLocks(p *Program) *Locks { return &Locks{d: NewDealer(p)} }

// Apart reports whether two calls of a function surely stand in critical sections
// of their own: of the locks that are held there, or were when these were taken, none
// was taken by one call. In a barrier made by hand, a thread waits or wakes in the
// section in which it has counted itself; who waits for what another one has done
// does so in one, and that one says so in another. Conditions that go with any lock
// have one of their own, which is taken within: std::condition_variable_any, Boost's.
func (l *Locks) Apart(a, b uint64) bool {
	f := l.d.p.Owner(a)
	if f == nil || f != l.d.p.Owner(b) || f.Skip != "" {
		return false
	}
	if l.g == nil || l.g.Func != f {
		l.g = l.d.p.Graph(f, &l.space)
	}
	before, known := l.d.lockedBefore(l.g, a)
	others, also := l.d.lockedBefore(l.g, b)
	if !known || !also {
		return false
	}
	for at := range before {
		if others[at] {
			return false
		}
	}
	return true
}

// back is a way back from a call: to the end of a block, or to a call in it.
type back struct {
	b     *Block
	given int  // locks that were given back since, and not taken before that yet
	held  bool // one was found
}

// lockedBefore are the calls that may have taken the locks that are held at an address,
// or were when these were taken; known is false where there may be none, or one that was
// taken elsewhere.
func (d *Dealer) lockedBefore(g *Graph, addr uint64) (calls map[uint64]bool, known bool) {
	b := g.BlockOf(addr)
	if b == nil {
		return nil, false
	}
	calls = map[uint64]bool{}
	seen := map[back]bool{}
	for next := []back{{b: b}}; len(next) > 0; addr = ^uint64(0) {
		x := next[len(next)-1]
		next = next[:len(next)-1]
		switch sure := d.locksIn(&x, addr, calls); {
		case !sure && x.held:
			continue
		case !sure:
			return nil, false
		}
		for _, e := range x.b.Pred {
			y := back{e.From, x.given, x.held}
			switch {
			case e.Kind == Resumed, e.From == nil && x.held:
			case e.From == nil:
				return nil, false
			case !seen[y]:
				seen[y] = true
				next = append(next, y)
			}
		}
	}
	return calls, len(calls) > 0
}

// mostGiven locks are given back on one way.
const mostGiven = 8

// locksIn goes back through the calls of a block before an address; sure is false where
// one may take a lock, or give it back, that is not known.
func (d *Dealer) locksIn(x *back, addr uint64, calls map[uint64]bool) (sure bool) {
	for i := len(x.b.Calls) - 1; i >= 0; i-- {
		c := &x.b.Calls[i]
		switch {
		case c.Insn.Addr >= addr:
		case slices.Contains(takesLock, c.Import) && x.given > 0:
			x.given--
		case slices.Contains(takesLock, c.Import):
			calls[c.Insn.Addr], x.held = true, true
		case slices.Contains(givesBack, c.Import):
			if x.given++; x.given > mostGiven {
				return false
			}
		case c.Import == "":
			if h := d.habitOf(c, 0); h.locks || h.unlocks {
				return false
			}
		}
	}
	return true
}
