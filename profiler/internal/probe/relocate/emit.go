package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// emitter writes the copies of functions, one after the other.
type emitter struct {
	*asm.Assembler
	s         *Spec
	cache     uint64 // where the cache will lie, a link-time address
	plt       []pltStub
	within    map[*cfg.Func]uint64 // hooks of functions that were linked to the program, and stay
	siteRefs  []siteRef
	copied    func(addr uint64, start int) // told of every copied instruction, when set
	standing  func(x Stand)                // and of how threads stand,
	standsNow Stand                        // which is this now
	looking   func(l Lookout)              // likewise of code by which threads look
	stands    Lookout                      // where control is, for that
	detour    func(from, end, to int)      // told of code that simulates, when set
	outside   bool                         // the hooks are of calls that a library makes
	awaits    record.Hook                  // see endTasks; of none where the program has no tasks

	entries, hooks asm.Label // the first of as many as there are moved functions

	space   cfg.Space
	network placement.Space
	// Of the function that is being emitted:
	q         *Plan
	g         *cfg.Graph
	counters  *placement.Network
	places    [atEntry]asm.Label // the first of each kind
	lookers   map[*cfg.Loop]bool // see callsLook,
	recursing map[*cfg.Loop]bool // and recursions
	recurses  map[*cfg.Block]bool
	rank      []int32    // block → its place, where threads look: see inOrder
	units     []unitOf   // loops that may deal work out
	later     []func()   // out-of-line code
	callSite  []int32    // call → number of its site, −1: none
	jumpSite  []int32    // block → that of the jump that ends it
	accesses  accesses   // that are simulated, of the block
	tables    []ownTable // of the function, and who reads them, by block
	reads     map[int]tableRead
	again     []int32 // block → the label where a next round of it begins, −1: where it itself does
}

// newEmitter emits for a cache at an address, from an offset of it on.
func newEmitter(s *Spec, cache, offset uint64) *emitter {
	return newEmitterOf(asm.New(cache+offset), s, cache)
}

func newEmitterOf(a *asm.Assembler, s *Spec, cache uint64) *emitter {
	m := &emitter{Assembler: a, s: s, cache: cache, awaits: s.awaitsTasks()}
	m.entries = m.Labels(len(s.plans))
	m.hooks = m.Labels(len(s.plans))
	return m
}

// names notes what the last instruction names, so many bytes before its end.
func (m *emitter) names(what refKind, before int) {
	m.siteRefs = append(m.siteRefs, siteRef{int32(m.Len() - before), what})
}

// label is the label of a place in the function that is being emitted.
func (m *emitter) label(p place) asm.Label {
	if p.kind == atEntry {
		return m.entrance(m.q)
	}
	return m.places[p.kind] + asm.Label(p.id)
}

func (m *emitter) block(b *cfg.Block) asm.Label { return m.label(blockPlace(b)) }

// entry is the label of a function behind its hook.
func (m *emitter) entry(q *Plan) asm.Label { return m.entries + m.index(q) }

func (m *emitter) hook(q *Plan) asm.Label { return m.hooks + m.index(q) }

func (m *emitter) index(q *Plan) asm.Label { return asm.Label(q.Number - m.s.from.Function) }

// entrance is where a function is entered from outside: in its hook, if it has one.
func (m *emitter) entrance(q *Plan) asm.Label {
	if m.s.Program.Image.Static || m.s.inGo() {
		if _, ok := m.hooked(q.Func.Name); ok {
			return m.hook(q)
		}
	}
	if q.Func.Role != "" && !m.s.opt.NoCounters {
		return m.hook(q)
	}
	return m.entry(q)
}

// open prepares a function's graph, counters, indirect calls and labels. Its
// counters are numbered from where they were, or are, first numbered.
func (m *emitter) open(q *Plan) {
	m.q = q
	m.stand(0, Nowhere)
	m.g = m.s.Program.Graph(q.Func, &m.space)
	m.counters = placement.Place(m.g, q.excluded, q.ran, q.first, m.s.opt, &m.network)
	m.callSite, m.jumpSite = fill(m.callSite, m.g.Calls), fill(m.jumpSite, len(m.g.Blocks))
	n := q.Site
	m.s.Sites(q, m.g, func(b *cfg.Block, c *cfg.Call) {
		if m.s.opt.Library {
			return // where nothing is counted
		}
		if c != nil {
			m.callSite[c.Index] = n
		} else {
			m.jumpSite[b.ID] = n
		}
		n++
	})
	m.BeginScope()
	for k, n := range [atEntry]int{atBlock: len(m.g.Blocks), atTable: len(m.g.Blocks), atPad: len(m.g.Blocks), atReturn: m.g.Calls} {
		m.places[k] = m.Labels(n)
	}
	m.again = fill(m.again, len(m.g.Blocks))
	m.later = m.later[:0]
	if m.s.opt.Looks {
		m.inOrder()
		m.recursions()
		m.lookers = map[*cfg.Loop]bool{}
	}
	m.openUnits()
	m.openAccesses()
}

