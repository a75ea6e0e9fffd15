package ranks

import (
	"cmp"
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// A rank's graph has the blocks of the functions that ran there. The common one has
// those that ran anywhere; a function that did not run on a rank was executed 0 times
// there. What is not known of a rank is not known of the whole.

// place is a block, by the function that it is in: nowhere where i is −1.
type place struct {
	f profile.Addr
	i int32
}

var nowhere = place{0, -1}

// edgeKey tells edges apart; twins are numbered.
type edgeKey struct {
	from, to place
	kind     profile.EdgeKind
	site     profile.Addr
	twin     int32
}

// missKey tells hardware events apart.
type missKey struct {
	addr           profile.Addr
	name, reason   string
	writes, called bool
}

func keyOfMiss(e *profile.Event) missKey {
	return missKey{e.Addr, e.Name, e.Reason, e.Writes, e.Called}
}

// sharing is how an edge is counted.
type sharing uint8

const (
	own      sharing = iota // by an event of its own
	withFrom                // by that of the block that it leaves
	withTo                  // by that of the one that it enters
	unknown
)

type function struct {
	profile.Function
	blocks  []profile.Block
	counted bool // not opaque, on a rank where it ran
	differs bool // its blocks are not the same everywhere
}

type graph struct {
	functions map[profile.Addr]*function
	edges     map[edgeKey]sharing
	stands    map[edgeKey]profile.Addr // what an edge's own event stands for
	misses    map[missKey]profile.Event
	locations map[profile.Addr]profile.Location
	known     map[uint64]bool // graphs that were added, by their hash

	g      profile.Graph
	events []profile.Event
	first  map[profile.Addr]profile.BlockID // of a function's blocks
	edgeAt map[edgeKey]profile.EventID      // of edges with events of their own
	missAt map[missKey]profile.EventID
}

func newGraph() *graph {
	return &graph{functions: map[profile.Addr]*function{}, edges: map[edgeKey]sharing{}, stands: map[edgeKey]profile.Addr{}, misses: map[missKey]profile.Event{},
		locations: map[profile.Addr]profile.Location{}, known: map[uint64]bool{}}
}

// add joins a rank's graph to the common one.
func (u *graph) add(p *profile.Profile, hash uint64) {
	for _, l := range p.Locations {
		if _, has := u.locations[l.Address]; !has {
			u.locations[l.Address] = l
		}
	}
	if u.known[hash] {
		return
	}
	u.known[hash] = true
	for i := range p.Graph.Functions {
		u.addFunction(p, &p.Graph.Functions[i])
	}
	eachEdge(p, func(k edgeKey, e *profile.Edge) {
		s := shared(p, e)
		if s == own {
			u.stands[k] = p.Events[e.Count].Addr
		}
		if was, has := u.edges[k]; has && was != s {
			if s = own; was == unknown || shared(p, e) == unknown {
				s = unknown
			}
		}
		u.edges[k] = s
	})
	for i := range p.Events {
		if e := p.Events[i]; e.Kind == profile.Hardware {
			k := keyOfMiss(&e)
			if _, has := u.misses[k]; !has {
				e.Writer = 0 // a thread of that rank
				u.misses[k] = e
			}
		}
	}
}

func (u *graph) addFunction(p *profile.Profile, f *profile.Function) {
	x := u.functions[f.Entry]
	if x == nil {
		x = &function{Function: *f}
		u.functions[f.Entry] = x
	}
	if f.N == 0 {
		return
	}
	x.counted = x.counted || !f.Opaque
	blocks := p.Graph.Blocks[f.First : int(f.First)+int(f.N)]
	if x.blocks == nil {
		x.Function, x.blocks = *f, slices.Clone(blocks)
		x.EntryBlock -= f.First
		return
	}
	if len(blocks) != len(x.blocks) {
		x.differs = true
		return
	}
	for i := range blocks {
		a, b := &x.blocks[i], &blocks[i]
		x.differs = x.differs || a.Start != b.Start || a.End != b.End || a.Virtual != b.Virtual || a.Instructions != b.Instructions
		a.Deals, a.Runtime, a.Resumes, a.Spin = a.Deals || b.Deals, a.Runtime || b.Runtime, a.Resumes || b.Resumes, a.Spin && b.Spin
		if b.Count == profile.NoEvent {
			a.Count = profile.NoEvent
		}
	}
}

// eachEdge visits a rank's edges, by what they are called in all of them.
func eachEdge(p *profile.Profile, visit func(edgeKey, *profile.Edge)) {
	twins := map[edgeKey]int32{}
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		k := edgeKey{placeOf(p, e.From), placeOf(p, e.To), e.Kind, e.Site, 0}
		n := twins[k]
		twins[k] = n + 1
		k.twin = n
		visit(k, e)
	}
}

func placeOf(p *profile.Profile, b profile.BlockID) place {
	if b == profile.NoBlock {
		return nowhere
	}
	f := &p.Graph.Functions[p.Graph.Blocks[b].Function]
	return place{f.Entry, int32(b - f.First)}
}

