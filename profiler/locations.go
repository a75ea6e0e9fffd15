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
	for _, a := range slices.Sorted(maps.Keys(addresses(o.Profile))) {
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
// where threads began, where parts begin and end.
func addresses(p *profile.Profile) map[profile.Addr]bool {
	counted := make([]bool, len(p.Events))
	p.EachCounts(func(c *profile.Counts) {
		for _, e := range c.Event {
			counted[e] = true
		}
	})
	want := map[profile.Addr]bool{}
	for i := range p.Sections {
		if u := p.Sections[i].Units; u != nil {
			want[u.Loop] = true
		}
	}
	for i := range p.Events {
		if e := &p.Events[i]; e.Kind == profile.Hardware && counted[i] {
			want[e.Addr], want[e.Partner] = true, true
		}
	}
	for i := range p.Graph.Blocks {
		if b := &p.Graph.Blocks[i]; b.Count != profile.NoEvent && counted[b.Count] {
			want[b.Start], want[b.Last] = true, true
			for _, off := range b.Accesses {
				want[b.Start+profile.Addr(off)] = true
			}
		}
	}
	wantEdges(p, counted, want)
	for i := range p.Threads {
		want[p.Threads[i].Start] = true
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		want[s.Site] = true
		for _, a := range s.Callers {
			want[a] = true
		}
		for j := range s.Instances {
			for k := range s.Instances[j].Parts {
				wantPart(&s.Instances[j].Parts[k], want)
			}
		}
	}
	delete(want, 0) // unknown
	return want
}

// wantPart adds where a part began and ended, and what it waited for.
func wantPart(x *profile.Part, want map[profile.Addr]bool) {
	want[x.Begin], want[x.Site] = true, true
	for _, w := range x.Waits {
		want[w.Site] = true
	}
	for _, w := range x.Wakes {
		want[w.By] = true
	}
}

// wantEdges adds the jumps and calls that happened, and where jumps lead that
// were come to: where one was never taken, another copy of it may have been.
func wantEdges(p *profile.Profile, counted []bool, want map[profile.Addr]bool) {
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if e.Count == profile.NoEvent {
			continue
		}
		if counted[e.Count] {
			want[e.Site] = true
		}
		if e.Kind <= profile.Table {
			if from := p.Graph.Blocks[e.From].Count; from != profile.NoEvent && counted[from] {
				want[p.Graph.Blocks[e.To].Start] = true
			}
		}
	}
}
