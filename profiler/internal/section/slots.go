package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// A place is where a thread stands among those of its kind, named by the first
// thread that stood there: the k-th that a thread creates for a round takes the
// place of the k-th of the round before. A thread that nobody creates anew, as
// those of a pool, has a place of its own.

// placeOf is the place of a thread that is the n-th of its group.
func (j *joinRule) placeOf(x *thread, n int) profile.ThreadID {
	at := seat{x.parent.place, n}
	first, taken := j.seats[at]
	if !taken {
		j.seats[at], first = x.id, x.id
	}
	return first
}

type seat struct {
	creator profile.ThreadID // its place
	n       int
}

// number gives the parts of a section their slots: places in the order of their
// first threads. Where each place was one thread's it stays so: the slot is the
// thread's.
func (o *open) number() {
	threads, several := map[profile.ThreadID]profile.ThreadID{}, false
	see := func(place, id profile.ThreadID) {
		first, ok := threads[place]
		several = several || ok && first != id
		threads[place] = id
	}
	for place, t := range o.totals {
		see(place, t.part.Thread)
		several = several || t.part.Several
	}
	for i := range o.instances {
		for k := range o.instances[i].parts {
			see(o.instances[i].parts[k].place, o.instances[i].parts[k].Thread)
		}
	}
	if !several {
		return
	}
	var order []profile.ThreadID
	for place := range threads {
		order = append(order, place)
	}
	slices.Sort(order)
	slot := map[profile.ThreadID]profile.SlotID{}
	for i, place := range order {
		slot[place] = profile.SlotID(i + 1)
	}
	for place, t := range o.totals {
		t.part.Slot = slot[place]
	}
	for i := range o.instances {
		for k := range o.instances[i].parts {
			q := &o.instances[i].parts[k]
			q.Slot = slot[q.place]
		}
	}
}

// distinct gives parts of one instance places of their own where two have the
// same: a slot is one thread's at a time. Who named a place stays there. Another one
// that finds its place taken stands at the one that it named itself; where goroutines
// were seated as they were made, somebody else may be there, and it gets one that
// its owner has left.
func distinct(parts []part) {
	if !slices.ContainsFunc(parts, func(p part) bool { return p.place != p.Thread }) {
		return
	}
	taken := map[profile.ThreadID]bool{}
	for i := range parts {
		if p := &parts[i]; p.place == p.Thread {
			taken[p.place] = true
		}
	}
	var without []*part
	for i := range parts {
		if p := &parts[i]; p.place == p.Thread {
			continue
		} else if taken[p.place] {
			without = append(without, p)
		} else {
			taken[p.place] = true
		}
	}
	var homeless []*part
	for _, p := range without {
		if taken[p.Thread] {
			homeless = append(homeless, p)
			continue
		}
		p.place, taken[p.Thread] = p.Thread, true
	}
	// As many are named by the parts as there are parts: one is left for each.
	left := 0
	for _, p := range homeless {
		for taken[parts[left].Thread] {
			left++
		}
		p.place, taken[parts[left].Thread] = parts[left].Thread, true
	}
}

// covered is the union of spans of time, which come about in the order of their
// ends.
type covered struct {
	spans []timeSpan // apart from each other, in order
	sum   uint64     // of those that were let go
	until uint64     // … and the last one's end
}

type timeSpan struct{ from, to uint64 }

const manySpans = 4096

func (c *covered) add(from, to uint64) {
	from = max(from, c.until)
	if to <= from {
		return
	}
	last := len(c.spans)
	for last > 0 && c.spans[last-1].from > to {
		last--
	}
	first := last
	for first > 0 && c.spans[first-1].to >= from {
		first--
		from, to = min(from, c.spans[first].from), max(to, c.spans[first].to)
	}
	c.spans = slices.Replace(c.spans, first, last, timeSpan{from, to})
	if len(c.spans) > manySpans { // nothing lasts so long that it reaches back to the older half; if it does, it is cut
		for _, s := range c.spans[:manySpans/2] {
			c.sum, c.until = c.sum+s.to-s.from, s.to
		}
		c.spans = slices.Delete(c.spans, 0, manySpans/2)
	}
}

// join adds what another union covers.
func (c *covered) join(x *covered) {
	c.sum, c.until = c.sum+x.sum, max(c.until, x.until)
	for _, s := range x.spans {
		c.add(s.from, s.to)
	}
}

func (c *covered) length() uint64 {
	n := c.sum
	for _, s := range c.spans {
		n += s.to - s.from
	}
	return n
}
