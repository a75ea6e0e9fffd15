package probe

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
)

// solved is one function as the solver sees it: what is left of its graph and
// flow, which are thrown away.
type solved struct {
	fn         int32
	edges      []solvedEdge // as in the flow
	steps      []step
	firstSelf  int32
	entry      int32           // flow edge of the entry
	start      profile.EventID // of the START edge
	calls      []callOf
	sites      []siteOf
	blocks     []profile.Block // Count is one of the solver's events
	entryBlock int32
	graph      []edge
	hubBlock   map[int32]int32 // hubs that several switches share → block
}

// solvedEdge is an edge of the flow.
type solvedEdge struct {
	counter int32 // −1: derived
	step    int64 // what the counter counts by
	event   profile.EventID
	unknown bool
}

// edge is an edge of the profile's graph. Its blocks are of the function,
// −1: none; or it leads to the entry of the function callee.
type edge struct {
	from, to, callee int32
	kind             profile.EdgeKind
	site             uint64
	event            profile.EventID
	late             bool // an indirect call's, found while the program ran
}

// callOf is a known call in a function: as often as its flow edge.
type callOf struct {
	edge   int32
	callee int32
}

// siteOf is a call or tail jump through a pointer.
type siteOf struct {
	addr  uint64
	block int32
	tail  bool
}

// self is a block's edge in the flow.
func (x *solved) self(block int) int32 { return x.firstSelf + int32(block) }

// load returns what solving a function needs.
func (v *Solver) load(fi int32) *solved {
	if x := v.funcs[fi]; x != nil {
		return x
	}
	q := v.plans[fi]
	m := v.moduleOf(fi)
	s := m.Spec
	g := s.Program.Graph(q.f, &v.space)
	w := newFlow(g, q.marks, nil)
	w.place(q.first, s.opt, nil)
	w.derive()
	x := &solved{fn: fi, edges: make([]solvedEdge, len(w.edges)), steps: w.steps, firstSelf: w.self[0], entry: w.byCfg[0], entryBlock: int32(g.Entry.ID)}
	v.funcs[fi] = x
	for i := range w.edges {
		e := &w.edges[i]
		x.edges[i] = solvedEdge{e.counter, 1, profile.NoEvent, e.unknown}
		if e.induction != nil {
			x.edges[i].step = e.induction.step
		}
	}
	b := builder{v: v, x: x, s: s, q: q, g: g, w: w, base: m.Base}
	b.addBlocks()
	for _, e := range g.Edges {
		b.addEdge(e)
	}
	b.addCalls()
	x.start = v.newEdge(x, edge{from: -1, to: x.entryBlock, callee: -1, kind: profile.Start}, !x.edges[x.entry].unknown && !q.vague)
	eachSite(s.Program, q, g, func(b *cfg.Block, c *cfg.Call) {
		if c != nil {
			x.sites = append(x.sites, siteOf{c.Insn.Addr + m.Base, int32(b.ID), false})
		} else {
			x.sites = append(x.sites, siteOf{b.Last().Addr + m.Base, int32(b.ID), true})
		}
	})
	v.weigh(x, w)
	return x
}

// newEdge adds an edge to a function's part of the graph; counted asks for an
// event of its own.
func (v *Solver) newEdge(x *solved, e edge, counted bool) profile.EventID {
	e.event = profile.NoEvent
	if counted {
		e.event = profile.EventID(len(v.events))
		v.events = append(v.events, event{fn: x.fn, block: -1, edge: int32(len(x.graph))})
	}
	x.graph = append(x.graph, e)
	return e.event
}

// builder makes a function's part of the graph. Edges of a block with one way
// out share the block's event: they are the same number.
type builder struct {
	v    *Solver
	x    *solved
	s    *Spec
	q    *plan
	g    *cfg.Graph
	w    *flow
	base uint64 // of the module's addresses in the profile
}

func (b *builder) addr(link uint64) profile.Addr { return profile.Addr(link + b.base) }

