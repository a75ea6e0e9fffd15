package ranks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// fill puts into the common profile what a second reading brings.
type fill struct {
	s        *survey
	calls    []*call
	sections []filled // by number
	numbers  map[uint64]numbering
	threads  []profile.Thread
	totals   int64 // bytes of the counts of whole lives, −1: too many
	hosts    int
	apart    bool // threads of different ranks have rows of their own
}

// filled is a section of the common profile.
type filled struct {
	kept    []profile.Instance // of sections within ranks
	ends    []int64            // of these
	folded  map[int]*folded    // by the number of parts
	totals  map[int32]*sum     // by row
	grouped bool               // ranks have added calls up
}

// folded are instances that are added up, part by part in the order of their work.
type folded struct {
	n      int
	spanNS int64
	parts  []sum
}

// rows is up to how many threads of all ranks together have rows of their own in
// sections within ranks. Of more, threads of the same place in their ranks share one.
const rows = 512

// liveRoom is up to how many bytes the counts of threads' whole lives are kept.
const liveRoom = 48 << 20

func (s *survey) newFill(calls []*call) *fill {
	f := &fill{s: s, calls: calls, sections: make([]filled, len(s.heads)), numbers: map[uint64]numbering{}}
	all := profile.ThreadID(0)
	for _, m := range s.members {
		all += m.threads
	}
	f.apart = all <= rows
	hosts := map[string]bool{}
	for _, m := range s.members {
		hosts[m.rank.Host] = true
	}
	f.hosts = len(hosts)
	return f
}

// second reads all profiles for the second time.
func (f *fill) second() {
	i := 0
	each(f.s.members, func(m *member, p *profile.Profile, err error) {
		if err != nil || hashOf(p) != m.hash { // it was there a moment ago
			f.s.doubts = append(f.s.doubts, profile.Warning{Code: "damaged-rank", Message: "the profile of " + Listed([]int{m.rank.Rank}) + " changed while it was read: what it did is missing"})
		} else {
			f.add(i, m, p)
		}
		i++
	})
}

func (f *fill) add(i int, m *member, p *profile.Profile) {
	n, has := f.numbers[m.hash]
	if !has {
		n = f.s.graph.number(p)
		f.numbers[m.hash] = n
	}
	f.addThreads(m, p, n)
	calls := map[callKey]bool{}
	for k := range p.Sections {
		x := &p.Sections[k]
		key := f.s.keyOf(p, x)
		for at := range x.Instances {
			if in := &x.Instances[at]; x.Kind == profile.MPI {
				f.addCall(i, m, key, in, n, calls)
			} else {
				f.addInner(i, m, key, at, in, n)
			}
		}
		if x.Kind != profile.MPI {
			f.addTotals(m, &f.sections[key], x, n)
		}
	}
}

// addThreads adds a rank's threads, with the counts of their lives as long as these
// are not too many.
func (f *fill) addThreads(m *member, p *profile.Profile, n numbering) {
	shift := m.rank.StartNS - f.s.startNS
	moved := func(id profile.ThreadID) profile.ThreadID {
		if id == 0 {
			return 0
		}
		return id + m.base
	}
	later := func(ns int64) int64 {
		if ns == 0 {
			return 0
		}
		return ns + shift
	}
	for i := range p.Threads {
		t := p.Threads[i]
		if t.With == 0 {
			t.Work = p.Instructions(t.Totals)
		}
		t.ID, t.Creator, t.Joiner, t.With = t.ID+m.base, moved(t.Creator), moved(t.Joiner), moved(t.With)
		t.BeginNS, t.EndNS, t.JoinedNS, t.CreatedNS, t.JoinNS = t.BeginNS+shift, later(t.EndNS), later(t.JoinedNS), later(t.CreatedNS), later(t.JoinNS)
		if f.totals >= 0 {
			t.Totals = n.of(t.Totals)
			if f.totals += 12 * int64(len(t.Totals.Event)); f.totals > liveRoom {
				f.totals = -1
				for k := range f.threads {
					f.threads[k].Totals, f.threads[k].With = profile.Counts{}, 0
				}
			}
		}
		if f.totals < 0 {
			t.Totals, t.With = profile.Counts{}, 0
		}
		f.threads = append(f.threads, t)
	}
}

