package solve

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// grapher makes the graph of all functions.
type grapher struct {
	v      *Solver
	g      profile.Graph
	events []profile.Event
	number []profile.EventID // the solver's events → the profile's
	first  []profile.BlockID // of each function that ran
	done   []bool            // by function: its blocks' events have numbers
}

// Graph returns the graph of all functions, with blocks and edges of those
// that ran, its events, and the numbers that the solver's events have among
// these: NoEvent where a function's counts are not to be trusted.
func (v *Solver) Graph() (g profile.Graph, events []profile.Event, number []profile.EventID) {
	x := &grapher{v: v, number: make([]profile.EventID, len(v.events)), first: make([]profile.BlockID, len(v.plans)), done: make([]bool, len(v.plans))}
	for i := range x.number {
		x.number[i] = profile.NoEvent
	}
	x.makeRoom()
	for i := range v.mods {
		x.addFunctions(&v.mods[i])
	}
	pads := v.catch()
	for _, f := range v.funcs {
		if f != nil {
			x.numberBlocks(f)
			x.addEdges(f, pads)
		}
	}
	x.addMisses()
	x.addHardware()
	return x.g, x.events, x.number
}

// makeRoom makes room for what will be added at once: large programs have hundreds of
// thousands of events, and lists that grow are had several times over.
func (x *grapher) makeRoom() {
	functions, blocks, edges := 0, 0, 0
	for i := range x.v.mods {
		functions += len(x.v.mods[i].Spec.Program.Funcs)
	}
	for _, f := range x.v.funcs {
		if f != nil {
			blocks, edges = blocks+len(f.blocks), edges+len(f.graph)
		}
	}
	x.g.Functions, x.g.Blocks, x.g.Edges = make([]profile.Function, 0, functions), make([]profile.Block, 0, blocks), make([]profile.Edge, 0, edges)
	x.events = make([]profile.Event, 0, len(x.v.events))
}

// Numbered returns counts with the numbers that Graph gave their events.
func (v *Solver) Numbered(c profile.Counts, number []profile.EventID) profile.Counts {
	for i, e := range c.Event {
		v.gather.add(number[e], int64(c.N[i]))
	}
	return v.gather.take()
}

// addFunctions adds a module's functions and blocks.
func (x *grapher) addFunctions(m *Module) {
	for _, f := range m.Spec.Program.Funcs {
		fn := profile.Function{Name: f.Name, Entry: profile.Addr(f.Ranges[0].Lo + m.Base), End: profile.Addr(f.Ranges[0].Hi + m.Base),
			First: profile.BlockID(len(x.g.Blocks)), EntryBlock: profile.NoBlock, Opaque: true}
		if q := m.Spec.Plan(f); q != nil {
			fn.Opaque = q.Incomplete // did not run, as far as is known
			if ran := x.v.funcs[q.Number]; ran != nil {
				fn.Opaque = false
				x.first[q.Number] = fn.First
				fn.EntryBlock, fn.N = fn.First+profile.BlockID(ran.entryBlock), int32(len(ran.blocks))
				x.addBlocks(ran, profile.FunctionID(len(x.g.Functions)))
			}
		}
		x.g.Functions = append(x.g.Functions, fn)
	}
}

// addBlocks adds those of a function that ran; their counts are still the solver's events.
func (x *grapher) addBlocks(f *function, id profile.FunctionID) {
	for i := range f.blocks {
		b := &f.blocks[i]
		to := profile.Block{Function: id, Start: b.start, End: b.start + profile.Addr(b.end), Last: b.start + profile.Addr(b.last),
			Instructions: b.instructions, Count: b.count, Spin: b.spin, Virtual: b.virtual, Deals: b.deals, Resumes: b.resumes, Branch: b.branch}
		if f.accesses != nil {
			to.Accesses = f.accesses[i]
		}
		x.g.Blocks = append(x.g.Blocks, to)
	}
}

