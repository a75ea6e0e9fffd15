package cfg

import "slices"

// Locks tells which critical sections calls stand in. It keeps the function that
// was looked at last.
type Locks struct {
	d *Dealer
	g *Graph
}

// NewLocks prepares that for a program.
func NewLocks(p *Program) *Locks { return &Locks{d: NewDealer(p)} }

// Apart reports whether two calls of a function surely stand in critical sections
// of their own: no lock is the one taken last before both. In a barrier made by
// hand, a thread waits or wakes in the section in which it has counted itself; who
// waits for what another one has done does so in one, and that one says so in
// another.
func (l *Locks) Apart(a, b uint64) bool {
	f := l.d.p.Owner(a)
	if f == nil || f != l.d.p.Owner(b) || f.Skip != "" {
		return false
	}
	if l.g == nil || l.g.Func != f {
		l.g = l.d.p.Graph(f, nil)
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

// lockedBefore are the calls that may have taken the lock last before an address;
// known is false where it may have been elsewhere.
func (d *Dealer) lockedBefore(g *Graph, addr uint64) (calls map[uint64]bool, known bool) {
	b := g.BlockOf(addr)
	if b == nil {
		return nil, false
	}
	calls = map[uint64]bool{}
	seen := map[*Block]bool{}
	for next := []*Block{b}; len(next) > 0; addr = ^uint64(0) {
		b, next = next[len(next)-1], next[:len(next)-1]
		at, sure := d.lastLock(b, addr)
		switch {
		case !sure:
			return nil, false
		case at != 0:
			calls[at] = true
			continue
		}
		for _, e := range b.Pred {
			switch {
			case e.Kind == Resumed:
			case e.From == nil:
				return nil, false
			case !seen[e.From]:
				seen[e.From] = true
				next = append(next, e.From)
			}
		}
	}
	return calls, len(calls) > 0
}

// lastLock is the last call of a block before an address that takes a lock, 0 where
// there is none; sure is false where a call may do so that is not known.
func (d *Dealer) lastLock(b *Block, addr uint64) (at uint64, sure bool) {
	for i := len(b.Calls) - 1; i >= 0; i-- {
		c := &b.Calls[i]
		switch {
		case c.Insn.Addr >= addr:
		case slices.Contains(takesLock, c.Import):
			return c.Insn.Addr, true
		case c.Import == "":
			if h := d.habitOf(c, 0); h.locks || h.unlocks {
				return 0, false
			}
		}
	}
	return 0, true
}