// part is one of a rank, as the common profile has it.
func (f *fill) part(m *member, q *profile.Part, n numbering) profile.Part {
	out := *q
	out.Thread += m.base
	out.Counts, out.Inner, out.Syncs = n.of(q.Counts), n.of(q.Inner), nil
	if shift := m.rank.StartNS - f.s.startNS; f.hosts > 1 { // their clocks are not one
		out.BeginNS, out.ArriveNS = 0, 0
	} else if out.ArriveNS > 0 {
		out.BeginNS, out.ArriveNS = out.BeginNS+shift, out.ArriveNS+shift
	}
	out.Wakes = slices.Clone(q.Wakes)
	for i := range out.Wakes {
		out.Wakes[i].Thread += m.base
	}
	return out
}

func (f *fill) addCall(i int, m *member, key int32, in *profile.Instance, n numbering, seen map[callKey]bool) {
	k := callKey{f.s.comms[in.Call.Comm], -1, in.Call.First}
	if in.Call.First >= single {
		k.section = key
	}
	c := f.s.calls[k]
	if c == nil || len(c.come) < 2 || c.mixed || seen[k] {
		return
	}
	seen[k] = true
	x := c.of(i)
	q := f.part(m, &in.Parts[0], n)
	q.Slot, q.WaitNS = 0, max(0, q.WaitNS-c.least) // what the last one spent there is what it takes
	to := &f.sections[c.section]
	to.grouped = to.grouped || in.Call.N > 1
	if c.kept != nil {
		c.kept.Parts = append(c.kept.Parts, q)
		c.kept.SpanNS = max(c.kept.SpanNS, in.SpanNS)
		c.kept.Call = profile.MPICall{Comm: in.Call.Comm, First: in.Call.First, N: in.Call.N}
	} else {
		to.fold(len(c.come)).add(int(x.rank), &q, i == int(c.come[0].member), in.SpanNS, in.Call.N)
	}
	to.total(int32(q.Thread)).add(&q)
}

func (f *fill) addInner(i int, m *member, key int32, at int, in *profile.Instance, n numbering) {
	to := &f.sections[key]
	if f.s.keeps(i, key, at) {
		out := profile.Instance{Folded: 1, SpanNS: in.SpanNS}
		if in.Waiter > 0 {
			out.Waiter = in.Waiter + m.base
		}
		end := int64(0)
		for k := range in.Parts {
			q := f.part(m, &in.Parts[k], n)
			q.Slot = f.slot(&in.Parts[k])
			end = max(end, q.ArriveNS)
			out.Parts = append(out.Parts, q)
		}
		to.kept, to.ends = append(to.kept, out), append(to.ends, end)
		return
	}
	order := make([]int, len(in.Parts))
	parts, work := make([]profile.Part, len(in.Parts)), make([]uint64, len(in.Parts))
	for k := range in.Parts {
		order[k], parts[k] = k, f.part(m, &in.Parts[k], n)
		work[k] = f.s.graph.work(parts[k].Counts) + f.s.graph.work(parts[k].Inner)
	}
	if in.Folded <= 1 {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(work[a], work[b]) })
	}
	for r, k := range order {
		to.fold(len(order)).add(r, &parts[k], r == 0, in.SpanNS, max(1, in.Folded))
	}
}

// work is the instructions that counts of the common graph stand for.
func (u *graph) work(c profile.Counts) uint64 {
	p := profile.Profile{Graph: u.g, Events: u.events}
	return p.ModelCycles(c)
}

// slot is the row of a part of a section within a rank: none where each thread has one.
func (f *fill) slot(q *profile.Part) profile.SlotID {
	switch {
	case f.apart:
		return 0
	case q.Slot > 0:
		return q.Slot
	}
	return profile.SlotID(q.Thread) + 1
}

// addTotals adds what a rank's threads did in a section in all.
func (f *fill) addTotals(m *member, to *filled, x *profile.Section, n numbering) {
	all := x.PartsBySlot()
	for k := range all {
		q := f.part(m, &all[k], n)
		if q.Slot = f.slot(&all[k]); q.Slot > 0 {
			to.total(int32(q.Slot)).add(&q)
		} else {
			to.total(int32(q.Thread)).add(&q)
		}
	}
}

