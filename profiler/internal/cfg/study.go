package cfg

import (
	"slices"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// study is one function, looked at for where its threads may meet.
type study struct {
	*Graph
	ops    [][]op // by block, in order
	stores []bool // by block: it writes to memory that is not the function's own,
	called []bool // or calls what moves something on,
	steps  []bool // and only that: as from one element to the next
	work   []bool // by block: it is of a loop that works
	doomed []bool // by block: nothing but the program's end is behind it, or it is never come to but by an exception
	loops  map[*Loop]loopKind
	dom    *flowgraph.Tree
	framed bool // rbp is the frame's
}

type loopKind uint8

const (
	retries loopKind = iota // until another thread has done something
	delays                  // lets time pass
	rounds                  // goes round with something else in it: work, or a wait
	works                   // is work itself
)

// newStudy looks at a graph; what its callees do is asked of the caller.
func newStudy(g *Graph, calls func(c *Call, jump *x86.Insn) op) *study {
	s := &study{Graph: g, ops: make([][]op, len(g.Blocks)), work: make([]bool, len(g.Blocks)), stores: make([]bool, len(g.Blocks)), called: make([]bool, len(g.Blocks)), steps: make([]bool, len(g.Blocks)), loops: map[*Loop]loopKind{}}
	s.findDoomed()
	s.framed = g.Framed()
	for _, b := range g.Blocks {
		s.ops[b.ID] = s.opsOf(b, calls)
	}
	s.unpeel()
	for i := len(g.Loops) - 1; i >= 0; i-- { // inner ones first
		l := g.Loops[i]
		if s.loops[l] = s.kindOf(l); !s.tries(l) {
			s.split(l)
			s.loops[l] = s.kindOf(l)
		}
		if s.loops[l] == works {
			for _, b := range l.Blocks {
				s.work[b.ID] = true
			}
		}
	}
	s.markWaits()
	for _, ops := range s.ops {
		for i := range ops {
			if ops[i].kind == opSleep {
				ops[i].kind = opWork
			}
		}
	}
	s.dominators()
	return s
}

// Framed reports whether rbp is the frame's.
func (g *Graph) Framed() bool {
	return slices.ContainsFunc(g.Entry.Insns, func(in x86.Insn) bool {
		return in.Map == 0 && in.Opcode&^2 == 0x89 && !in.HasMem && in.Def == x86.RBP.Set() && in.Use == x86.RSP.Set()
	})
}

// findDoomed finds the blocks from which the program only ends, and those that
// the entry does not lead to.
func (s *study) findDoomed() {
	s.doomed = s.ending()
	seen := make([]bool, len(s.Blocks))
	for stack := []*Block{s.Entry}; len(stack) > 0; {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[b.ID] {
			continue
		}
		seen[b.ID] = true
		for _, e := range b.Succ {
			if e.To != nil {
				stack = append(stack, e.To)
			}
		}
	}
	for i, ok := range seen {
		s.doomed[i] = s.doomed[i] || !ok
	}
}

// ending are the blocks from which the program only ends. A thread may end by a call
// (pthread_exit), as well as by a return.
func (g *Graph) ending() (doomed []bool) {
	doomed = make([]bool, len(g.Blocks))
	for again := true; again; {
		again = false
		for i := len(g.Blocks) - 1; i >= 0; i-- {
			if !doomed[i] && ends(g.Blocks[i], doomed) {
				doomed[i], again = true, true
			}
		}
	}
	return doomed
}

func ends(b *Block, doomed []bool) bool {
	if n := len(b.Calls); b.Last().Kind == x86.Stop || n > 0 && b.Calls[n-1].NoReturn && !endsThread[b.Calls[n-1].Import] {
		return true
	}
	any := false
	for _, e := range b.Succ {
		if e.Kind == Caught {
			continue
		}
		if e.To == nil || !doomed[e.To.ID] {
			return false
		}
		any = true
	}
	return any
}

func (s *study) opsOf(b *Block, calls func(c *Call, jump *x86.Insn) op) (list []op) {
	if s.doomed[b.ID] {
		return nil
	}
	call := 0
	for i := range b.Insns {
		in := &b.Insns[i]
		var o op
		switch {
		case in.Kind.IsCall():
			c := &b.Calls[call]
			call++
			o = calls(c, nil)
		case leavesBySlot(b, i):
			if o = calls(nil, in); o.kind == opWait || o.kind == opWeak {
				o = op{kind: opWork} // it would come out of that one
			}
		case in.Kind.IsJump() && len(TailTargets(b)) > 0 && i == len(b.Insns)-1:
			o = calls(nil, in)
		case isSyscall(in):
			o = systemCall(b, i, x86.RAX, x86.RSI)
			o.wakes = o.wakes && !givesLockBack(b, i, x86.RDX)
		case IsPause(in):
			o.kind = opPause
		case in.Lock:
			o.kind, o.adds = opSync, addsLocked(in)
		default:
			s.stores[b.ID] = s.stores[b.ID] || in.Stores && !(in.HasMem && s.own(in))
			continue
		}
		if o.kind == opSystem {
			if o = systemCall(b, i, x86.RDI, x86.RDX); o.kind != opSync && !in.Kind.IsCall() {
				o = op{kind: opWork} // likewise
			}
			o.wakes = o.wakes && !givesLockBack(b, i, x86.RCX)
		}
		s.called[b.ID] = s.called[b.ID] || o.moves
		if o.kind == noOp {
			s.steps[b.ID] = s.steps[b.ID] || o.moves
			continue
		}
		o.at = i
		list = append(list, o)
	}
	return list
}

// noOp is a call that matters to nobody, opSystem one of syscall(2).
const (
	noOp     opKind = 255
	opSystem opKind = 254
)

// leavesBySlot: a block's last instruction jumps where a register or a slot says, out of
// the function.
func leavesBySlot(b *Block, i int) bool {
	return i == len(b.Insns)-1 && b.Insns[i].Kind == x86.JmpInd && len(b.Succ) == 1 && b.Succ[0].To == nil
}

// TailTargets are where a block's direct jump leaves the function.
func TailTargets(b *Block) (out []uint64) {
	if !b.Last().Kind.IsJump() {
		return nil
	}
	for _, e := range b.Succ {
		if e.To == nil && (e.Kind == Exit || e.Kind == Taken) {
			out = append(out, b.Last().Target)
		}
	}
	return out
}

// loopOps is what is done in a loop.
type loopOps struct {
	any, wait, pause, sleeps, adds, wakes bool
	steps, spin, moves                    bool
	insns                                 int
}

// opsIn gathers what is done in a loop; ok is false where that is work too.
func (s *study) opsIn(l *Loop) (x loopOps, ok bool) {
	x.spin = true
	for _, b := range l.Blocks {
		if !s.add(&x, l, b) {
			return x, false
		}
	}
	return x, true
}

// add notes what is done in a block of a loop; ok is false where that is work too.
func (s *study) add(x *loopOps, l *Loop, b *Block) (ok bool) {
	if s.doomed[b.ID] {
		return true
	}
	if s.work[b.ID] {
		return false
	}
	x.insns, x.steps, x.spin = x.insns+len(b.Insns), x.steps || s.steps[b.ID], x.spin && b.Spin
	x.moves = x.moves || s.stores[b.ID] || s.called[b.ID]
	for _, o := range s.ops[b.ID] {
		if o.kind == opWork {
			return false
		}
		x.any = true
		x.pause, x.sleeps = x.pause || o.kind == opPause, x.sleeps || o.kind == opSleep
		x.wait = x.wait || o.kind == opWait || o.kind == opWeak
		x.adds, x.wakes = x.adds || o.adds, x.wakes || o.wakes
	}
	x.any = x.any || b.Spin
	x.wait = x.wait || b.Spin || s.waitsWithin(l, b)
	return true
}

// waitsWithin: a block gives its time to others, in a loop that waits, in another one.
func (s *study) waitsWithin(l *Loop, b *Block) bool {
	if !slices.ContainsFunc(s.ops[b.ID], func(o op) bool { return o.kind == opPause || o.kind == opSleep }) {
		return false
	}
	for in := b.Loop; in != nil && in != l; in = in.Parent {
		if s.loops[in] == retries {
			return true
		}
	}
	return false
}

// large is a loop that does something, if only to look, and has so many instructions: that is work.
const large = 256

// kindOf says what a loop does.
func (s *study) kindOf(l *Loop) loopKind {
	x, ok := s.opsIn(l)
	if !ok {
		return rounds
	}
	if !x.any && s.idles(l) {
		return retries
	}
	if x.sleeps && s.asksErrno(l) {
		return works // a sleep goes on where a signal has interrupted it
	}
	if !x.any || x.insns > large {
		return works
	}
	switch retry := x.spin || s.retry(l); {
	case retry && !x.wakes && !x.steps && (x.wait || x.pause || x.sleeps || !x.adds):
		return retries
	case x.wait:
		return rounds
	case x.sleeps:
		return works
	case x.pause, x.wakes:
		return delays
	}
	return works
}

// markWaits makes waits of what stands in loops that try until another thread
// has acted: a pause, a trial of a lock, a load.
func (s *study) markWaits() {
	for _, l := range s.Graph.Loops {
		if s.loops[l] != retries {
			continue
		}
		found := false
		for _, b := range l.Blocks {
			for i := range s.ops[b.ID] {
				if o := &s.ops[b.ID][i]; o.kind == opPause || o.kind == opSleep {
					o.kind, found = opWait, true
				}
			}
		}
		if found {
			continue
		}
		if h := l.Head.ID; s.idles(l) && !l.Head.Spin {
			s.ops[h] = append([]op{{at: 0, kind: opWait}}, s.ops[h]...)
			continue
		}
		for _, b := range l.Blocks {
			if b.Spin && len(s.ops[b.ID]) == 0 {
				s.ops[b.ID] = []op{{at: 0, kind: opWait}}
				break
			} else if b.Spin {
				s.ops[b.ID][0].kind = opWait
				break
			}
		}
	}
}

// dominators makes the dominator tree of what is not doomed.
func (s *study) dominators() {
	var edges []flowgraph.Edge
	for _, b := range s.Blocks {
		if s.doomed[b.ID] {
			continue
		}
		for _, e := range b.Succ {
			switch {
			case e.Kind == Caught:
			case e.To != nil && !s.doomed[e.To.ID]:
				edges = append(edges, flowgraph.Edge{From: int32(b.ID), To: int32(e.To.ID)})
			}
		}
	}
	g := flowgraph.New(len(s.Blocks), edges)
	s.dom = g.Dominators([]int32{int32(s.Entry.ID)})
}

// effect is what the function does as a whole.
func (s *study) effect() *effect {
	e := &effect{}
	stores, counts, called, returns := false, false, false, false
	even := s.evens(s.Blocks)
	for _, b := range s.Blocks {
		if s.doomed[b.ID] {
			continue
		}
		e.insns += len(b.Insns)
		e.work = e.work || s.work[b.ID]
		stores, counts, called = stores || s.stores[b.ID], counts || s.counts(b), called || s.called[b.ID]
		returns = returns || slices.ContainsFunc(b.Succ, func(x *Edge) bool { return x.To == nil && x.Kind == Exit })
		for _, o := range s.ops[b.ID] {
			o.adds = o.adds && !(even && b.Insns[o.at].Lock)
			e.add(o)
		}
	}
	e.frees = e.frees || stores
	e.moves = stores && counts || called
	e.work = e.work || !returns
	for _, k := range s.loops {
		e.work = e.work || k == rounds || k == works
	}
	// Reading and polling alone is waiting for files.
	e.waits = e.waits || e.weak && e.locks
	return e
}

func (e *effect) add(o op) {
	switch o.kind {
	case opWork:
		e.work = true
	case opWait:
		e.waits = true
	default:
		e.syncs = true
	}
	e.weak, e.locks = e.weak || o.kind == opWeak, e.locks || o.kind == opSync
	e.frees = e.frees || o.kind == opSync || o.frees
	e.adds, e.wakes, e.future = e.adds || o.adds, e.wakes || o.wakes, e.future || o.future
}
