package relocate

import (
	"slices"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// look emits that the thread looks where the others are (threadarea/look.S), each so
// many passes.
func (m *emitter) look(live x86.Flags) { m.lookIf(live, func() { m.DecGS32(threadarea.OffFuel) }) }

// looksIfTold emits that the thread looks if it is time, which it may be told from
// outside. To count a pass took 5 % of a program that calls itself once in a hundred
// cycles; to ask took nothing that could be measured.
func (m *emitter) looksIfTold(live x86.Flags) {
	m.lookIf(live, func() { m.CmpGS32(threadarea.OffFuel, 0) })
}

// lookOn emits a look on an edge that leads back, or for it in its block.
func (m *emitter) lookOn(e *cfg.Edge, live x86.Flags) {
	if m.asksOn(e) {
		m.looksIfTold(live)
	} else {
		m.look(live)
	}
}

// asksOn reports whether it is enough on an edge that leads back to look if it is time:
// in a nest of loops that run through data nobody waits.
func (m *emitter) asksOn(e *cfg.Edge) bool {
	l := e.To.Loop
	return l != nil && l.Has(e.From) && !l.MayWait() && !slices.ContainsFunc(l.Blocks, func(b *cfg.Block) bool { return !placement.Light(b) })
}

// looksAt emits a look in a block: that of an edge that leads back from it, or one before
// the function may come to itself.
func (m *emitter) looksAt(b *cfg.Block, within *cfg.Edge, live x86.Flags) {
	switch {
	case within != nil:
		m.lookOn(within, live)
	case m.recurses[b]:
		m.look(live)
	}
}

// lookIf emits a look if what some code leaves in the flags is negative.
func (m *emitter) lookIf(live x86.Flags, code func()) {
	m.keepingFlags(live != 0, func() {
		back, stands := m.Labels(1), m.stands
		code()
		m.Jcc(asm.Negative, m.outOfLine(func() {
			m.looksFrom(stands, m.lookNow)
			m.Jmp(back)
		}))
		m.Bind(back)
	})
}

// takes emits that the thread looks where it is about to take what others may
// want as well, and waits there if it is too far ahead for that.
func (m *emitter) takes(live x86.Flags) {
	m.keepingFlags(live != 0, func() {
		m.looksFrom(m.stands, func() { m.belowRedZone(func() { m.CallTo(m.cache + threadarea.TakesEntry) }) })
	})
}

// takesInGo emits that before a call of Go's runtime by which a goroutine takes what
// others may want as well, or lets others take it.
func (m *emitter) takesInGo(c *cfg.Call) {
	if m.s.opt.Looks && m.ofGo() && c.Callee != nil && cfg.Communicates(c.Callee.Name) {
		m.takes(0)
	}
}

// belowRedZone emits a call that a function may not know of. In Go there is no red
// zone, and there may be little room on the stack.
func (m *emitter) belowRedZone(call func()) {
	if m.ofGo() {
		call()
		return
	}
	m.LeaRSP(-redZone)
	call()
	m.LeaRSP(redZone)
}

// lookHere looks on a condition.
func (m *emitter) lookHere(cc asm.Condition) {
	not := m.Labels(1)
	m.Jcc(cc^1, not)
	m.lookNow()
	m.Bind(not)
}

func (m *emitter) lookNow() {
	m.belowRedZone(func() { m.CallTo(m.cache + threadarea.LookEntry) })
}

// hooked returns what is recorded of a library's function, and whether calls of it
// go by a hook: also where threads look that take a lock by it, or wake others.
func (m *emitter) hooked(function string) (h record.Hook, is bool) {
	if h, is = m.s.hooks(function); !is && m.s.opt.Looks && (goName(function) || !m.s.opt.Goroutines) {
		is = cfg.TakesLock(function) || cfg.GivesLock(function) || wakers[function] || cfg.Deals(function)
	}
	return h, is
}

// wakers are other functions by which others may wake.
var wakers = map[string]bool{"pthread_cond_signal": true, "pthread_cond_broadcast": true, "cnd_signal": true, "cnd_broadcast": true, "sem_post": true}

// looksBefore emits, in a hook, that the thread looks before it takes a lock.
func (m *emitter) looksBefore(function string) {
	if (cfg.TakesLock(function) || cfg.Deals(function)) && m.s.opt.Looks {
		m.takes(0)
	}
}

// looksBehind emits, in a hook, that the thread looks if others may wake by what
// it has just done: those go on from the time that it is then, which a piece of
// work later it is not any more.
//
// Who holds locks is not held: whom it keeps from going on would wait for it, and
// it for them, until virtual time is a quantum further, again and again (threads
// that look for work under a lock do so with it in their hands).
func (m *emitter) looksBehind(function string) {
	if !m.s.opt.Looks {
		return
	}
	if cfg.TakesLock(function) {
		if cfg.HasLock(function) {
			m.CmpEAX(0) // carries nothing
			m.AdcGS32(threadarea.OffLocks, 1)
			return
		}
		m.CmpEAX(1)
		m.AdcGS32(threadarea.OffLocks, 0) // if it is 0
		return
	}
	done := m.Labels(1)
	if cfg.GivesLock(function) {
		m.DecGS32(threadarea.OffLocks)
		m.Jcc(asm.Greater, done)
		m.CmpGS32(threadarea.OffOwes, 1)
		m.lookHere(asm.Greater)
	}
	m.CmpGS32(threadarea.OffFuel, 0)
	m.lookHere(asm.Negative)
	m.Bind(done)
}

// looksOn reports whether threads look on an edge: one that leads back, as each
// cycle has one, but within a loop that does no more than run through data, or calls
// somebody who looks; or one into the outermost loop in which the function may come to
// itself. An edge to a lower address need not: who is held there may hold a lock.
func (m *emitter) looksOn(e *cfg.Edge) bool {
	if !m.s.opt.Looks || e.From == nil || e.To == nil {
		return false
	}
	if m.rank[e.To.ID] > m.rank[e.From.ID] {
		l := e.To.Loop
		return l != nil && m.recursing[l] && !l.Has(e.From)
	}
	l := e.To.Loop
	return l == nil || !l.Has(e.From) || placement.Looks(l) && !(e.To == l.Head && m.callsLook(l))
}

// callsLook reports whether those who go round a loop look in what they call, in each
// round but such that only run through data.
func (m *emitter) callsLook(l *cfg.Loop) bool {
	is, known := m.lookers[l]
	if !known {
		is = m.roundsLook(l)
		m.lookers[l] = is
	}
	return is
}

func (m *emitter) roundsLook(l *cfg.Loop) bool {
	if l.MayWait() {
		return false
	}
	seen := map[*cfg.Block]bool{}
	todo := []*cfg.Block{l.Head}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[b] || m.looksInCalls(b) {
			continue
		}
		seen[b] = true
		if b.Loop != l || !placement.Light(b) {
			return false
		}
		for _, e := range b.Succ {
			if e.To != nil && e.To != l.Head && l.Has(e.To) {
				todo = append(todo, e.To)
			}
		}
	}
	return true
}

