package section

import "github.com/skewlens/skewlens/profile"

// There may be a hundred thousand goroutines in a run, most of which live for
// microseconds. What is known of one that has ended is garbage as soon as no meeting
// that it came to, and nobody whom it made, needs it: but for what the profile says of it.

// departed is that.
type departed struct {
	start  profile.Addr
	parent profile.ThreadID // counted from 1; 0: none
}

// forget is told that a thread has ended.
func (t *Tracker) forget(x *thread) {
	if !t.c.Goroutines {
		return // who waits for its end may be anybody
	}
	for len(t.departed) <= int(x.id) {
		t.departed = append(t.departed, departed{})
	}
	y := &t.departed[x.id]
	if y.start = x.start; x.parent != nil {
		y.parent = x.parent.id + 1
	}
	delete(t.threads, x.id)
	t.pools.forget(x)
	t.goes.forget(x)
}

// forget: a thread that has handed out no work, and was handed none, is of no pool.
func (p *poolRule) forget(x *thread) {
	if h := p.hands[x]; h != nil && !h.began && h.round == nil && len(h.lines)+len(h.past)+len(h.now.parts)+h.now.out == 0 {
		delete(p.hands, x)
	}
}

// forget: it makes no others, sends nothing and receives nothing any more.
func (g *goRule) forget(x *thread) {
	if y := g.errands[x]; y == nil || y.sent != y.received || y.most < 2 {
		delete(g.errands, x)
		delete(g.kin, x)
	}
	g.finish(x)
}
