package probe

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
)

// buildGraph makes the profile's graph of all moved functions. Edges of a
// block with one way out share the block's event: they are the same number.
func (v *Solver) buildGraph() {
	g := &v.Graph
	for _, f := range v.s.Program.Funcs {
		id := profile.FunctionID(len(g.Functions))
		fn := profile.Function{Name: f.Name, Entry: profile.Addr(f.Ranges[0].Lo), End: profile.Addr(f.Ranges[0].Hi),
			First: profile.BlockID(len(g.Blocks)), EntryBlock: profile.NoBlock, Opaque: true}
		if q := v.s.byFunc[f]; q != nil {
			fn.Opaque = false
			v.firstBlock(f, fn.First)
			for _, b := range f.Blocks {
				if b == f.Entry {
					fn.EntryBlock = profile.BlockID(len(g.Blocks))
				}
				g.Blocks = append(g.Blocks, profile.Block{Function: id, Start: profile.Addr(b.Start), End: profile.Addr(b.End),
					Last: profile.Addr(b.Last().Addr), Instructions: int32(len(b.Insns)), Count: profile.NoEvent, Spin: b.Spin})
			}
			fn.N = int32(len(g.Blocks)) - int32(fn.First)
			v.addVirtual(q, &fn)
		}
		g.Functions = append(g.Functions, fn)
	}
	for i := range v.funcs {
		v.addEvents(&v.funcs[i])
	}
	for i := range v.funcs {
		v.funcs[i].startKnown = !v.funcs[i].q.w.edges[v.funcs[i].entry].unknown
	}
	for i := range v.funcs {
		v.addCalls(&v.funcs[i])
	}
	for i := range v.funcs {
		x := &v.funcs[i]
		x.start = v.addEdge(profile.NoBlock, v.blockID(x.q.f.Entry), profile.Start, 0, x.startKnown)
		if x.startKnown {
			v.Events[x.start].Addr = profile.Addr(x.q.f.Entry.Start)
		}
	}
}

// firstBlock remembers where a function's blocks begin in the graph.
func (v *Solver) firstBlock(f *cfg.Func, first profile.BlockID) {
	v.funcs[v.byFn[f]].firstBlock = first
}

func (v *Solver) blockID(b *cfg.Block) profile.BlockID {
	return v.funcs[v.byFn[b.Func]].firstBlock + profile.BlockID(b.ID)
}

// addVirtual gives every hub with several switches a block without instructions.
func (v *Solver) addVirtual(q *plan, fn *profile.Function) {
	x := &v.funcs[v.byFn[q.f]]
	x.hubBlock = map[int32]profile.BlockID{}
	sources := map[int32]int{}
	for _, e := range q.w.hubIn {
		sources[q.w.edges[e].hub]++
	}
	for h := int32(1); h <= q.w.hubs; h++ {
		if sources[h] > 1 {
			x.hubBlock[h] = profile.BlockID(len(v.Graph.Blocks))
			v.Graph.Blocks = append(v.Graph.Blocks, profile.Block{Function: profile.FunctionID(len(v.Graph.Functions)),
				Start: fn.End, End: fn.End, Last: fn.End, Count: profile.NoEvent, Virtual: true})
			fn.N++
		}
	}
}

// addEdge adds an edge; own asks for an event of its own.
func (v *Solver) addEdge(from, to profile.BlockID, k profile.EdgeKind, site uint64, own bool) profile.EventID {
	e := profile.NoEvent
	if own {
		e = profile.EventID(len(v.Events))
		v.Events = append(v.Events, profile.Event{Kind: profile.EdgeTaken, Block: profile.NoBlock, Edge: int32(len(v.Graph.Edges)),
			Addr: profile.Addr(site), Superior: profile.NoEvent})
	}
	v.Graph.Edges = append(v.Graph.Edges, profile.Edge{From: from, To: to, Kind: k, Site: profile.Addr(site), Count: e})
	return e
}

// addEvents numbers a function's countable blocks and edges.
func (v *Solver) addEvents(x *solved) {
	q := x.q
	w := q.w
	x.eventOf = make([]profile.EventID, len(w.edges))
	for i := range x.eventOf {
		x.eventOf[i] = profile.NoEvent
	}
	for _, b := range q.f.Blocks {
		i := w.self[b.ID]
		if w.edges[i].unknown {
			continue
		}
		id := v.blockID(b)
		x.eventOf[i] = profile.EventID(len(v.Events))
		v.Graph.Blocks[id].Count = x.eventOf[i]
		v.Events = append(v.Events, profile.Event{Kind: profile.BlockEntered, Block: id, Edge: -1, Addr: profile.Addr(b.Start), Superior: profile.NoEvent})
	}
	for _, e := range q.f.Edges {
		v.addCfgEdge(x, e)
	}
}

