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
	for i := range p.Events {
		if e := &p.Events[i]; e.Kind == profile.Hardware && counted[i] {
			want[e.Addr] = true
		}
	}
	for i := range p.Graph.Blocks {
		if b := &p.Graph.Blocks[i]; b.Count != profile.NoEvent && counted[b.Count] {
			want[b.Start], want[b.Last] = true, true
		}
	}
	for i := range p.Graph.Edges {
		if e := &p.Graph.Edges[i]; e.Count != profile.NoEvent && counted[e.Count] {
			want[e.Site] = true
		}
	}
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
				x := &s.Instances[j].Parts[k]
				want[x.Begin], want[x.Site] = true, true
			}
		}
	}
	delete(want, 0) // unknown
	return want
}