// fill returns n times −1.
func fill(mem []int32, n int) []int32 {
	mem = mem[:0]
	for range n {
		mem = append(mem, -1)
	}
	return mem
}

// function emits the copy of one function: its blocks in the original order,
// then the counters of arrivals and other out-of-line code.
func (m *emitter) function(q *Plan) {
	m.open(q)
	for pad := m.s.opt.Layout * int(q.Number) % 13 * 16; pad > 0 || m.Len()%16 != 0; pad-- {
		m.Int3()
	}
	if m.openTables(); m.entrance(q) == m.hook(q) {
		m.Bind(m.hook(q))
		if h, _ := m.hooked(q.Func.Name); m.s.inGo() {
			m.hookGo(q, h)
		} else if r, ok := m.s.hooks(q.Func.Role); ok {
			m.taskCode(r)
		} else {
			m.hookCode(q.Func.Name, h, func() { m.Call(m.entry(q)) }, func() { m.Jmp(m.entry(q)) })
		}
	}
	m.Bind(m.entry(q))
	m.enter(m.g.Entry.LiveIn)
	m.worksHere()
	m.count(m.g.Edges[0])
	m.stands = Lookout{Addr: m.g.Entry.Start, Arrives: true}
	switch {
	case m.s.opt.Looks && outlined(q.Func.Name):
		m.takes(m.g.Entry.LiveIn)
	case q.looks && m.looksFirst():
		m.look(m.g.Entry.LiveIn)
	case q.looks:
		m.looksIfTold(m.g.Entry.LiveIn)
	}
	blocks := m.order()
	if blocks[0] != m.g.Entry {
		m.Jmp(m.block(m.g.Entry))
	}
	tight := m.tightLoops()
	for i, b := range blocks {
		next := nextOf(blocks, i)
		m.gather(b)
		m.arrival(b, i > 0 && !runsInto(blocks[i-1], b))
		begin := m.block(b)
		if m.accesses.strip != nil {
			m.Bind(begin)
			m.openStrip()
			begin = m.Labels(1)
			m.again[b.ID] = int32(begin)
		}
		if size := tight[b]; size > 0 && !m.s.opt.NoAlign {
			m.align(size)
		}
		m.Bind(begin)
		m.stand(b.Start, Arrives)
		m.body(b)
		m.leave(b, next)
	}
	m.arrivals()
	for i := 0; i < len(m.later); i++ { // it may put off more
		m.later[i]()
	}
	m.fillTables()
	m.EndScope()
}

// nextOf is the block behind one, nil behind the last one.
func nextOf(blocks []*cfg.Block, i int) *cfg.Block {
	if i+1 == len(blocks) {
		return nil
	}
	return blocks[i+1]
}

// order returns the blocks as the copy has them: the function's main part first.
func (m *emitter) order() []*cfg.Block {
	main := m.q.Func.Ranges[0]
	isMain := func(b *cfg.Block) bool { return b.Start >= main.Lo && b.Start < main.Hi }
	blocks := make([]*cfg.Block, 0, len(m.g.Blocks))
	for _, b := range m.g.Blocks {
		if isMain(b) {
			blocks = append(blocks, b)
		}
	}
	for _, b := range m.g.Blocks {
		if !isMain(b) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// keepingFlags emits code that changes flags, where some may be live: they are on
// the stack meanwhile.
func (m *emitter) keepingFlags(live bool, code func()) {
	if !live {
		code()
		return
	}
	m.LeaRSP(-redZone)
	m.Pushf()
	code()
	m.Popf()
	m.LeaRSP(redZone)
}

// outOfLine puts code off until the end of the function; it returns its label.
func (m *emitter) outOfLine(code func()) asm.Label {
	l, from := m.Labels(1), m.standsNow
	m.later = append(m.later, func() {
		m.Bind(l)
		m.standAs(from)
		code()
	})
	return l
}

// noteUnknown notes that some of a function's counts cannot be known, and which
// functions are called from there, as often as nobody knows.
func (m *emitter) noteUnknown(q *Plan) {
	w := m.counters
	if q.Incomplete = w.MarkUnknown(); !q.Incomplete {
		return
	}
	q.EntryUnknown = w.Edges[w.Edge(m.g.Edges[0])].Unknown
	note := func(callee *cfg.Func, e int32) {
		if q := m.s.byFunc[callee]; q != nil && w.Edges[e].Unknown {
			q.CallersUnknown = true
		}
	}
	for _, b := range m.g.Blocks {
		for i := range b.Calls {
			note(b.Calls[i].Callee, w.Block(b))
		}
		for _, e := range TailEdges(b) {
			note(m.s.Program.FuncAt(b.Last().Target), w.Edge(e))
		}
	}
}
