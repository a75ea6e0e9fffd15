package profile

import "sort"

// Counts is a sparse vector over events: how often each happened. Events that
// are not in it happened zero times.
type Counts struct {
	Event []EventID // strictly increasing
	N     []uint64  // same length, none zero
}

// Of returns the count of one event.
func (c Counts) Of(e EventID) uint64 {
	i := sort.Search(len(c.Event), func(i int) bool { return c.Event[i] >= e })
	if i < len(c.Event) && c.Event[i] == e {
		return c.N[i]
	}
	return 0
}

// Plus returns the sum of two vectors. For the sum of many see
// [Section.PartsByThread], which does not copy it once for each.
func (c Counts) Plus(d Counts) Counts {
	s := Counts{make([]EventID, 0, max(len(c.Event), len(d.Event))), make([]uint64, 0, max(len(c.N), len(d.N)))}
	i, j := 0, 0
	for i < len(c.Event) || j < len(d.Event) {
		switch {
		case j == len(d.Event) || i < len(c.Event) && c.Event[i] < d.Event[j]:
			s.Event, s.N = append(s.Event, c.Event[i]), append(s.N, c.N[i])
			i++
		case i == len(c.Event) || d.Event[j] < c.Event[i]:
			s.Event, s.N = append(s.Event, d.Event[j]), append(s.N, d.N[j])
			j++
		default:
			s.Event, s.N = append(s.Event, c.Event[i]), append(s.N, c.N[i]+d.N[j])
			i, j = i+1, j+1
		}
	}
	return s
}

// Minus returns what c has more than d. Where d has more, nothing is left:
// counts are of executions, of which there are no negative ones.
func (c Counts) Minus(d Counts) Counts {
	left := Counts{}
	j := 0
	for i, e := range c.Event {
		for j < len(d.Event) && d.Event[j] < e {
			j++
		}
		n := c.N[i]
		if j < len(d.Event) && d.Event[j] == e {
			n -= min(n, d.N[j])
		}
		if n > 0 {
			left.Event, left.N = append(left.Event, e), append(left.N, n)
		}
	}
	return left
}

// EachCounts visits every vector of counts in the profile, to read or to
// replace it: the threads' whole lives, the sections' totals and all parts.
func (p *Profile) EachCounts(visit func(*Counts)) {
	for i := range p.Threads {
		visit(&p.Threads[i].Totals)
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		for k := range s.Totals {
			visit(&s.Totals[k].Counts)
			visit(&s.Totals[k].Inner)
		}
		for j := range s.Instances {
			for k := range s.Instances[j].Parts {
				visit(&s.Instances[j].Parts[k].Counts)
				visit(&s.Instances[j].Parts[k].Inner)
			}
		}
	}
}
