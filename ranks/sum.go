package ranks

import "github.com/skewlens/skewlens/profile"

// sum adds parts up: as a rule those of one place have the same events, so that
// nothing has to be copied.
type sum struct {
	part    profile.Part
	n       int
	untimed bool
}

func (s *sum) add(q *profile.Part) {
	t := &s.part
	if s.n == 0 {
		t.Thread, t.Slot, t.Begin, t.Site = q.Thread, q.Slot, q.Begin, q.Site
	}
	s.n++
	t.Several = t.Several || q.Several || q.Thread != t.Thread
	t.Thread = min(t.Thread, q.Thread)
	t.Counts, t.Inner = plus(t.Counts, q.Counts), plus(t.Inner, q.Inner)
	t.BusyNS, t.WaitNS, t.InnerBusyNS = t.BusyNS+q.BusyNS, t.WaitNS+q.WaitNS, t.InnerBusyNS+q.InnerBusyNS
	if len(q.Waits) > 0 {
		t.Waits = profile.SumWaits(append(t.Waits, q.Waits...))
	}
	if len(q.Wakes) > 0 {
		t.Wakes = profile.SumWakes(append(t.Wakes, q.Wakes...))
	}
	for _, m := range q.Messages {
		addMessage(&t.Messages, m)
	}
	s.untimed = s.untimed || !q.Timed
}

// addMessage adds waits for one rank at one call to what there are.
func addMessage(to *[]profile.Message, m profile.Message) {
	for i := range *to {
		if x := &(*to)[i]; x.Site == m.Site && x.Partner == m.Partner && x.Sends == m.Sends {
			x.NS, x.N = x.NS+m.NS, x.N+m.N
			return
		}
	}
	*to = append(*to, m)
}

// done is the sum as a part.
func (s *sum) done() profile.Part {
	q := s.part
	if q.Timed = !s.untimed; s.untimed {
		q.BusyNS, q.WaitNS, q.InnerBusyNS = 0, 0, 0
	}
	return q
}

// plus is a + b, in the place of a where that has all events of b; a is the sum's own.
func plus(a, b profile.Counts) profile.Counts {
	if !holds(a, b) {
		return a.Plus(b)
	}
	i := 0
	for k, e := range b.Event {
		for a.Event[i] != e {
			i++
		}
		a.N[i] += b.N[k]
	}
	return a
}

// holds reports whether a has all events of b.
func holds(a, b profile.Counts) bool {
	if len(b.Event) > len(a.Event) {
		return false
	}
	i := 0
	for _, e := range b.Event {
		for i < len(a.Event) && a.Event[i] < e {
			i++
		}
		if i == len(a.Event) || a.Event[i] != e {
			return false
		}
	}
	return true
}
