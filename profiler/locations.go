package profiler

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
)

// locations resolves every address that a report may name, sorted by address.
// That of a function's beginning is the function's line.
func locations(o *backend.Outcome) (list []profile.Location) {
	all := addresses(o.Profile)
	list = make([]profile.Location, 0, len(all))
	for _, a := range all {
		locate := o.Lines.Locate
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
// where threads began, where parts begin and end. They are sorted.
func addresses(p *profile.Profile) []profile.Addr {
	counted := make([]bool, len(p.Events))
	p.EachCounts(func(c *profile.Counts) {
		for _, e := range c.Event {
			counted[e] = true
		}
	})
	var want addrs
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
			want.add(b.Start, b.Last)
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
	if len(want) > 0 && want[0] == 0 { // unknown
		want = want[1:]
	}
	return want
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

// wantEdges adds the jumps and calls that happened, and where jumps lead that
// were come to: where one was never taken, another copy of it may have been.
func wantEdges(p *profile.Profile, counted []bool, want *addrs) {
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if e.Count == profile.NoEvent {
			continue
		}
		if counted[e.Count] {
			want.add(e.Site)
		}
		if e.Kind <= profile.Table {
			if from := p.Graph.Blocks[e.From].Count; from != profile.NoEvent && counted[from] {
				want.add(p.Graph.Blocks[e.To].Start)
			}
		}
	}
}
