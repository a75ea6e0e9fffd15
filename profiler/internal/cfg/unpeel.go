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
	n := len(s.Graph.peeled)
	for _, l := range s.Graph.Loops {
		if first, from := s.twoWays(l); first != nil {
			s.Graph.peeled = append(s.Graph.peeled, peeled{from, l.Head})
			l.Head.Pred = slices.DeleteFunc(l.Head.Pred, func(e *Edge) bool { return e == first })
			first.To = from
			from.Pred = append(from.Pred, first)
		}
	}
	if len(s.Graph.peeled) == n {
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

// twoWays finds, in a loop that works, a wait that begins at its head when it is
// come to for the first time, and elsewhere from then on: the edge of the first
// time, and the block that it is come to from otherwise.
func (s *study) twoWays(l *Loop) (first *Edge, from *Block) {
	for _, e := range l.Head.Pred {
		if e.From != nil && l.Has(e.From) {
			continue
		}
		if e.From == nil || first != nil {
			return nil, nil
		}
		first = e
	}
	round := s.calmRound(l)
	if first == nil || len(round) == 0 || s.kindOf(l) == retries {
		return nil, nil
	}
	for _, b := range round {
		for _, e := range b.Pred {
			switch {
			case e == first || e.From != nil && slices.Contains(round, e.From):
			case b == l.Head || e.From == nil || from != nil && from != e.From:
				return nil, nil
			default:
				from = e.From
			}
		}
	}
	if from == nil || s.calm(from) || !sameExit(from, round) || newWrites(round).moving(round) || s.kindOf(&Loop{Head: l.Head, Parent: l, Inner: true, Blocks: round}) != retries {
		return nil, nil
	}
	return first, from
}

// sameExit: a block outside a round looks for the same as one in it: it leads into
// the round, or to where that is left for.
func sameExit(b *Block, round []*Block) bool {
	var exit *Block
	for _, e := range b.Succ {
		if e.Kind != Caught && !slices.Contains(round, e.To) {
			exit = e.To
		}
	}
	return exit != nil && slices.ContainsFunc(round, func(x *Block) bool {
		return slices.ContainsFunc(x.Succ, func(e *Edge) bool { return e.To == exit })
	})
}

// calmRound is what of a loop is on a way round from its head on which nothing is
// done but to synchronise.
func (s *study) calmRound(l *Loop) (round []*Block) {
	reach := func(next func(b *Block) []*Block) map[*Block]bool {
		seen := map[*Block]bool{}
		for stack := []*Block{l.Head}; len(stack) > 0; {
			b := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, x := range next(b) {
				if x != nil && l.Has(x) && !seen[x] && s.calm(x) {
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
