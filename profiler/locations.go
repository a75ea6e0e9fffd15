package profiler

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
)

// locations resolves every address that a report may name, sorted by address.
// That of a function's beginning is the function's line.
func locations(o *backend.Outcome) (list []profile.Location) {
	all, ends := addresses(o.Profile)
	list = make([]profile.Location, 0, len(all))
	for _, a := range all {
		for len(ends) > 0 && ends[0].start < a {
			ends = ends[1:]
		}
		var l profile.Location
		if i := int(a / profile.LibraryStep); i < len(o.Modules) && o.Modules[i].Begins(a%profile.LibraryStep) {
			l = o.Lines.Entry(a)
		} else if len(ends) > 0 && ends[0].start == a {
			l = o.Lines.Locate(o.Lines.Statement(a, ends[0].end))
		} else {
			l = o.Lines.Locate(a)
		}
		l.Address = a
		list = append(list, l)
	}
	return list
}

// addresses are those that a report may name: where something was counted,
// where threads began, where parts begin and end. They are sorted. Of those at which
// nothing is but that a block begins, ends says where it ends.
func addresses(p *profile.Profile) (want addrs, ends []begun) {
	counted := make([]bool, len(p.Events))
	want = make(addrs, 0, len(p.Graph.Blocks)+len(p.Graph.Edges)) // of most of which there is one
	p.EachCounts(func(c *profile.Counts) {
		for _, e := range c.Event {
			counted[e] = true
		}
	})
	for i := range p.Sections {
		if u := p.Sections[i].Units; u != nil {
			want.add(u.Loop)
		}
	}
	for i := range p.Events {
		if e := &p.Events[i]; e.Kind == profile.Hardware && counted[i] {
			want.add(e.Addr, e.Partner)
		}
	}
	for i := range p.Graph.Blocks {
		if b := &p.Graph.Blocks[i]; b.Count != profile.NoEvent && counted[b.Count] {
			want.add(b.Last)
			for _, off := range b.Accesses {
				want.add(b.Start + profile.Addr(off))
			}
		}
	}
	wantEdges(p, counted, &want)
	for i := range p.Threads {
		want.add(p.Threads[i].Start)
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		want.add(s.Site)
		want.add(s.Callers...)
		for j := range s.Instances {
			for k := range s.Instances[j].Parts {
				wantPart(&s.Instances[j].Parts[k], &want)
			}
		}
	}
	want.unite()
	ends = begins(p, counted, want)
	want.addBegun(ends)
	if len(want) > 0 && want[0] == 0 { // unknown
		want = want[1:]
	}
	return want, ends
}

// addrs are addresses in any order; of the same ones, which many parts have, few at a time.
type addrs []profile.Addr

func (l *addrs) add(a ...profile.Addr) {
	if len(*l)+len(a) > cap(*l) {
		l.unite()
		*l = slices.Grow(*l, len(*l)+len(a))
	}
	*l = append(*l, a...)
}

// addBegun adds those at which blocks begin: both lists are sorted, and have none in common.
func (l *addrs) addBegun(list []begun) {
	i, j := len(*l)-1, len(list)-1
	*l = slices.Grow(*l, len(list))[:len(*l)+len(list)]
	for k := len(*l) - 1; j >= 0; k-- {
		if i >= 0 && (*l)[i] > list[j].start {
			(*l)[k] = (*l)[i]
			i--
		} else {
			(*l)[k] = list[j].start
			j--
		}
	}
}

// unite sorts them, each once.
func (l *addrs) unite() {
	slices.Sort(*l)
	*l = slices.Compact(*l)
}

// wantPart adds where a part began and ended, and what it waited for.
func wantPart(x *profile.Part, want *addrs) {
	want.add(x.Begin, x.Site)
	for _, w := range x.Waits {
		want.add(w.Site)
	}
	for _, w := range x.Wakes {
		want.add(w.By)
	}
}

// wantEdges adds the jumps and calls that happened.
func wantEdges(p *profile.Profile, counted []bool, want *addrs) {
	for i := range p.Graph.Edges {
		if e := &p.Graph.Edges[i]; e.Count != profile.NoEvent && counted[e.Count] {
			want.add(e.Site)
		}
	}
}

// begun is where a block begins, and where it ends; the higher its order the later it was found.
type begun struct {
	start, end profile.Addr
	order      int32
}

// begins are the addresses, other than some, at which blocks begin that were come to,
// or that jumps lead to which were: where one was never taken, another copy of it may
// have been. They are sorted; of blocks that begin at the same place the last one counts.
func begins(p *profile.Profile, counted []bool, other addrs) (list []begun) {
	order, added := make([]int32, len(p.Graph.Blocks)), int32(0)
	add := func(i int) {
		added++
		order[i] = added
	}
	was := func(b *profile.Block) bool { return b.Count != profile.NoEvent && counted[b.Count] }
	for i := range p.Graph.Blocks {
		if was(&p.Graph.Blocks[i]) {
			add(i)
		}
	}
	for i := range p.Graph.Edges {
		if e := &p.Graph.Edges[i]; e.Count != profile.NoEvent && e.Kind <= profile.Table && was(&p.Graph.Blocks[e.From]) {
			add(int(e.To))
		}
	}
	found := 0
	for _, n := range order {
		found += int(min(n, 1))
	}
	list = make([]begun, 0, found)
	at := 0
	for i := range p.Graph.Blocks {
		if b := &p.Graph.Blocks[i]; order[i] > 0 {
			at = profile.SearchNear(len(other), at, func(i int) bool { return other[i] >= b.Start })
			if at == len(other) || other[at] != b.Start {
				list = append(list, begun{b.Start, b.End, order[i]})
			}
		}
	}
	slices.SortFunc(list, func(a, b begun) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.order, a.order)) })
	return slices.CompactFunc(list, func(a, b begun) bool { return a.start == b.start })
}