// addBlocks numbers the blocks' events. Every hub with several switches is a
// block without instructions.
func (b *builder) addBlocks() {
	x, v := b.x, b.v
	for _, k := range b.g.Blocks {
		e := profile.NoEvent
		if i := b.w.self[k.ID]; !x.edges[i].unknown {
			e = profile.EventID(len(v.events))
			x.edges[i].event = e
			worth := int32(len(k.Insns))
			if k.Spin {
				worth = 0
			}
			v.events = append(v.events, event{fn: x.fn, block: int32(k.ID), insns: worth})
		}
		x.blocks = append(x.blocks, profile.Block{Start: b.addr(k.Start), End: b.addr(k.End), Last: b.addr(k.Last().Addr),
			Instructions: int32(len(k.Insns)), Count: e, Spin: k.Spin})
	}
	sources := map[int32]int{}
	for _, i := range b.w.hubIn {
		if i >= 0 {
			sources[b.w.edges[i].hub]++
		}
	}
	x.hubBlock = map[int32]int32{}
	end := b.addr(b.q.f.Ranges[0].Hi)
	for h := int32(1); h <= b.w.hubs; h++ {
		if sources[h] > 1 {
			x.hubBlock[h] = int32(len(x.blocks))
			x.blocks = append(x.blocks, profile.Block{Start: end, End: end, Last: end, Count: profile.NoEvent, Virtual: true})
		}
	}
}

func (b *builder) addEdge(e *cfg.Edge) {
	to := edge{from: -1, to: -1, callee: -1}
	if e.From != nil {
		to.from, to.site = int32(e.From.ID), e.From.Last().Addr+b.base
	}
	if e.To != nil {
		to.to = int32(e.To.ID)
	}
	i := b.w.byCfg[e.ID]
	switch e.Kind {
	case cfg.Fall:
		b.add(i, e, to, profile.Fall)
	case cfg.Taken:
		if e.To == nil {
			b.leave(i, e, to)
		} else {
			b.add(i, e, to, profile.Taken)
		}
	case cfg.Jump:
		b.add(i, e, to, profile.Jump)
	case cfg.Exit:
		if e.From.Last().Kind.IsJump() {
			b.leave(i, e, to)
		} else {
			b.add(i, e, to, profile.Exit)
		}
	case cfg.Entry: // becomes the START edge: entries that no known call explains
	case cfg.Pad:
		b.add(i, e, to, profile.Pad)
	case cfg.Table:
		b.addTable(e, to.site)
	}
}

func (b *builder) add(i int32, e *cfg.Edge, to edge, k profile.EdgeKind) profile.EventID {
	to.kind = k
	if e.From != nil && len(e.From.Succ) == 1 && b.x.blocks[to.from].Count != profile.NoEvent {
		b.v.newEdge(b.x, to, false)
		ev := b.x.blocks[to.from].Count
		b.x.graph[len(b.x.graph)-1].event = ev
		return ev
	}
	known := i >= 0 && !b.x.edges[i].unknown
	ev := b.v.newEdge(b.x, to, known)
	if known {
		b.x.edges[i].event = ev
	}
	return ev
}

// leave adds the edge of a jump out of the function.
func (b *builder) leave(i int32, e *cfg.Edge, to edge) {
	target := e.From.Last().Target
	if q := b.movedAt(target); q != nil {
		to.callee = q.number
		b.add(i, e, to, profile.TailCall)
		return
	}
	ev := b.add(i, e, to, profile.Exit)
	if name := b.s.Program.Image.PLT[target]; name != "" && ev != profile.NoEvent {
		b.v.exits = append(b.v.exits, Departure{profile.Addr(to.site), name, ev})
	}
}

func (b *builder) movedAt(entry uint64) *plan {
	if f := b.s.Program.FuncAt(entry); f != nil {
		return b.s.byFunc[f]
	}
	return nil
}

// addTable adds the edge of a switch to a target, through the meeting block
// where several switches share targets.
func (b *builder) addTable(e *cfg.Edge, site uint64) {
	in, out := b.w.hubIn[e.From.ID], b.w.hubTo[e.To.ID]
	add := func(i, from, to int32) {
		if x := &b.x.edges[i]; x.event == profile.NoEvent {
			x.event = b.v.newEdge(b.x, edge{from: from, to: to, callee: -1, kind: profile.Table, site: site}, !x.unknown)
		}
	}
	from, to := int32(e.From.ID), int32(e.To.ID)
	if hub, shared := b.x.hubBlock[b.w.edges[in].hub]; shared {
		add(in, from, hub)
		add(out, hub, to)
		return
	}
	add(out, from, to)
}

