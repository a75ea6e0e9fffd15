package cfg

import "github.com/skewlens/skewlens/profiler/internal/x86"

// connect joins the blocks by edges: those that leave a block one behind the
// other, in the order of the blocks.
func (m *maker) connect() {
	s, g := m.s, m.g
	n := 1
	for _, b := range g.Blocks {
		n += 4 + len(g.tables[b.Last().Addr])
		if b.Pad {
			n++
		}
	}
	mem := of(&s.edges, n)
	g.Edges = of(&s.ways, n)[:0]
	add := func(from, to *Block, k EdgeKind) *Edge {
		i := len(g.Edges)
		e := &mem[i]
		e.ID, e.From, e.To, e.Kind = i, from, to, k
		g.Edges = append(g.Edges, e)
		return e
	}
	add(nil, g.Entry, Entry)
	for _, b := range g.Blocks {
		from := len(g.Edges)
		resumed := m.leave(b, add)
		b.Succ = g.Edges[from:len(g.Edges):len(g.Edges)]
		if resumed != nil {
			add(nil, resumed, Resumed).Uncountable = true
		}
	}
	for _, b := range g.Blocks {
		if b.Leaves {
			add(nil, b, Resumed).Uncountable = true
		}
		if b.Pad {
			add(nil, b, Pad)
		}
	}
	// Every block's ways in, in the order of the edges.
	count := of(&s.counts, len(g.Blocks)+1)
	for _, e := range g.Edges {
		if e.To != nil {
			count[e.To.ID+1]++
		}
	}
	for i := 1; i < len(count); i++ {
		count[i] += count[i-1]
	}
	preds := of(&s.preds, int(count[len(g.Blocks)]))
	for _, b := range g.Blocks {
		lo, hi := count[b.ID], count[b.ID+1]
		b.Pred = preds[lo:lo:hi]
	}
	for _, e := range g.Edges {
		if e.To != nil {
			e.To.Pred = append(e.To.Pred, e)
		}
	}
}

// leave adds the edges that leave a block; it returns the block behind a
// setjmp, to which control may come again.
func (m *maker) leave(b *Block, add func(from, to *Block, k EdgeKind) *Edge) (resumed *Block) {
	g, last := m.g, b.Last()
	falls := false
	switch {
	case last.Kind == x86.Jmp:
		if to := g.BlockAt(last.Target); to != nil {
			add(b, to, Jump)
		} else {
			add(b, nil, Exit)
		}
	case last.Kind.IsConditional():
		add(b, g.BlockAt(last.Target), Taken)
		falls = true
	case last.Kind == x86.JmpInd:
		if t, ok := g.tables[last.Addr]; ok {
			for _, a := range t {
				add(b, g.BlockAt(a), Table)
			}
		} else {
			add(b, nil, Exit)
		}
	case last.Kind == x86.Ret || last.Kind == x86.Stop:
		add(b, nil, Exit)
	case last.Kind.IsCall() && b.Calls[len(b.Calls)-1].NoReturn:
		add(b, nil, Exit)
	default:
		falls = true
	}
	if b.Enters && !(falls && last.Kind.IsCall() && b.Calls[len(b.Calls)-1].Leaves) {
		defer func() { add(b, nil, Caught).Uncountable = true }() // behind the ways that control goes
	}
	if !falls {
		return nil
	}
	next := g.BlockAt(b.End)
	if next == nil {
		g.Torn = b.End
	}
	fall := add(b, next, Fall)
	if last.Kind.IsCall() {
		c := &b.Calls[len(b.Calls)-1]
		if c.Leaves {
			add(b, nil, Caught).Uncountable = true
		}
		if c.SetJmp {
			fall.Uncountable = true // one place sees both returns
			return next
		}
	}
	return nil
}
