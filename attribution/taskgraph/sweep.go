package taskgraph

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// sweep goes through all that happened.
func (b *builder) sweep() {
	for i := 0; i < len(b.order); i++ {
		e := b.at(i)
		switch e.what {
		case creates:
			c := b.who(b.p.Threads[e.thread].Creator - 1)
			b.cut(c, e.at)
			b.threads[e.thread].after = slices.Clip(b.threads[c].heads)
		case born:
			b.born(e)
		case begins:
			b.begins(e)
		case waits:
			b.cut(e.thread, e.at)
			b.threads[e.thread].waiting++
		case sleeps:
			b.cut(e.thread, e.at)
			b.threads[e.thread].asleep++
			if b.syncs[e.meeting].Kind == profile.WaitLock {
				b.threads[e.thread].locked++
			}
		case arrives:
			b.arrives(e)
		case ends:
			b.cut(e.thread, e.at)
		case meets:
			b.meets(e)
		case wakes:
			b.cut(e.thread, e.at)
			b.syncs[e.meeting].done = slices.Clip(b.threads[e.thread].heads)
		case woken:
			b.cut(e.thread, e.at)
			b.threads[e.thread].asleep--
			if b.syncs[e.meeting].Kind == profile.WaitLock {
				b.threads[e.thread].locked--
			}
			b.threads[e.thread].on(b.syncs[e.meeting].done)
			b.threads[e.thread].woken = b.syncs[e.meeting].Sync
			b.g.Counts.Sync++
			b.g.SyncNS += b.syncs[e.meeting].EndNS - b.syncs[e.meeting].BeginNS
		case joined:
			i = b.joined(i)
		case window:
			for x := range b.threads {
				b.cut(int32(x), e.at)
			}
		}
	}
	b.events, b.order = nil, nil
}

// at is the event that is the i-th by time.
func (b *builder) at(i int) *event { return &b.events[b.order[i]] }

// cut ends the task that a thread is about.
func (b *builder) cut(x int32, at int64) {
	t := &b.threads[x]
	if at = min(at, t.end); at <= t.at {
		return
	}
	from := t.at
	t.at = at
	if t.idle > 0 && len(t.parts) == 0 {
		return // it waits for a meeting
	}
	task := Task{Thread: x, FromNS: from, ToNS: at, Of: Part{Section: -1}, waiting: t.waiting+t.asleep > 0, Lock: t.locked > 0}
	if n := len(t.parts); n > 0 {
		task.Of = t.parts[n-1]
	}
	task.woken, t.woken = t.woken, nil
	t.heads = b.one(b.add(task, t.heads))
	t.tasks = append(t.tasks, t.heads[0])
}

// one is a list of one task, of which there are many.
func (b *builder) one(i int32) []int32 {
	b.arena = append(b.arena, i)
	n := len(b.arena)
	return b.arena[n-1 : n : n]
}

// add appends a task.
func (b *builder) add(t Task, depends []int32) int32 {
	g := b.g
	g.Tasks, g.first = append(g.Tasks, t), append(g.first, int32(len(g.depends)))
	g.depends = append(g.depends, depends...)
	return int32(len(g.Tasks) - 1)
}

// on lets the next task of a thread depend on others, too.
func (t *thread) on(heads []int32) {
	for _, h := range heads {
		if !slices.Contains(t.heads, h) {
			t.heads = append(slices.Clip(t.heads), h)
		}
	}
}

func (b *builder) born(e *event) {
	t := &b.p.Threads[e.thread]
	if t.Creator == 0 {
		if e.thread > 0 {
			b.g.Rootless++
		}
		return
	}
	b.g.Counts.Create++
	if t.CreatedNS > 0 {
		b.threads[e.thread].on(b.threads[e.thread].after)
		return
	}
	c := b.who(t.Creator - 1)
	b.cut(c, e.at)
	b.threads[e.thread].on(b.threads[c].heads)
}

// begins: a part begins. In a round of a pool it depends on the one who let it
// begin, as far as that one had come when it began its own part, or by now.
func (b *builder) begins(e *event) {
	b.cut(e.thread, e.at)
	t := &b.threads[e.thread]
	t.parts = append(t.parts, e.of)
	if e.meeting < 0 {
		return
	}
	m := &b.meetings[e.meeting]
	switch {
	case m.waiter < 0:
	case m.waiter == e.thread:
		m.own, m.dispatched = true, slices.Clone(t.heads)
	case m.own:
		t.on(m.dispatched)
	default:
		b.cut(m.waiter, e.at)
		t.on(b.threads[m.waiter].heads)
	}
}

func (b *builder) arrives(e *event) {
	b.cut(e.thread, e.at)
	t := &b.threads[e.thread]
	t.parts = slices.DeleteFunc(t.parts, func(q Part) bool { return q == e.of })
	if e.meeting < 0 {
		return
	}
	m := &b.meetings[e.meeting]
	if m.arrived == nil {
		m.arrived = make([]int32, 0, len(m.in.Parts))
	}
	m.arrived = append(m.arrived, t.heads...)
	if m.waiter < 0 {
		t.idle++
	}
}

// meets: all have arrived, and go on; of a round only the one who waited.
func (b *builder) meets(e *event) {
	m := &b.meetings[e.meeting]
	b.g.Counts.Barrier++
	for k := range m.in.Parts {
		if m.waiter < 0 {
			x := b.who(m.in.Parts[k].Thread)
			b.cut(x, e.at)
			b.threads[x].idle--
		}
	}
	if m.waiter >= 0 {
		b.cut(m.waiter, e.at)
	}
	slices.Sort(m.arrived)
	id := []int32{b.add(Task{Thread: -1, FromNS: e.at, ToNS: e.at, Of: Part{Section: -1}}, slices.Compact(m.arrived))}
	if m.waiter >= 0 {
		b.threads[m.waiter].waiting--
		b.threads[m.waiter].on(id)
		m.arrived, m.dispatched = nil, nil
		return
	}
	for k := range m.in.Parts {
		t := &b.threads[b.who(m.in.Parts[k].Thread)]
		if !slices.ContainsFunc(t.heads, func(h int32) bool { _, in := slices.BinarySearch(m.arrived, h); return !in }) {
			t.heads = id // it has done nothing since it arrived
		} else {
			t.on(id)
		}
	}
	m.arrived = nil
}

// joined: a thread has waited for others that go on no more; they are the next
// events. It returns the last of them.
func (b *builder) joined(i int) int {
	at, x := b.at(i).at, b.at(i).meeting
	b.cut(x, at)
	b.threads[x].waiting--
	var heads []int32
	for ; i < len(b.order); i++ {
		e := b.at(i)
		if e.what != joined || e.at != at || e.meeting != x {
			break
		}
		w := e.thread
		b.cut(w, at)
		heads = append(heads, b.threads[w].heads...)
	}
	slices.Sort(heads)
	b.threads[x].on([]int32{b.add(Task{Thread: -1, FromNS: at, ToNS: at, Of: Part{Section: -1}}, slices.Compact(heads))})
	return i - 1
}