// looksInCalls reports whether a block calls a function where threads look first, or the
// function itself, over others: nobody who waits for something does so by recursion.
func (m *emitter) looksInCalls(b *cfg.Block) bool {
	return slices.ContainsFunc(b.Calls, func(c cfg.Call) bool {
		q := m.s.byFunc[c.Callee]
		return q != nil && q.looks && (q.callsUnknown || q.cycle == m.q.cycle)
	})
}

// looksWithin is the edge that leads back from a block whose look stands in the block,
// once more in all than threads go that way: where it is most of the ways out, a
// branch is saved each time. nil: there is none.
func (m *emitter) looksWithin(b *cfg.Block) *cfg.Edge {
	if !m.s.opt.Looks || b == nil || b.Last().Kind != x86.Jcc || b.Enters || b.Leaves {
		return nil
	}
	at, dead := placement.CountingPoint(b)
	if !dead || b.LiveAt(at, b.LiveOut) != 0 {
		return nil
	}
	for _, e := range b.Succ {
		if m.looksOn(e) && !m.counts(e) && m.counters.Edge(e) >= 0 && e.Freq > 0.5*b.Freq {
			return e
		}
	}
	return nil
}

// recursions finds the places from which the function may come to itself by known calls.
// There threads look; where it is entered they only do so if they are told to, since most
// calls come to a leaf. Of a loop it is where that begins: its rounds are those of what
// it calls.
func (m *emitter) recursions() {
	m.recursing, m.recurses = map[*cfg.Loop]bool{}, map[*cfg.Block]bool{}
	for _, b := range m.g.Blocks {
		if !slices.ContainsFunc(b.Calls, func(c cfg.Call) bool { return m.recurs(&c) }) {
			continue
		}
		l := b.Loop
		for l != nil && l.Parent != nil {
			l = l.Parent
		}
		if l != nil {
			m.recursing[l] = true
		} else {
			m.recurses[b] = true
		}
	}
}