// addCalls adds the edges of direct calls, which share their block's event,
// and notes what explains the callee's entries.
func (b *builder) addCalls() {
	x := b.x
	for _, k := range b.g.Blocks {
		for i := range k.Calls {
			c := &k.Calls[i]
			q := b.s.byFunc[c.Callee]
			if c.Callee == nil || q == nil {
				continue
			}
			b.v.newEdge(x, edge{from: int32(k.ID), to: -1, callee: q.number, kind: profile.Call, site: c.Insn.Addr + b.base}, false)
			x.graph[len(x.graph)-1].event = x.blocks[k.ID].Count
			x.calls = append(x.calls, callOf{b.w.self[k.ID], q.number})
		}
		for _, e := range tailEdges(k) {
			if q := b.movedAt(k.Last().Target); q != nil {
				x.calls = append(x.calls, callOf{b.w.byCfg[e.ID], q.number})
			}
		}
	}
}

// tailEdges are the edges by which a block's direct jump leaves the function.
func tailEdges(b *cfg.Block) (out []*cfg.Edge) {
	if !b.Last().Kind.IsJump() {
		return nil
	}
	for _, e := range b.Succ {
		if e.To == nil && (e.Kind == cfg.Exit || e.Kind == cfg.Taken) {
			out = append(out, e)
		}
	}
	return out
}

// Graph returns the graph of all functions, with blocks and edges of those
// that ran, its events, and the numbers that the solver's events have among
// these: NoEvent where a function's counts are not to be trusted.
func (v *Solver) Graph() (g profile.Graph, events []profile.Event, number []profile.EventID) {
	first := make([]profile.BlockID, len(v.plans))
	for _, m := range v.mods {
		for _, f := range m.Spec.Program.Funcs {
			fn := profile.Function{Name: f.Name, Entry: profile.Addr(f.Ranges[0].Lo + m.Base), End: profile.Addr(f.Ranges[0].Hi + m.Base),
				First: profile.BlockID(len(g.Blocks)), EntryBlock: profile.NoBlock, Opaque: true}
			if q := m.Spec.byFunc[f]; q != nil {
				fn.Opaque = q.blurred // did not run, as far as is known
				if x := v.funcs[q.number]; x != nil {
					fn.Opaque = false
					first[q.number] = fn.First
					fn.EntryBlock, fn.N = fn.First+profile.BlockID(x.entryBlock), int32(len(x.blocks))
					for _, b := range x.blocks {
						b.Function = profile.FunctionID(len(g.Functions))
						g.Blocks = append(g.Blocks, b)
					}
				}
			}
			g.Functions = append(g.Functions, fn)
		}
	}
	number = make([]profile.EventID, len(v.events))
	for i := range number {
		number[i] = profile.NoEvent
	}
	give := func(e profile.EventID, ev profile.Event) {
		if e != profile.NoEvent && number[e] == profile.NoEvent && !v.bad[v.events[e].fn] {
			ev.Superior = profile.NoEvent
			number[e] = profile.EventID(len(events))
			events = append(events, ev)
		}
	}
	renumber := func(e profile.EventID) profile.EventID {
		if e == profile.NoEvent {
			return e
		}
		return number[e]
	}
	for _, x := range v.funcs {
		if x == nil {
			continue
		}
		for i := range x.blocks {
			id := first[x.fn] + profile.BlockID(i)
			b := &g.Blocks[id]
			give(b.Count, profile.Event{Kind: profile.BlockEntered, Block: id, Edge: -1, Addr: b.Start})
			b.Count = renumber(b.Count)
		}
		slices.SortStableFunc(x.graph, func(a, b edge) int { // late ones came in any order
			switch {
			case a.late != b.late:
				if a.late {
					return 1
				}
				return -1
			case !a.late:
				return 0
			}
			return cmp.Or(cmp.Compare(a.site, b.site), cmp.Compare(a.callee, b.callee))
		})
		for _, e := range x.graph {
			to := profile.Edge{From: profile.NoBlock, To: profile.NoBlock, Kind: e.kind, Site: profile.Addr(e.site)}
			if e.from >= 0 {
				to.From = first[x.fn] + profile.BlockID(e.from)
			}
			switch {
			case e.to >= 0:
				to.To = first[x.fn] + profile.BlockID(e.to)
			case e.callee >= 0 && v.funcs[e.callee] == nil:
				continue // never called
			case e.callee >= 0:
				to.To = first[e.callee] + profile.BlockID(v.funcs[e.callee].entryBlock)
			}
			addr := to.Site
			if e.kind == profile.Start {
				addr = g.Blocks[to.To].Start
			}
			give(e.event, profile.Event{Kind: profile.EdgeTaken, Block: profile.NoBlock, Edge: int32(len(g.Edges)), Addr: addr})
			to.Count = renumber(e.event)
			g.Edges = append(g.Edges, to)
		}
	}
	return g, events, number
}