// shared is how a rank counts an edge.
func shared(p *profile.Profile, e *profile.Edge) sharing {
	if e.Count == profile.NoEvent {
		return unknown
	}
	switch ev := &p.Events[e.Count]; {
	case ev.Kind != profile.BlockEntered:
		return own
	case ev.Block == e.From:
		return withFrom
	}
	return withTo
}

// build makes the common graph, when all ranks' are known.
func (u *graph) build() {
	u.first, u.edgeAt, u.missAt = map[profile.Addr]profile.BlockID{}, map[edgeKey]profile.EventID{}, map[missKey]profile.EventID{}
	for i, at := range slices.Sorted(maps.Keys(u.functions)) {
		u.buildFunction(profile.FunctionID(i), u.functions[at])
	}
	keys := slices.SortedFunc(maps.Keys(u.edges), edgeKey.compare)
	for _, k := range keys {
		u.buildEdge(k)
	}
	for _, k := range slices.SortedFunc(maps.Keys(u.misses), missKey.compare) {
		e := u.misses[k]
		e.Block, e.Superior = profile.NoBlock, profile.NoEvent
		for id := range u.g.Blocks {
			if b := &u.g.Blocks[id]; b.Start <= e.Addr && e.Addr < b.End && !b.Virtual {
				e.Block, e.Superior = profile.BlockID(id), b.Count
				break
			}
		}
		u.missAt[k] = profile.EventID(len(u.events))
		u.events = append(u.events, e)
	}
}

func (u *graph) buildFunction(id profile.FunctionID, x *function) {
	f := x.Function
	f.First = profile.BlockID(len(u.g.Blocks))
	f.Opaque = !x.counted && f.Opaque || x.differs
	if x.differs {
		f.N, f.EntryBlock, x.blocks = 0, profile.NoBlock, nil
	}
	if f.N > 0 {
		f.EntryBlock += f.First
	}
	u.first[f.Entry] = f.First
	for _, b := range x.blocks {
		b.Function = id
		if f.Opaque {
			b.Count = profile.NoEvent
		}
		if b.Count != profile.NoEvent {
			b.Count = profile.EventID(len(u.events))
			u.events = append(u.events, profile.Event{Kind: profile.BlockEntered, Block: profile.BlockID(len(u.g.Blocks)), Edge: -1, Addr: b.Start, Superior: profile.NoEvent})
		}
		u.g.Blocks = append(u.g.Blocks, b)
	}
	u.g.Functions = append(u.g.Functions, f)
}

// block is where a place is in the common graph; ok is false where it is left out.
func (u *graph) block(p place) (b profile.BlockID, ok bool) {
	if p == nowhere {
		return profile.NoBlock, true
	}
	x := u.functions[p.f]
	if x == nil || int(p.i) >= len(x.blocks) {
		return profile.NoBlock, false
	}
	return u.first[p.f] + profile.BlockID(p.i), true
}

func (u *graph) buildEdge(k edgeKey) {
	from, hasFrom := u.block(k.from)
	to, hasTo := u.block(k.to)
	if !hasFrom || !hasTo {
		return
	}
	e := profile.Edge{From: from, To: to, Kind: k.kind, Site: k.site, Count: profile.NoEvent}
	switch s := u.edges[k]; {
	case s == withFrom && from != profile.NoBlock:
		e.Count = u.g.Blocks[from].Count
	case s == withTo && to != profile.NoBlock:
		e.Count = u.g.Blocks[to].Count
	case s == own:
		e.Count = profile.EventID(len(u.events))
		u.edgeAt[k] = e.Count
		u.events = append(u.events, profile.Event{Kind: profile.EdgeTaken, Block: from, Edge: int32(len(u.g.Edges)), Addr: cmp.Or(u.stands[k], k.site, u.leaves(from)), Superior: profile.NoEvent})
	}
	u.g.Edges = append(u.g.Edges, e)
}

// leaves is where a block is left.
func (u *graph) leaves(b profile.BlockID) profile.Addr {
	if b == profile.NoBlock {
		return 0
	}
	return u.g.Blocks[b].Last
}

func (a edgeKey) compare(b edgeKey) int {
	return cmp.Or(cmp.Compare(a.from.f, b.from.f), cmp.Compare(a.from.i, b.from.i), cmp.Compare(a.to.f, b.to.f), cmp.Compare(a.to.i, b.to.i),
		cmp.Compare(a.kind, b.kind), cmp.Compare(a.site, b.site), cmp.Compare(a.twin, b.twin))
}

func (a missKey) compare(b missKey) int {
	return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.name, b.name), cmp.Compare(a.reason, b.reason), cmp.Compare(a.part(), b.part()))
}

// part numbers what of an instruction's accesses an event is of.
func (a missKey) part() (n int) {
	if a.writes {
		n = 1
	}
	if a.called {
		n += 2
	}
	return n
}
