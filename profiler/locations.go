package profiler

import (
	"maps"
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
		locate := o.Lines.Locate
		if end, is := ends[a]; is {
			locate = func(a profile.Addr) profile.Location { return o.Lines.Locate(o.Lines.Statement(a, end)) }
		}
		if i := int(a / profile.LibraryStep); i < len(o.Modules) && o.Modules[i].Begins(a%profile.LibraryStep) {
			locate = o.Lines.Entry
		}
		l := locate(a)
		l.Address = a
		list = append(list, l)
	}
	return list
}

// addresses are those that a report may name: where something was counted,
// where threads began, where parts begin and end. They are sorted. Of those at which
// nothing is but that a block begins, ends says where it ends.
func addresses(p *profile.Profile) (want addrs, ends map[profile.Addr]profile.Addr) {
	counted := make([]bool, len(p.Events))
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
	want = slices.AppendSeq(want, maps.Keys(ends))
	want.unite()
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

// begins are the addresses, other than some, at which blocks begin that were come to,
// or that jumps lead to which were: where one was never taken, another copy of it may
// have been; each with the end of its block.
func begins(p *profile.Profile, counted []bool, other addrs) map[profile.Addr]profile.Addr {
	ends := map[profile.Addr]profile.Addr{}
	add := func(b *profile.Block) {
		if _, is := slices.BinarySearch(other, b.Start); !is {
			ends[b.Start] = b.End
		}
	}
	was := func(b *profile.Block) bool { return b.Count != profile.NoEvent && counted[b.Count] }
	for i := range p.Graph.Blocks {
		if b := &p.Graph.Blocks[i]; was(b) {
			add(b)
		}
	}
	for i := range p.Graph.Edges {
		if e := &p.Graph.Edges[i]; e.Count != profile.NoEvent && e.Kind <= profile.Table && was(&p.Graph.Blocks[e.From]) {
			add(&p.Graph.Blocks[e.To])
		}
	}
	return ends
}
