package cfg

import (
	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// study is one function, looked at for where its threads may meet.
type study struct {
	*Graph
	ops     [][]op // by block, in order
	work    []bool // by block: it is of a loop that works
	doomed  []bool // by block: nothing but the program's end is behind it, or it is never come to but by an exception
	loops   map[*Loop]loopKind
	dom     *flowgraph.Tree
	post    *flowgraph.Tree // of the reversed graph, whose root is the vertex behind the blocks: outside
	outside int32
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
	s := &study{Graph: g, ops: make([][]op, len(g.Blocks)), work: make([]bool, len(g.Blocks)), loops: map[*Loop]loopKind{}, outside: int32(len(g.Blocks))}
	s.findDoomed()
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
	s.trees()
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
				o.kind = systemCall(b, i, x86.RDI, x86.RDX)
			}
		case in.Kind == x86.JmpInd && len(b.Succ) == 1 && b.Succ[0].To == nil:
			o.kind = opWork
		case in.Kind.IsJump() && len(TailTargets(b)) > 0 && i == len(b.Insns)-1:
			o = calls(nil, in.Target)
		case isSyscall(in):
			o.kind = systemCall(b, i, x86.RAX, x86.RSI)
		case isPause(in):
			o.kind = opPause
		case in.Lock:
			o.kind, o.adds = opSync, addsLocked(in)
		default:
			continue
		}
		if o.kind == noOp {
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

// kindOf says what a loop does.
func (s *study) kindOf(l *Loop) loopKind {
	any, wait, adds, insns, spin := false, false, false, 0, true
	pause := false
	for _, b := range l.Blocks {
		if s.doomed[b.ID] {
			continue
		}
		if s.work[b.ID] {
			return rounds
		}
		insns += len(b.Insns)
		spin = spin && b.Spin
		for _, o := range s.ops[b.ID] {
			if o.kind == opWork {
				return rounds
			}
			any = true
			pause = pause || o.kind == opPause
			wait = wait || o.kind == opWait || o.kind == opWeak
			adds = adds || o.adds
		}
		if b.Spin {
			any, wait = true, true
		}
	}
	const large = 256
	switch retry := spin || s.retry(l); {
	case !any || insns > large:
		return works
	case retry && (wait || pause || !adds):
		return retries
	case wait:
		return rounds
	case pause:
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
				if o := &s.ops[b.ID][i]; o.kind == opPause {
					o.kind, found = opWait, true
				}
			}
		}
		if found {
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

// trees makes the dominator trees of what is not doomed.
func (s *study) trees() {
	var edges []flowgraph.Edge
	for _, b := range s.Blocks {
		if s.doomed[b.ID] {
			continue
		}
		for _, e := range b.Succ {
			switch {
			case e.Kind == Caught:
			case e.To == nil:
				edges = append(edges, flowgraph.Edge{From: int32(b.ID), To: s.outside})
			case !s.doomed[e.To.ID]:
				edges = append(edges, flowgraph.Edge{From: int32(b.ID), To: int32(e.To.ID)})
			}
		}
	}
	g := flowgraph.New(len(s.Blocks)+1, edges)
	s.dom = g.Dominators([]int32{int32(s.Entry.ID)})
	s.post = g.Reverse().Dominators([]int32{s.outside})
}

// area is a part of a function with one way in and one way out: from
// instruction from of block top, to before instruction to of block bottom. Its
// inside are the blocks between.
type area struct {
	top, bottom int32 // bottom may be outside
	from, to    int
	inside      []int32 // top first; without bottom
}

// firstWork and lastWork are the first instruction of a block that is work,
// and the one behind the last.
func (s *study) firstWork(b int32) int {
	for _, o := range s.ops[b] {
		if o.kind == opWork {
			return o.at
		}
	}
	if s.work[b] {
		return 0
	}
	return len(s.Blocks[b].Insns)
}

func (s *study) lastWork(b int32) int {
	if s.work[b] {
		return len(s.Blocks[b].Insns)
	}
	n := 0
	for _, o := range s.ops[b] {
		if o.kind == opWork {
			n = o.at + 1
		}
	}
	return n
}

// grow finds the largest area around a wait that does nothing but synchronise.
func (s *study) grow(b int32, at int) (area, bool) {
	a := area{top: b, bottom: b, from: 0, to: len(s.Blocks[b].Insns)}
	for _, o := range s.ops[b] {
		if o.kind == opWork && o.at < at {
			a.from = o.at + 1
		}
		if o.kind == opWork && o.at > at {
			a.to = min(a.to, o.at)
		}
	}
	ok := s.Blocks[b].Loop == nil || !s.retried(s.Blocks[b].Loop)
	for {
		next, found := s.larger(a, b, at)
		if !found {
			return a, ok
		}
		a, ok = next, true
	}
}

func (s *study) retried(l *Loop) bool { return s.loops[l] == retries }

// larger finds an area that holds another one, and more.
func (s *study) larger(a area, b int32, at int) (area, bool) {
	if a.from == 0 || a.top != a.bottom {
		for t := a.top; a.from == 0 && t != flowgraph.None; {
			if t = s.dom.Idom[t]; t == flowgraph.None {
				break
			}
			p := a.bottom
			for p != flowgraph.None && !(s.post.Dominates(p, t) && s.post.Dominates(p, b)) {
				p = s.up(p)
			}
			if x, ok := s.between(t, p, b, at); ok {
				return x, true
			}
			if s.lastWork(t) > 0 {
				break
			}
		}
	}
	full := a.bottom != s.outside && a.to == len(s.Blocks[a.bottom].Insns)
	for p := a.bottom; full && p != flowgraph.None && p != s.outside; {
		if p = s.up(p); p == flowgraph.None {
			break
		}
		if x, ok := s.between(a.top, p, b, at); ok {
			return x, true
		}
		if p == s.outside || s.firstWork(p) < len(s.Blocks[p].Insns) {
			break
		}
	}
	return area{}, false
}

// up is the immediate postdominator; that of the last block is the outside.
func (s *study) up(p int32) int32 {
	if p == s.outside || !s.post.Reached(p) {
		return flowgraph.None
	}
	return s.post.Idom[p]
}

// between is the area from the end of what works in block t to the beginning
// of what works in block p, if it holds instruction at of block b and does
// nothing else.
func (s *study) between(t, p, b int32, at int) (area, bool) {
	if p == flowgraph.None || t == p || !s.post.Reached(t) {
		return area{}, false
	}
	var outer *Loop
	a := area{top: t, bottom: p, from: s.lastWork(t)}
	if p != s.outside {
		outer, a.to = s.Blocks[p].Loop, s.firstWork(p)
	}
	if s.Blocks[t].Loop != outer || b == t && at < a.from || b == p && at >= a.to {
		return a, false
	}
	seen := map[int32]bool{t: true}
	for stack := []int32{t}; len(stack) > 0; {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		a.inside = append(a.inside, x)
		if x != t && (s.work[x] || s.lastWork(x) > 0) {
			return a, false
		}
		for _, e := range s.Blocks[x].Succ {
			if e.To == nil {
				continue
			}
			y := int32(e.To.ID)
			if y == t && a.from > 0 {
				return a, false
			}
			if y != p && !seen[y] && !s.doomed[y] {
				seen[y] = true
				stack = append(stack, y)
			}
		}
	}
	for l, k := range s.loops {
		if k == rounds && l != outer && seen[int32(l.Head.ID)] && !l.encloses(outer) {
			return a, false
		}
	}
	return a, seen[b] || b == p
}

// encloses reports whether another loop lies in this one, or is this one.
func (l *Loop) encloses(x *Loop) bool {
	for ; x != nil; x = x.Parent {
		if x == l {
			return true
		}
	}
	return false
}
