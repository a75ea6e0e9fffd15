package profile

import (
	"cmp"
	"slices"
)

// Place is what tells the parts of a section apart in its sums: their slots, or
// where none are known their threads.
func (q *Part) Place() int32 {
	if q.Slot > 0 {
		return int32(q.Slot)
	}
	return int32(q.Thread)
}

// PartsBySlot adds the section's instances up: a part for each slot, sorted by
// slot; where none are known, for each thread. Its counts and times are sums;
// Begin, Site and the moments in time, which are one instance's, are zero. It is
// timed when all parts of that slot are.
//
// Folded instances know no slots, only ranks; but where there are any, the
// section has kept the totals, and these are returned.
func (s *Section) PartsBySlot() []Part {
	if len(s.Totals) > 0 {
		all := slices.Clone(s.Totals)
		slices.SortStableFunc(all, func(a, b Part) int { return cmp.Compare(a.Place(), b.Place()) })
		return all
	}
	return s.sums((*Part).Place)
}

// PartsByThread does so by thread. Where folded instances were of several
// threads to a slot, whose they were is not known, and they are left out.
func (s *Section) PartsByThread() []Part {
	if len(s.Totals) > 0 && !slices.ContainsFunc(s.Totals, func(q Part) bool { return q.Several }) {
		return s.Totals
	}
	return s.sums(func(q *Part) int32 { return int32(q.Thread) })
}

// ByThread is PartsByThread where PartsBySlot is known: the same where no slots are.
func (s *Section) ByThread(bySlot []Part) []Part {
	if len(s.Totals) > 0 || slices.ContainsFunc(s.Instances, func(in Instance) bool {
		return slices.ContainsFunc(in.Parts, func(q Part) bool { return q.Slot > 0 })
	}) {
		return s.PartsByThread()
	}
	return bySlot
}

// keyed is a part, and what it is added up by.
type keyed struct {
	key  int32
	part *Part
}

// sums adds up the parts of unfolded instances that have the same key.
func (s *Section) sums(key func(*Part) int32) []Part {
	var all []keyed
	events, last := EventID(0), int32(0)
	for i := range s.Instances {
		if s.Instances[i].Folded > 1 {
			continue
		}
		for k := range s.Instances[i].Parts {
			q := &s.Instances[i].Parts[k]
			all = append(all, keyed{key(q), q})
			last = max(last, all[len(all)-1].key)
			if n := len(q.Counts.Event); n > 0 {
				events = max(events, q.Counts.Event[n-1]+1)
			}
		}
	}
	all = inOrder(all, last)
	n := 0
	for i := range all {
		if i == 0 || all[i].key != all[i-1].key {
			n++
		}
	}
	sums := make([]Part, 0, n)
	scratch := make([]uint64, events)
	var parts []*Part
	for from := 0; from < len(all); {
		parts = parts[:0]
		to := from
		for ; to < len(all) && all[to].key == all[from].key; to++ {
			parts = append(parts, all[to].part)
		}
		sums, from = append(sums, sumOf(parts, scratch)), to
	}
	return sums
}

// inOrder sorts parts by keys up to a last one, those of each as they were. Most have ids
// of threads or of slots, which are dense.
func inOrder(all []keyed, last int32) []keyed {
	if int(last) > 4*len(all)+1024 {
		slices.SortStableFunc(all, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
		return all
	}
	from := make([]int32, last+2)
	for _, x := range all {
		from[x.key+1]++
	}
	for i := range from[1:] {
		from[i+1] += from[i]
	}
	sorted := make([]keyed, len(all))
	for _, x := range all {
		sorted[from[x.key]] = x
		from[x.key]++
	}
	return sorted
}

// sumOf adds up parts of one slot or thread. To add one sparse vector to the next would
// copy the sum each time; scratch, all zeros before and after, has room for all. One
// part's counts are what they are: goroutines come in their thousands, once each.
func sumOf(parts []*Part, scratch []uint64) Part {
	sum := Part{Thread: parts[0].Thread, Slot: parts[0].Slot, Timed: true}
	n := 0
	var waits []Wait
	var wakes []Wake
	for _, q := range parts {
		sum.Several = sum.Several || q.Several || q.Thread != parts[0].Thread
		sum.Thread = min(sum.Thread, q.Thread)
		if q.Slot != sum.Slot {
			sum.Slot = 0
		}
		for i := 0; i < len(q.Counts.Event) && len(parts) > 1; i++ {
			e := q.Counts.Event[i]
			if scratch[e] == 0 {
				n++
			}
			scratch[e] += q.Counts.N[i]
		}
		waits, wakes = append(waits, q.Waits...), append(wakes, q.Wakes...)
		if len(q.Inner.Event) > 0 {
			sum.Inner = sum.Inner.Plus(q.Inner)
		}
		sum.InnerBusyNS += q.InnerBusyNS
		sum.BusyNS, sum.WaitNS, sum.Timed = sum.BusyNS+q.BusyNS, sum.WaitNS+q.WaitNS, sum.Timed && q.Timed
	}
	sum.Waits, sum.Wakes = SumWaits(waits), SumWakes(wakes)
	if len(parts) == 1 {
		sum.Counts = parts[0].Counts
		return sum
	}
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
