package profile

import "slices"

// PartsByThread adds the section's instances up: a part for each thread that
// took part in any, sorted by thread. Its counts and times are sums; Begin,
// Site and the moments in time, which are one instance's, are zero. It is timed
// when all parts of that thread are.
//
// Folded instances know no threads, only ranks; but where there are any, the
// section has kept the totals, and these are returned.
func (s *Section) PartsByThread() []Part {
	if len(s.Totals) > 0 {
		return s.Totals
	}
	own, events := map[ThreadID][]*Part{}, EventID(0)
	ids := []ThreadID{}
	for i := range s.Instances {
		for k := range s.Instances[i].Parts {
			q := &s.Instances[i].Parts[k]
			if own[q.Thread] == nil {
				ids = append(ids, q.Thread)
			}
			own[q.Thread] = append(own[q.Thread], q)
			if n := len(q.Counts.Event); n > 0 {
				events = max(events, q.Counts.Event[n-1]+1)
			}
		}
	}
	slices.Sort(ids)
	sums := make([]Part, 0, len(ids))
	scratch := make([]uint64, events)
	for _, id := range ids {
		sums = append(sums, sumOf(own[id], scratch))
	}
	return sums
}

// sumOf adds up parts of one thread. To add one sparse vector to the next would
// copy the sum each time; scratch, all zeros before and after, has room for all.
func sumOf(parts []*Part, scratch []uint64) Part {
	sum := Part{Thread: parts[0].Thread, Timed: true}
	n := 0
	var waits []Wait
	for _, q := range parts {
		for i, e := range q.Counts.Event {
			if scratch[e] == 0 {
				n++
			}
			scratch[e] += q.Counts.N[i]
		}
		waits = append(waits, q.Waits...)
		sum.BusyNS, sum.WaitNS, sum.Timed = sum.BusyNS+q.BusyNS, sum.WaitNS+q.WaitNS, sum.Timed && q.Timed
	}
	sum.Waits = SumWaits(waits)
	sum.Counts = Counts{Event: make([]EventID, 0, n), N: make([]uint64, 0, n)}
	for e, n := range scratch {
		if n > 0 {
			sum.Counts.Event, sum.Counts.N = append(sum.Counts.Event, EventID(e)), append(sum.Counts.N, n)
			scratch[e] = 0
		}
	}
	return sum
}

// ThreadCounts are the counts of each thread's whole life, in the order of
// Threads; of its sections together where the backend kept only these.
func (p *Profile) ThreadCounts() []Counts {
	out, at, kept := make([]Counts, len(p.Threads)), map[ThreadID]int{}, false
	for i := range p.Threads {
		out[i], at[p.Threads[i].ID] = p.Threads[i].Totals, i
		kept = kept || len(out[i].Event) > 0
	}
	for k := 0; k < len(p.Sections) && !kept; k++ {
		for _, q := range p.Sections[k].PartsByThread() {
			out[at[q.Thread]] = out[at[q.Thread]].Plus(q.Counts)
		}
	}
	return out
}