// give gives an event of the solver its number, if it has none yet.
func (x *grapher) give(e profile.EventID, ev profile.Event) {
	if e != profile.NoEvent && x.number[e] == profile.NoEvent && !x.v.broken[x.v.events[e].fn] {
		if ev.Kind != profile.Hardware {
			ev.Superior = profile.NoEvent
		}
		x.number[e] = profile.EventID(len(x.events))
		x.events = append(x.events, ev)
	}
}

func (x *grapher) numbered(e profile.EventID) profile.EventID {
	if e == profile.NoEvent {
		return e
	}
	return x.number[e]
}

func (x *grapher) numberBlocks(f *function) {
	if x.done[f.fn] {
		return
	}
	x.done[f.fn] = true
	for i := range f.blocks {
		id := x.first[f.fn] + profile.BlockID(i)
		b := &x.g.Blocks[id]
		x.give(b.Count, profile.Event{Kind: profile.BlockEntered, Block: id, Edge: -1, Addr: b.Start})
		b.Count = x.numbered(b.Count)
	}
}

// addEdges adds the edges of a function, those of indirect calls last. Those of
// exceptions come from where pads has them from.
func (x *grapher) addEdges(f *function, pads map[caught][]thrown) {
	late := len(f.graph) // they came last, in any order
	for late > 0 && f.graph[late-1].late {
		late--
	}
	slices.SortStableFunc(f.graph[late:], func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.site, b.site), cmp.Compare(a.callee, b.callee))
	})
	for i, e := range f.graph {
		if from := pads[caught{f.fn, int32(i)}]; len(from) > 0 {
			for k := range from {
				x.addEdge(f, from[k].edge, &from[k].by)
			}
			continue
		}
		x.addEdge(f, e, nil)
	}
}

// never: a block whose count is not known calls a function that was never entered, so
// that it was never executed itself. It gets an event that nobody counts.
func (x *grapher) never(f *function, e edge, from profile.BlockID) {
	if e.kind != profile.Call || e.callee < 0 || x.v.plans[e.callee].EntryUnknown {
		return
	}
	if b := &x.g.Blocks[from]; b.Count == profile.NoEvent && !x.v.broken[f.fn] && !x.v.broken[e.callee] {
		b.Count = profile.EventID(len(x.events))
		x.events = append(x.events, profile.Event{Kind: profile.BlockEntered, Block: from, Edge: -1, Addr: b.Start, Superior: profile.NoEvent})
	}
}

// addEdge adds one edge; by is where an exception comes from, if it does not from START.
func (x *grapher) addEdge(f *function, e edge, by *source) {
	to := profile.Edge{From: profile.NoBlock, To: profile.NoBlock, Kind: e.kind, Site: profile.Addr(e.site), Passes: e.passes}
	if e.from >= 0 {
		to.From = x.first[f.fn] + profile.BlockID(e.from)
	}
	if by != nil {
		x.numberBlocks(by.x)
		to.From = x.first[by.x.fn] + profile.BlockID(by.block)
	}
	switch {
	case e.to >= 0:
		to.To = x.first[f.fn] + profile.BlockID(e.to)
	case e.callee >= 0 && x.v.funcs[e.callee] != nil:
		to.To = x.first[e.callee] + profile.BlockID(x.v.funcs[e.callee].entryBlock)
		if e.kind == profile.Exit {
			to.Kind = profile.TailCall // through a slot
		}
	case e.kind.IsCall():
		x.never(f, e, to.From)
		return // never called, or not ours
	}
	addr := to.Site
	if e.kind == profile.Start {
		addr = x.g.Blocks[to.To].Start
		if x.v.startless[f.fn] {
			e.event = profile.NoEvent
		}
	}
	x.give(e.event, profile.Event{Kind: profile.EdgeTaken, Block: profile.NoBlock, Edge: int32(len(x.g.Edges)), Addr: addr})
	to.Count = x.numbered(e.event)
	x.g.Edges = append(x.g.Edges, to)
}
