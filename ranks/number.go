package ranks

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profile"
)

var seed = maphash.MakeSeed()

// hashOf is the same for graphs that are.
func hashOf(p *profile.Profile) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	var b []byte
	put := func(list ...uint64) {
		b = b[:0]
		for _, v := range list {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		h.Write(b)
	}
	yes := func(list ...bool) (n uint64) {
		for i, x := range list {
			if x {
				n |= 1 << i
			}
		}
		return n
	}
	for i := range p.Graph.Functions {
		f := &p.Graph.Functions[i]
		put(uint64(f.Entry), uint64(f.End), uint64(f.First), uint64(f.N), uint64(f.EntryBlock), yes(f.Opaque))
	}
	for i := range p.Graph.Blocks {
		x := &p.Graph.Blocks[i]
		put(uint64(x.Start), uint64(x.End), uint64(x.Count), uint64(x.Instructions), yes(x.Spin, x.Virtual, x.Deals, x.Runtime, x.Resumes))
	}
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		put(uint64(e.From), uint64(e.To), uint64(e.Kind), uint64(e.Site), uint64(e.Count))
	}
	for i := range p.Events {
		e := &p.Events[i]
		put(uint64(e.Kind), uint64(e.Addr), uint64(e.Block))
		h.WriteString(e.Name)
		h.WriteString(e.Reason)
	}
	return h.Sum64()
}

// numbering is what a rank's events are in the common graph: none, one, or more where
// edges that it counts with a block have events of their own there.
type numbering struct {
	to   [][]profile.EventID
	same bool // all keep theirs
}

func (u *graph) number(p *profile.Profile) numbering {
	n := make([][]profile.EventID, len(p.Events))
	for i := range p.Events {
		switch e := &p.Events[i]; e.Kind {
		case profile.BlockEntered:
			if b, ok := u.block(placeOf(p, e.Block)); ok && u.g.Blocks[b].Count != profile.NoEvent {
				n[i] = append(n[i], u.g.Blocks[b].Count)
			}
		case profile.Hardware:
			n[i] = append(n[i], u.missAt[keyOfMiss(e)])
		}
	}
	eachEdge(p, func(k edgeKey, e *profile.Edge) {
		if to, has := u.edgeAt[k]; has && e.Count != profile.NoEvent {
			n[e.Count] = append(n[e.Count], to)
		}
	})
	same := true
	for i, to := range n {
		same = same && len(to) == 1 && to[0] == profile.EventID(i)
	}
	return numbering{n, same}
}

// of are counts by the numbers of the common graph.
func (n numbering) of(c profile.Counts) profile.Counts {
	if n.same {
		return c
	}
	out := profile.Counts{Event: make([]profile.EventID, 0, len(c.Event)), N: make([]uint64, 0, len(c.N))}
	for i, e := range c.Event {
		for _, to := range n.to[e] {
			out.Event, out.N = append(out.Event, to), append(out.N, c.N[i])
		}
	}
	if len(out.Event) == 0 {
		return profile.Counts{}
	}
	if !slices.IsSorted(out.Event) {
		sort.Sort(byEvent{&out})
	}
	return out
}

type byEvent struct{ c *profile.Counts }

func (s byEvent) Len() int           { return len(s.c.Event) }
func (s byEvent) Less(i, j int) bool { return s.c.Event[i] < s.c.Event[j] }
func (s byEvent) Swap(i, j int) {
	s.c.Event[i], s.c.Event[j] = s.c.Event[j], s.c.Event[i]
	s.c.N[i], s.c.N[j] = s.c.N[j], s.c.N[i]
}
