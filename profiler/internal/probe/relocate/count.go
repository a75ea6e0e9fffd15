package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// count emits the counter of an edge, if it has one.
func (m *emitter) count(e *cfg.Edge) {
	i := m.counters.Edge(e)
	if i < 0 || m.s.opt.NoCounters {
		return
	}
	live := x86.Flags(0)
	if e.To != nil {
		live = e.To.LiveIn
	}
	updates := m.counters.Updates(e)
	counted := 0
	step := func() {
		if e.From != nil {
			m.stand(e.From.Last().Addr, On(i, counted))
		}
		counted++
	}
	arrive := func() {
		if e.To != nil {
			m.stand(e.To.Start, Arrives)
		} else if e.From != nil {
			m.stand(e.From.Last().Addr, Left)
		}
	}
	if len(updates) == 0 {
		step = arrive
	} else {
		step()
	}
	for _, u := range updates { // leave loops first, then count, then enter loops: as the edge does
		if u.Add {
			m.AddGS(threadarea.CounterOffset(u.Counter), u.Reg)
			step()
		}
	}
	m.increment(m.counters.Edges[i].Counter, live, step)
	if m.looksOn(e) && m.looksWithin(e.From) != e { // in no loop that a register counts for
		m.stands = Lookout{Addr: e.To.Start, Arrives: true}
		m.lookOn(e, live)
	}
	for _, u := range updates {
		if !u.Add {
			m.SubGS(threadarea.CounterOffset(u.Counter), u.Reg)
			step()
		}
	}
	if len(updates) > 0 {
		arrive()
	}
}

// hasCount reports whether code stands on an edge.
func (m *emitter) hasCount(e *cfg.Edge) bool {
	return m.counts(e) || m.counters.Edge(e) >= 0 && !m.s.opt.NoCounters && m.looksOn(e) && m.looksWithin(e.From) != e
}

// counts reports whether something is counted on an edge.
func (m *emitter) counts(e *cfg.Edge) bool {
	i := m.counters.Edge(e)
	return i >= 0 && !m.s.opt.NoCounters && (m.counters.Edges[i].Counter >= 0 || len(m.counters.Updates(e)) > 0)
}

// increment counts in a counter, if it is one, where some flags are live, and calls
// counted behind the instruction that does.
func (m *emitter) increment(counter int32, live x86.Flags, counted func()) {
	switch off := threadarea.CounterOffset(counter); {
	case counter < 0 || m.s.opt.NoCounters:
	case live&^x86.CF == 0:
		m.IncGS(off)
		counted()
	default:
		m.incrementKeepingFlags(off, counted)
	}
}

// incrementKeepingFlags counts where flags are live. RAX and the flags go to
// the stack, below the red zone; the count itself is one instruction, so that
// a signal handler that counts in between loses nothing.
func (m *emitter) incrementKeepingFlags(off uint32, counted func()) {
	m.LeaRSP(-redZone)
	m.Push(x86.RAX)
	m.Lahf()
	m.SetoAL()
	m.IncGS(off)
	counted()
	m.AddAL(127) // sets OF again if it was set
	m.Sahf()
	m.Pop(x86.RAX)
	m.LeaRSP(redZone)
}

// arrival emits what is counted where control comes to a block from switches, if it can
// stand right before the block: nobody else comes that way. Who counts nothing there
// comes to the block itself.
func (m *emitter) arrival(b *cfg.Block, alone bool) {
	i := m.counters.FromHub(b)
	if i < 0 {
		return
	}
	if c := m.counters.Edges[i].Counter; alone || c < 0 || m.s.opt.NoCounters {
		m.stand(b.Start, Chosen)
		m.Bind(m.label(place{atTable, int32(b.ID)}))
		m.increment(c, b.LiveIn, func() { m.stand(b.Start, Arrives) })
	}
}

// arrivals emits the counters of landing pads, and those of table targets that stand
// before no block.
func (m *emitter) arrivals() {
	for _, b := range m.g.Blocks {
		if i := m.counters.FromHub(b); i >= 0 && !m.Bound(m.label(place{atTable, int32(b.ID)})) {
			m.stand(b.Start, Chosen)
			m.Bind(m.label(place{atTable, int32(b.ID)}))
			m.increment(m.counters.Edges[i].Counter, b.LiveIn, func() {})
			m.stand(b.Start, Arrives)
			m.Jmp(m.block(b))
		}
		if b.Pad {
			m.stand(0, Nowhere)
			m.Bind(m.label(place{atPad, int32(b.ID)}))
			m.endTasks()
			m.enter(b.LiveIn)
			for _, e := range b.Pred {
				if e.Kind == cfg.Pad {
					m.count(e)
				}
			}
			m.Jmp(m.block(b))
		}
	}
}
