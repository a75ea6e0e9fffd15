package cfg

import "slices"

// Compilers let a loop that waits begin in its middle where they know the first
// half to be done already:
//
//	      before the loops
//	            │
//	  work ─▶ yield ◀┐     what works looks itself whether there is more, and goes
//	   ▲        ▼    │     to the yield if there is not: two ways into one wait,
//	   └───── look ──┘     and no loop for it in the graph
//
// To see what waits, such a loop is looked at as if control first came from the
// work; where it truly comes from, a gate stands too (Region.Also).

// peeled is a loop that waits, and is come to from work by another way.
type peeled struct{ work, look *Block }

// unpeel gives such waits loops of their own.
func (s *study) unpeel() {
	n, bypassed := len(s.Graph.peeled), s.bypass()
	for _, l := range s.Graph.Loops {
		look := l.Head
		first, from := s.twoWays(l, look)
		for i := 0; first == nil && i < len(l.Blocks); i++ {
			if look = l.Blocks[i]; s.yieldsTo(l, look) {
				first, from = s.twoWays(l, look)
			}
		}
		if first != nil {
			s.Graph.peeled = append(s.Graph.peeled, peeled{from, look})
			look.Pred = slices.DeleteFunc(look.Pred, func(e *Edge) bool { return e == first })
			first.To = from
			from.Pred = append(from.Pred, first)
		}
	}
	if len(s.Graph.peeled) == n && !bypassed {
		return
	}
	for _, b := range s.Blocks {
		b.Loop = nil
	}
	s.Graph.Loops = nil
	flow := s.Graph.flow()
	tree := flow.Dominators(s.Graph.roots())
	s.findLoops(flow, tree)
	s.markSpins(flow, tree)
}

// bypass leads what yields past jumps back to where it looks again that others share:
// unoptimised code has one for all that goes on with a loop, whatever it did.
func (s *study) bypass() (any bool) {
	for _, l := range s.Graph.Loops {
		for _, back := range slices.Clone(l.Head.Pred) {
			j := back.From
			if j == nil || j == l.Head || !l.Has(j) || len(j.Insns) > 1 || len(j.Succ) != 1 || len(j.Pred) < 2 || !slices.ContainsFunc(j.Pred, s.yields) {
				continue
			}
			for _, e := range j.Pred {
				e.To = l.Head
			}
			l.Head.Pred = append(slices.DeleteFunc(l.Head.Pred, func(e *Edge) bool { return e == back }), j.Pred...)
			j.Pred, s.doomed[j.ID], any = nil, true, true
		}
	}
	return any
}

// yields reports whether an edge comes from a block that gives its time to others, or by a
// jump from there.
func (s *study) yields(e *Edge) bool {
	b := e.From
	for b != nil && !s.doomed[b.ID] && len(b.Insns) == 1 && len(b.Pred) == 1 && len(s.ops[b.ID]) == 0 { // what the entry does not lead to may go round for ever
		b = b.Pred[0].From
	}
	return b != nil && slices.ContainsFunc(s.ops[b.ID], func(o op) bool { return o.kind == opPause })
}

// yieldsTo reports whether a block in a loop looks, yields and looks again, in no loop of
// its own: it may be come to where it looks, too, as when there is nobody to hand work to.
func (s *study) yieldsTo(l *Loop, look *Block) bool {
	return look != l.Head && look.Loop == l && slices.ContainsFunc(look.Pred, func(e *Edge) bool {
		return e.From != look && s.yields(e) && slices.ContainsFunc(look.Succ, func(x *Edge) bool { return x.To == e.From })
	})
}

// twoWays finds, in a loop that works, a wait that begins where it looks when it is
// come to for the first time, and elsewhere from then on: the edge of the first
// time, and the block that it is come to from otherwise.
func (s *study) twoWays(l *Loop, look *Block) (first *Edge, from *Block) {
	round := s.calmRound(l, look)
	for _, e := range look.Pred {
		if e.From != nil && slices.Contains(round, e.From) {
			continue
		}
		if e.From == nil || first != nil {
			return nil, nil
		}
		first = e
	}
	if first == nil || len(round) == 0 || s.kindOf(l) == retries {
		return nil, nil
	}
	for _, b := range round {
		for _, e := range b.Pred {
			switch {
			case e == first || e.From != nil && slices.Contains(round, e.From):
			case b == look || e.From == nil || from != nil && from != e.From:
				return nil, nil
			default:
				from = e.From
			}
		}
	}
	for from != nil && len(from.Succ) == 1 && len(from.Pred) == 1 && from.Pred[0].From != nil && s.calm(from) {
		from = from.Pred[0].From // what fills up the way to a loop that is aligned
	}
	if from == nil || look == l.Head && s.calm(from) || !sameExit(from, round) || newWrites(round).moving(round) || s.kindOf(&Loop{Head: look, Parent: l, Inner: true, Blocks: round}) != retries {
		return nil, nil
	}
	return first, from
}

// sameExit: a block outside a round looks for the same as one in it: it leads into
// the round, or to where that is left for.
func sameExit(b *Block, round []*Block) bool {
	return slices.ContainsFunc(b.Succ, func(e *Edge) bool {
		return e.Kind != Caught && e.To != nil && !slices.Contains(round, e.To) && slices.ContainsFunc(round, func(x *Block) bool {
			return slices.ContainsFunc(x.Succ, func(y *Edge) bool { return y.To == e.To })
		})
	})
}

// calmRound is what of a loop is on a way round from a block, past the loop's head only if
// it is that, on which nothing is done but to synchronise.
func (s *study) calmRound(l *Loop, look *Block) (round []*Block) {
	reach := func(next func(b *Block) []*Block) map[*Block]bool {
		seen := map[*Block]bool{}
		for stack := []*Block{look}; len(stack) > 0; {
			b := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, x := range next(b) {
				if x != nil && l.Has(x) && (x == look || x != l.Head) && !seen[x] && s.calm(x) {
					seen[x] = true
					stack = append(stack, x)
				}
			}
		}
		return seen
	}
	on := reach(func(b *Block) (to []*Block) {
		for _, e := range b.Succ {
			to = append(to, e.To)
		}
		return to
	})
	back := reach(func(b *Block) (from []*Block) {
		for _, e := range b.Pred {
			from = append(from, e.From)
		}
		return from
	})
	for _, b := range l.Blocks {
		if on[b] && back[b] {
			round = append(round, b)
		}
	}
	return round
}

// calm: a block neither works nor lets others go on.
func (s *study) calm(b *Block) bool {
	return !s.doomed[b.ID] && !s.stores[b.ID] && !s.steps[b.ID] &&
		!slices.ContainsFunc(s.ops[b.ID], func(o op) bool { return o.kind == opWork || o.wakes || o.adds })
}