// recurs reports whether a call may come back to the function before it returns.
func (m *emitter) recurs(c *cfg.Call) bool {
	q := m.s.byFunc[c.Callee]
	return q != nil && q.cycle == m.q.cycle
}

// looksFirst reports whether they look where the function is entered after all: it calls
// what nobody knows, or may come to itself by a jump, or in a loop that it begins with.
func (m *emitter) looksFirst() bool {
	if m.q.callsUnknown {
		return true
	}
	for l := m.g.Entry.Loop; l != nil; l = l.Parent {
		if m.recursing[l] {
			return true
		}
	}
	return slices.ContainsFunc(m.g.Edges, func(e *cfg.Edge) bool {
		if e.Kind != cfg.Exit || e.From == nil {
			return false
		}
		q := m.s.byFunc[m.s.Program.FuncAt(e.From.Last().Target)]
		return q != nil && q.cycle == m.q.cycle
	})
}

// inOrder numbers the function's blocks in reverse postorder: an edge that does
// not lead on leads back.
func (m *emitter) inOrder() {
	var edges []flowgraph.Edge
	var roots []int32
	for _, b := range m.g.Blocks {
		if b == m.g.Entry || b.Pad || len(b.Pred) == 0 {
			roots = append(roots, int32(b.ID))
		}
		for _, e := range b.Succ {
			if e.To != nil {
				edges = append(edges, flowgraph.Edge{From: int32(b.ID), To: int32(e.To.ID)})
			}
		}
	}
	m.rank = flowgraph.New(len(m.g.Blocks), edges).Dominators(roots).Place
}

// lookWhereEntered has threads look where functions are entered that may call
// themselves, over others: by known calls, or by such of which nobody knows where they
// lead, of which each unknown cycle has one.
func (s *Spec) lookWhereEntered() {
	var calls []flowgraph.Edge
	for i, q := range s.plans {
		q.looks = q.callsUnknown
		for _, f := range s.Program.Callees(q.Func) {
			if callee := s.byFunc[f]; callee != nil {
				calls = append(calls, flowgraph.Edge{From: int32(i), To: callee.Number - s.plans[0].Number})
				q.looks = q.looks || callee == q
			}
		}
	}
	of, n := flowgraph.New(len(s.plans), calls).Components()
	size := make([]int, n)
	for _, c := range of {
		size[c]++
	}
	for i, q := range s.plans {
		q.looks, q.cycle = q.looks || size[of[i]] > 1, of[i]
	}
}

// pauses notes that the thread waits, before an instruction or call that says so.
func (m *emitter) pauses() {
	if m.s.opt.Looks {
		m.MovGS32(threadarea.OffPaused, 1)
	}
}

// yields are the library functions that say so.
var yields = map[string]bool{"sched_yield": true, "thrd_yield": true, "pthread_yield": true}
