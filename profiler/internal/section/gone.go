package section

import "github.com/skewlens/skewlens/profile"

// There may be a hundred thousand threads or goroutines in a run, most of which live
// for microseconds. What is known of one that has ended is garbage as soon as no meeting
// that it came to, and nobody whom it made, needs it: but for what the profile says of it.

// departed is that.
type departed struct {
	start  profile.Addr
	parent profile.ThreadID // counted from 1; 0: none
}

// departedThread is more: somebody waited for its end.
type departedThread struct {
	departed
	tied
}

// departedThreads are those, by id. They lie in pages: what is as long as there are
// threads is not copied when more come.
type departedThreads [][]departedThread

const departedPage = 256

func (d *departedThreads) put(id profile.ThreadID, x departedThread) {
	page := int(id) / departedPage
	for len(*d) <= page {
		*d = append(*d, nil)
	}
	if (*d)[page] == nil {
		(*d)[page] = make([]departedThread, departedPage)
	}
	(*d)[page][int(id)%departedPage] = x
}

func (d departedThreads) of(id profile.ThreadID) departedThread {
	if page := int(id) / departedPage; page < len(d) && d[page] != nil {
		return d[page][int(id)%departedPage]
	}
	return departedThread{}
}

// departed is what the profile says of a thread.
func (x *thread) departed() departed {
	return departed{start: x.start, parent: x.maker + 1}
}

// forget is told that a thread has ended.
func (t *Tracker) forget(x *thread) {
	if !t.c.Goroutines {
		return // who waits for its end may be anybody: see joined
	}
	for len(t.departed) <= int(x.id) {
		t.departed = append(t.departed, departed{})
	}
	if t.departed[x.id] = x.departed(); x.coroutine {
		t.gone.put(x.id, departedThread{x.departed(), x.tied})
	}
	delete(t.threads, x.id)
	t.pools.forget(x)
	t.goes.forget(x)
}

// joined is told that a thread has ended, and that who created it has waited for that:
// of what it did an instance was made. If it has done nothing else that a rule may ask
// for, nobody does.
func (t *Tracker) joined(x *thread) {
	if !t.joins.filed { // else there may be wholeLives
		return
	}
	if t.pools.forget(x); t.pools.hands[x] != nil || t.joins.knows(x) || t.teams.knows(x) || t.mpi.knows(x) {
		return
	}
	t.gone.put(x.id, departedThread{x.departed(), x.tied})
	delete(t.threads, x.id)
}

// forget: a thread that has handed out no work, and was handed none, is of no pool.
func (p *poolRule) forget(x *thread) {
	if h := p.hands[x]; h != nil && !h.began() && h.round == nil && len(h.lines)+len(h.past)+len(h.now.parts)+h.now.out == 0 {
		delete(p.hands, x)
	}
}

// knows: it has created others, or said that it has done its work.
func (j *joinRule) knows(x *thread) bool {
	_, said := j.said[x]
	return said || j.groups[x] != nil
}

// knows: it was in a team, or is a runtime's.
func (m *teamRule) knows(x *thread) bool {
	return m.ofRuntime[x] || m.crew[x] || m.ended[x] != nil || len(m.in[x])+len(m.forked[x]) > 0
}

// knows: it is of a rank.
func (m *mpiRule) knows(x *thread) bool { return m.ranks[x] != nil || m.own[x] }

// forget: it makes no others, sends nothing and receives nothing any more.
func (g *goRule) forget(x *thread) {
	if y := g.errands[x]; y == nil || y.sent != y.received || y.most < 2 {
		delete(g.errands, x)
		delete(g.kin, x)
	}
	delete(g.forked, x)
	g.finish(x)
}
