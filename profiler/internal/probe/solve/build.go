package solve

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
)

// newEvent numbers an event. There may be hundreds of thousands, so that their list
// doubles when it grows.
func (v *Solver) newEvent(e event) profile.EventID {
	v.makeRoom(1)
	v.events = append(v.events, e)
	return profile.EventID(len(v.events) - 1)
}

// makeRoom makes room for some more.
func (v *Solver) makeRoom(more int) {
	if n := len(v.events); n+more > cap(v.events) {
		v.events = slices.Grow(v.events, n+more)
	}
}

// newEdge adds an edge to a function's part of the graph; counted asks for an
// event of its own.
func (v *Solver) newEdge(x *function, e edge, counted bool) profile.EventID {
	e.event = profile.NoEvent
	if counted {
		e.event = v.newEvent(event{fn: x.fn})
	}
	x.graph = append(x.graph, e)
	return e.event
}

// builder makes a function's part of the graph. Edges of a block with one way
// out share the block's event: they are the same number.
type builder struct {
	v    *Solver
	x    *function
	s    *relocate.Spec
	q    *relocate.Plan
	g    *cfg.Graph
	w    *placement.Network
	base uint64 // of the module's addresses in the profile

	hubBlock map[int32]int32 // hubs that several switches share → block
	inputs   cfg.Inputs
}

// dealer is that of a program; the last one's is kept.
func (v *Solver) dealer(p *cfg.Program) *cfg.Dealer {
	if v.dealing != p {
		v.dealing, v.deals = p, cfg.NewDealer(p)
	}
	return v.deals
}

func (b *builder) addr(link uint64) profile.Addr { return profile.Addr(link + b.base) }

// addBlocks numbers the blocks' events. Every hub with several switches is a
// block without instructions.
func (b *builder) addBlocks() {
	x, v := b.x, b.v
	deals := v.dealer(b.s.Program).Deals(b.g)
	b.inputs = b.g.Inputs()
	for n, k := range b.g.Blocks {
		e := profile.NoEvent
		if i := b.w.Block(k); !x.edges[i].unknown {
			worth := int32(len(k.Insns))
			if k.Spin {
				worth = 0
			}
			e = v.newEvent(event{fn: x.fn, insns: worth, wakes: int32(b.s.Program.Wakes(k))})
			x.edges[i].event = e
		}
		x.blocks = append(x.blocks, block{start: b.addr(k.Start), end: uint32(k.End - k.Start), last: uint32(k.Last().Addr - k.Start),
			instructions: int32(len(k.Insns)), count: e, spin: k.Spin, deals: deals[n], branch: profile.Inputs(b.inputs.Branch[n]),
			resumes: slices.ContainsFunc(k.Pred, func(e *cfg.Edge) bool { return e.Kind == cfg.Resumed })})
	}
	sources := map[int32]int{}
	for _, k := range b.g.Blocks {
		if i := b.w.IntoHub(k); i >= 0 {
			sources[b.w.Edges[i].Hub]++
		}
	}
	b.hubBlock = map[int32]int32{}
	end := b.addr(b.q.Func.Ranges[0].Hi)
	for h := int32(1); h <= b.w.Hubs; h++ {
		if sources[h] > 1 {
			b.hubBlock[h] = int32(len(x.blocks))
			x.blocks = append(x.blocks, block{start: end, count: profile.NoEvent, virtual: true})
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
	i := b.w.Edge(e)
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
			b.importing(e)
		}
	case cfg.Entry: // becomes the START edge: entries that no known call explains
	case cfg.Pad:
		b.add(i, e, to, profile.Pad)
		b.x.pads = append(b.x.pads, padOf{flow: i, edge: int32(len(b.x.graph)) - 1, block: to.to})
	case cfg.Table:
		b.addTable(e, to.site)
	}
}

func (b *builder) add(i int32, e *cfg.Edge, to edge, k profile.EdgeKind) profile.EventID {
	to.kind = k
	if e.From != nil && len(e.From.Succ) == 1 && b.x.blocks[to.from].count != profile.NoEvent {
		b.v.newEdge(b.x, to, false)
		ev := b.x.blocks[to.from].count
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

// leave adds the edge by which a jump, or a return, leaves the function.
func (b *builder) leave(i int32, e *cfg.Edge, to edge) {
	target := e.From.Last().Target
	if q := b.movedAt(target); q != nil {
		to.callee, to.passes = q.Number, b.inputs.Passes[e.From.Last().Addr]
		b.add(i, e, to, profile.TailCall)
		return
	}
	ev := b.add(i, e, to, profile.Exit)
	b.importing(e)
	if name := b.s.Program.ImportAt(target); name != "" && ev != profile.NoEvent {
		b.v.exits = append(b.v.exits, Departure{profile.Addr(to.site), name, ev})
	}
}

// importing notes that the edge that was just added may lead to another module.
func (b *builder) importing(e *cfg.Edge) {
	if slot, ok := b.s.ImportOfJump(e.From); ok {
		b.x.imports = append(b.x.imports, importOf{edge: int32(len(b.x.graph)) - 1, slot: slot})
	}
}

func (b *builder) movedAt(entry uint64) *relocate.Plan {
	if f := b.s.Program.FuncAt(entry); f != nil {
		return b.s.Plan(f)
	}
	return nil
}

// addTable adds the edge of a switch to a target, through the hub
// where several switches share targets.
func (b *builder) addTable(e *cfg.Edge, site uint64) {
	in, out := b.w.IntoHub(e.From), b.w.FromHub(e.To)
	add := func(i, from, to int32) {
		if x := &b.x.edges[i]; x.event == profile.NoEvent {
			x.event = b.v.newEdge(b.x, edge{from: from, to: to, callee: -1, kind: profile.Table, site: site}, !x.unknown)
		}
	}
	from, to := int32(e.From.ID), int32(e.To.ID)
	if hub, shared := b.hubBlock[b.w.Edges[in].Hub]; shared {
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
			slot, imported := b.s.ImportOfCall(c)
			q := b.s.Plan(c.Callee)
			if q == nil && !imported {
				continue
			}
			call := edge{from: int32(k.ID), to: -1, callee: -1, kind: profile.Call, site: c.Insn.Addr + b.base, passes: b.inputs.Passes[c.Insn.Addr]}
			if q != nil {
				call.callee = q.Number
				x.calls = append(x.calls, callOf{b.w.Block(k), q.Number})
			} else {
				x.imports = append(x.imports, importOf{edge: int32(len(x.graph)), slot: slot})
			}
			b.v.newEdge(x, call, false)
			x.graph[len(x.graph)-1].event = x.blocks[k.ID].count
		}
		for _, e := range relocate.TailEdges(k) {
			if q := b.movedAt(k.Last().Target); q != nil {
				x.calls = append(x.calls, callOf{b.w.Edge(e), q.Number})
			}
		}
	}
}