func (x *filled) fold(parts int) *folded {
	if x.folded == nil {
		x.folded = map[int]*folded{}
	}
	if x.folded[parts] == nil {
		x.folded[parts] = &folded{parts: make([]sum, parts)}
	}
	return x.folded[parts]
}

func (x *filled) total(row int32) *sum {
	if x.totals == nil {
		x.totals = map[int32]*sum{}
	}
	if x.totals[row] == nil {
		x.totals[row] = &sum{}
	}
	return x.totals[row]
}

// add adds the part of a rank of work; one of an instance's counts it.
func (x *folded) add(rank int, q *profile.Part, counts bool, spanNS int64, n int) {
	x.parts[rank].add(q)
	if counts {
		x.n += n
		x.spanNS += spanNS
	}
}

// instance is what was added up, as one.
func (x *folded) instance() profile.Instance {
	in := profile.Instance{Folded: x.n, SpanNS: x.spanNS}
	for r := range x.parts {
		q := x.parts[r].done()
		q.Thread, q.Slot, q.Several = profile.ThreadID(r), 0, false
		in.Parts = append(in.Parts, q)
	}
	return in
}

// section is one of the common profile; ok is false where nothing is in it.
func (f *fill) section(k int32) (profile.Section, bool) {
	x, h := &f.sections[k], f.s.heads[k]
	out := h.Section
	for _, n := range slices.Sorted(maps.Keys(x.folded)) {
		if y := x.folded[n]; y.n > 1 {
			out.Instances = append(out.Instances, y.instance())
		}
	}
	anyFolded := len(out.Instances) > 0
	if x.grouped {
		out.Warnings = append(out.Warnings, profile.Warning{Code: "added-up",
			Message: fmt.Sprintf("behind the first %d calls on a communicator each rank added up groups of them: what changes from call to call evens out there", single)})
	}
	if out.Kind == profile.MPI {
		out.Instances = append(out.Instances, f.keptCalls(k)...)
	} else {
		order := make([]int, len(x.kept))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x.ends[a], x.ends[b]) })
		for _, i := range order {
			out.Instances = append(out.Instances, x.kept[i])
		}
	}
	if anyFolded {
		out.TimeNS = h.spans
		for _, row := range slices.Sorted(maps.Keys(x.totals)) {
			q := x.totals[row].done()
			q.Begin, q.Site, q.BeginNS, q.ArriveNS = 0, 0, 0, 0
			if out.Kind == profile.MPI {
				q.Several = false
			}
			out.Totals = append(out.Totals, q)
		}
		slices.SortStableFunc(out.Totals, func(a, b profile.Part) int { return cmp.Compare(a.Thread, b.Thread) })
		for i := range out.Totals { // rows of several threads may have one in common
			if i > 0 {
				out.Totals[i].Thread = max(out.Totals[i].Thread, out.Totals[i-1].Thread+1)
			}
		}
	}
	return out, len(out.Instances) > 0
}

// keptCalls are the calls of a section that are kept, in order of time.
func (f *fill) keptCalls(k int32) (list []profile.Instance) {
	var kept []*call
	for _, c := range f.calls {
		if c.section == k && c.kept != nil && len(c.kept.Parts) > 0 {
			kept = append(kept, c)
		}
	}
	slices.SortStableFunc(kept, func(a, b *call) int { return cmp.Compare(a.endNS, b.endNS) })
	for _, c := range kept {
		if from, to, placed := span(c.kept); placed {
			c.kept.SpanNS = to - from
		}
		list = append(list, *c.kept)
	}
	return list
}

// span is from the first rank's begin to the last one's arrival.
func span(in *profile.Instance) (from, to int64, placed bool) {
	for i := range in.Parts {
		q := &in.Parts[i]
		if q.ArriveNS == 0 {
			return 0, 0, false
		}
		if i == 0 || q.BeginNS < from {
			from = q.BeginNS
		}
		to = max(to, q.ArriveNS)
	}
	return from, to, true
}
