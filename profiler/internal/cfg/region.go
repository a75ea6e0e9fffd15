package cfg

import (
	"cmp"
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
func newStudy(g *Graph, calls func(c *Call, target uint64) op) *study {
	s := &study{Graph: g, ops: make([][]op, len(g.Blocks)), work: make([]bool, len(g.Blocks)), stores: make([]bool, len(g.Blocks)), called: make([]bool, len(g.Blocks)), steps: make([]bool, len(g.Blocks)), loops: map[*Loop]loopKind{}}
	s.findDoomed()
	s.framed = slices.ContainsFunc(g.Entry.Insns, func(in x86.Insn) bool {
		return in.Map == 0 && in.Opcode&^2 == 0x89 && !in.HasMem && in.Def == x86.RBP.Set() && in.Use == x86.RSP.Set()
	})
	for _, b := range g.Blocks {
		s.ops[b.ID] = s.opsOf(b, calls)
	}
	for i := len(g.Loops) - 1; i >= 0; i-- { // inner ones first
		l := g.Loops[i]
		if s.loops[l] = s.kindOf(l); s.loops[l] == works {
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

// findDoomed finds the blocks from which the program only ends, and those that
// the entry does not lead to.
func (s *study) findDoomed() {
	s.doomed = make([]bool, len(s.Blocks))
	for again := true; again; {
		again = false
		for i := len(s.Blocks) - 1; i >= 0; i-- {
			if b := s.Blocks[i]; !s.doomed[i] && s.ends(b) {
				s.doomed[i], again = true, true
			}
		}
	}
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

func (s *study) ends(b *Block) bool {
	if n := len(b.Calls); b.Last().Kind == x86.Stop || n > 0 && b.Calls[n-1].NoReturn {
		return true
	}
	any := false
	for _, e := range b.Succ {
		if e.Kind == Caught {
			continue
		}
		if e.To == nil || !s.doomed[e.To.ID] {
			return false
		}
		any = true
	}
	return any
}

func (s *study) opsOf(b *Block, calls func(c *Call, target uint64) op) (list []op) {
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
			if o = calls(c, 0); c.Import == "syscall" {
				o.kind, o.wakes = systemCall(b, i, x86.RDI, x86.RDX)
			}
		case in.Kind == x86.JmpInd && len(b.Succ) == 1 && b.Succ[0].To == nil:
			o.kind = opWork
		case in.Kind.IsJump() && len(TailTargets(b)) > 0 && i == len(b.Insns)-1:
			o = calls(nil, in.Target)
		case isSyscall(in):
			o.kind, o.wakes = systemCall(b, i, x86.RAX, x86.RSI)
		case isPause(in):
			o.kind = opPause
		case in.Lock:
			o.kind, o.adds = opSync, addsLocked(in)
		default:
			s.stores[b.ID] = s.stores[b.ID] || in.Stores && !(in.HasMem && s.own(in))
			continue
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

// noOp is a call that matters to nobody.
const noOp opKind = 255

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
	steps, spin                           bool
	insns                                 int
}

// opsIn gathers what is done in a loop; ok is false where that is work too.
func (s *study) opsIn(l *Loop) (x loopOps, ok bool) {
	x.spin = true
	for _, b := range l.Blocks {
		if s.doomed[b.ID] {
			continue
		}
		if s.work[b.ID] {
			return x, false
		}
		x.insns, x.steps, x.spin = x.insns+len(b.Insns), x.steps || s.steps[b.ID], x.spin && b.Spin
		for _, o := range s.ops[b.ID] {
			if o.kind == opWork {
				return x, false
			}
			x.any = true
			x.pause, x.sleeps = x.pause || o.kind == opPause, x.sleeps || o.kind == opSleep
			x.wait = x.wait || o.kind == opWait || o.kind == opWeak
			x.adds, x.wakes = x.adds || o.adds, x.wakes || o.wakes
		}
		if b.Spin {
			x.any, x.wait = true, true
		}
	}
	return x, true
}

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
	const large = 256
	switch retry := x.spin || s.retry(l); {
	case !x.any || x.insns > large:
		return works
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

// area is a part of a function with one way in and no work: from an instruction
// of its first block to where work comes, or what can be come to another way,
// or the loop goes round that it is in.
type area struct {
	top  int32
	from int           // instruction of the first block
	to   map[int32]int // by block: the instruction before which the area ends in it, or the block's length
	ends []point       // where it is left for other blocks
}

// point is an instruction of a block.
type point struct {
	b  int32
	at int
}

// worksBefore and worksFrom are the instruction behind the last work in a block
// before an instruction, and the first work from there on.
func (s *study) worksBefore(b int32, at int) (from int) {
	if s.work[b] {
		return len(s.Blocks[b].Insns)
	}
	for _, o := range s.ops[b] {
		if o.kind == opWork && o.at < at {
			from = o.at + 1
		}
	}
	return from
}

func (s *study) worksFrom(b int32, at int) int {
	if s.work[b] {
		return 0
	}
	for _, o := range s.ops[b] {
		if o.kind == opWork && o.at >= at {
			return o.at
		}
	}
	return len(s.Blocks[b].Insns)
}

// grow finds the largest area around a wait that does nothing but synchronise.
func (s *study) grow(b int32, at int) (best area, ok bool) {
	if s.work[b] {
		return best, false
	}
	for t := b; t != flowgraph.None; t = s.dom.Idom[t] {
		end := len(s.Blocks[t].Insns)
		if t == b {
			end = at
		}
		a := s.areaFrom(t, s.worksBefore(t, end))
		if to, in := a.to[b]; in && at < to && (t != b || at >= a.from) && !s.tries(s.round(t)) {
			best, ok = a, true
		}
		if s.worksBefore(t, end) > 0 {
			break
		}
	}
	return best, ok
}

// tries: a loop is a part of a wait, and not what goes round with one.
func (s *study) tries(l *Loop) bool {
	return l != nil && (s.loops[l] == retries || s.loops[l] == delays)
}

// round is the loop that an area goes round with: the innermost around its first
// block, but for those that begin there and only try again.
func (s *study) round(t int32) *Loop {
	l := s.Blocks[t].Loop
	for l != nil && int32(l.Head.ID) == t && s.loops[l] == retries {
		l = l.Parent
	}
	return l
}

// areaFrom is the area that begins at an instruction: what can be come to from
// there, without what can be come to another way too.
func (s *study) areaFrom(t int32, from int) area {
	a := area{top: t, from: from, to: map[int32]int{}}
	set := s.reach(&a, nil)
	for again := true; again; {
		again = false
		for x := range set {
			if x != t && slices.ContainsFunc(s.Blocks[x].Pred, func(e *Edge) bool { return !s.comes(set, e, &a) }) {
				delete(set, x)
				again = true
			}
		}
		if again {
			set = s.reach(&a, set)
		}
	}
	for x := range set {
		a.to[x] = s.worksFrom(x, a.start(x))
	}
	a.findEnds(s)
	return a
}

// start is the instruction at which an area begins in a block.
func (a *area) start(b int32) int {
	if b == a.top {
		return a.from
	}
	return 0
}

// reach is what can be come to from where an area begins, past no work, without
// leaving its loop or going round in it; of a set, if one is given.
func (s *study) reach(a *area, of map[int32]bool) map[int32]bool {
	seen := map[int32]bool{a.top: true}
	for stack := []int32{a.top}; len(stack) > 0; {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if s.worksFrom(x, a.start(x)) < len(s.Blocks[x].Insns) {
			continue
		}
		for _, e := range s.Blocks[x].Succ {
			if e.To == nil {
				continue
			}
			if y := int32(e.To.ID); !seen[y] && (of == nil || of[y]) && s.mayHold(a, e.To) {
				seen[y] = true
				stack = append(stack, y)
			}
		}
	}
	return seen
}

// mayHold: a block is of the area's loop, and begins no loop that is not a wait.
func (s *study) mayHold(a *area, b *Block) bool {
	outer := s.round(a.top)
	if int32(b.ID) == a.top || s.doomed[b.ID] || outer != nil && !outer.Has(b) {
		return false
	}
	return b.Loop == nil || b.Loop.Head != b || b.Loop == outer || s.tries(b.Loop)
}

// comes reports whether an edge comes from within a set, past all work.
func (s *study) comes(set map[int32]bool, e *Edge, a *area) bool {
	if e.From == nil {
		return false
	}
	x := int32(e.From.ID)
	return s.doomed[x] || set[x] && s.worksFrom(x, a.start(x)) == len(s.Blocks[x].Insns)
}

// findEnds finds where an area is left.
func (a *area) findEnds(s *study) {
	seen := map[point]bool{}
	end := func(p point) {
		if !seen[p] {
			seen[p] = true
			a.ends = append(a.ends, p)
		}
	}
	for x, to := range a.to {
		b := s.Blocks[x]
		if to < len(b.Insns) {
			end(point{x, to})
			continue
		}
		for _, e := range b.Succ {
			switch {
			case e.Kind == Caught:
			case e.To == nil:
				end(point{x, len(b.Insns) - 1})
			case s.doomed[e.To.ID]:
			case int32(e.To.ID) == a.top && s.Blocks[a.top].Loop != s.round(a.top) && s.Blocks[a.top].Loop.Has(b): // it tries again
			default:
				if y := int32(e.To.ID); y == a.top || !a.has(y) {
					end(point{y, 0})
				}
			}
		}
	}
	slices.SortFunc(a.ends, func(x, y point) int { return cmp.Or(cmp.Compare(x.b, y.b), cmp.Compare(x.at, y.at)) })
}

func (a *area) has(b int32) bool { _, in := a.to[b]; return in }
