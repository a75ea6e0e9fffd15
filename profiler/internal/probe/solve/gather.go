package solve

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// gather puts counts in the order of their events, and adds up those of the same one:
// the misses of several accesses of one instruction. Where there are many, a place for
// each event takes less time than sorting: every end of a thread or part comes here.
type gather struct {
	list []countOf
	sum  []uint64 // by event; zeros, between lists
	seen []uint64 // a bit for each event that has a sum
}

type countOf struct {
	event profile.EventID
	n     uint64
}

// fewCounted is how many are sorted rather than looked for among all events.
const fewCounted = 64

func (g *gather) add(e profile.EventID, n int64) {
	if e != profile.NoEvent {
		if len(g.list) == cap(g.list) { // append would make room for a quarter
			g.list = slices.Grow(g.list, len(g.list)+fewCounted)
		}
		g.list = append(g.list, countOf{e, uint64(n)})
	}
}

// take returns what was added, in order, and begins anew.
func (g *gather) take() profile.Counts {
	list := g.list
	g.list = list[:0]
	if len(list) == 0 {
		return profile.Counts{}
	}
	c := profile.Counts{Event: make([]profile.EventID, 0, len(list)), N: make([]uint64, 0, len(list))}
	if len(list) < fewCounted {
		slices.SortFunc(list, func(a, b countOf) int { return cmp.Compare(a.event, b.event) })
		for i, x := range list {
			if i > 0 && list[i-1].event == x.event {
				c.N[len(c.N)-1] += x.n
				continue
			}
			c.Event, c.N = append(c.Event, x.event), append(c.N, x.n)
		}
		return c
	}
	first, last := list[0].event, list[0].event
	for _, x := range list {
		first, last = min(first, x.event), max(last, x.event)
	}
	if int(last) >= len(g.sum) {
		n := last + last/4 + 64
		g.sum, g.seen = make([]uint64, n), make([]uint64, n/64+1)
	}
	for _, x := range list {
		g.sum[x.event] += x.n
		g.seen[x.event/64] |= 1 << (x.event % 64)
	}
	for w := first / 64; w <= last/64; w++ {
		for word := g.seen[w]; word != 0; word &= word - 1 {
			e := w*64 + profile.EventID(bits.TrailingZeros64(word))
			c.Event, c.N = append(c.Event, e), append(c.N, g.sum[e])
			g.sum[e] = 0
		}
		g.seen[w] = 0
	}
	return c
}