func (v *Solver) addCfgEdge(x *solved, e *cfg.Edge) {
	w := x.q.w
	from, to := profile.NoBlock, profile.NoBlock
	site := uint64(0)
	if e.From != nil {
		from = v.blockID(e.From)
		site = e.From.Last().Addr
	}
	if e.To != nil {
		to = v.blockID(e.To)
	}
	add := func(i int32, from, to profile.BlockID, k profile.EdgeKind) {
		known := i >= 0 && !w.edges[i].unknown
		single := e.From != nil && len(e.From.Succ) == 1 && k != profile.Table
		if single && v.Graph.Blocks[from].Count != profile.NoEvent {
			v.addEdge(from, to, k, site, false)
			v.Graph.Edges[len(v.Graph.Edges)-1].Count = v.Graph.Blocks[from].Count
			return
		}
		ev := v.addEdge(from, to, k, site, known)
		if known {
			x.eventOf[i] = ev
		}
	}
	i := w.byCfg[e.ID]
	switch e.Kind {
	case cfg.Fall:
		add(i, from, to, profile.Fall)
	case cfg.Taken:
		if e.To == nil {
			add(i, from, v.tailTarget(e.From.Last().Target), v.tailKind(e.From.Last().Target))
		} else {
			add(i, from, to, profile.Taken)
		}
	case cfg.Jump:
		add(i, from, to, profile.Jump)
	case cfg.Exit:
		if last := e.From.Last(); last.Kind.IsJump() {
			add(i, from, v.tailTarget(last.Target), v.tailKind(last.Target))
		} else {
			add(i, from, profile.NoBlock, profile.Exit)
		}
	case cfg.Entry: // becomes the START edge: entries that no known call explains
	case cfg.Pad:
		add(i, from, to, profile.Pad)
	case cfg.Table:
		v.addTable(x, e, site)
	}
}

// addTable adds the edge of a switch to a target, through the meeting block
// where several switches share targets.
func (v *Solver) addTable(x *solved, e *cfg.Edge, site uint64) {
	w := x.q.w
	in, out := w.hubIn[e.From], w.hubTo[e.To]
	event := func(i int32, from, to profile.BlockID) {
		if x.eventOf[i] != profile.NoEvent {
			return
		}
		ev := v.addEdge(from, to, profile.Table, site, !w.edges[i].unknown)
		x.eventOf[i] = ev
	}
	hub, shared := x.hubBlock[w.edges[in].hub]
	if !shared {
		event(out, v.blockID(e.From), v.blockID(e.To))
		return
	}
	event(in, v.blockID(e.From), hub)
	event(out, hub, v.blockID(e.To))
}

func (v *Solver) tailTarget(a uint64) profile.BlockID {
	if g := v.s.Program.FuncAt(a); g != nil && v.s.Moved(g) {
		return v.blockID(g.Entry)
	}
	return profile.NoBlock
}

func (v *Solver) tailKind(a uint64) profile.EdgeKind {
	if v.tailTarget(a) == profile.NoBlock {
		return profile.Exit
	}
	return profile.TailCall
}

// addCalls adds the edges of direct calls and notes what explains the
// callee's entries.
func (v *Solver) addCalls(x *solved) {
	w := x.q.w
	for _, b := range x.q.f.Blocks {
		for i := range b.Calls {
			c := &b.Calls[i]
			if c.Callee == nil || !v.s.Moved(c.Callee) {
				continue
			}
			self := w.self[b.ID]
			if w.edges[self].unknown {
				v.funcs[v.byFn[c.Callee]].startKnown = false
			}
			v.addEdge(v.blockID(b), v.blockID(c.Callee.Entry), profile.Call, c.Insn.Addr, false)
			v.Graph.Edges[len(v.Graph.Edges)-1].Count = v.Graph.Blocks[v.blockID(b)].Count
			x.calls = append(x.calls, callOf{self, v.byFn[c.Callee]})
		}
		last := b.Last()
		if !last.Kind.IsJump() {
			continue
		}
		for _, e := range b.Succ {
			if e.To == nil && (e.Kind == cfg.Exit || e.Kind == cfg.Taken) {
				if g := v.s.Program.FuncAt(last.Target); g != nil && v.s.Moved(g) {
					x.calls = append(x.calls, callOf{w.byCfg[e.ID], v.byFn[g]})
				}
			}
		}
	}
}
