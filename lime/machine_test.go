package lime

import (
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// machine builds the control-flow graph of a small program and runs it for
// several threads, counting every block and edge: counts that agree with each
// other because something really walked the graph.
type machine struct {
	p     profile.Profile
	cur   profile.BlockID
	edge  map[[2]profile.BlockID]int32
	round int // which instance is being run
}

// walker is one thread on its way.
type walker struct {
	m      *machine
	id, n  int // which thread of how many
	iter   int // of the innermost counting loop
	at     profile.BlockID
	thrown bool // an exception is under way
	counts []uint64
}

type stmt interface {
	emit(m *machine)
	run(w *walker)
}

type function struct {
	id    profile.FunctionID
	entry profile.BlockID
	body  []stmt
}

func newMachine() *machine {
	return &machine{edge: map[[2]profile.BlockID]int32{}}
}

// function adds a function; its body may be set later, for recursion.
func (m *machine) function(name string, body ...stmt) *function {
	f := &function{id: profile.FunctionID(len(m.p.Graph.Functions))}
	m.p.Graph.Functions = append(m.p.Graph.Functions, profile.Function{Name: name})
	f.define(m, body...)
	return f
}

// define lays the function's blocks out. Callees must exist; a function under
// definition may call itself through its entry, which is the first block.
func (f *function) define(m *machine, body ...stmt) {
	first := len(m.p.Graph.Blocks)
	f.entry = profile.BlockID(first)
	f.body = body
	m.cur = m.block(f.id, 3)
	for _, s := range body {
		s.emit(m)
	}
	m.p.Graph.Edges = append(m.p.Graph.Edges, profile.Edge{From: m.cur, To: profile.NoBlock, Kind: profile.Exit, Count: profile.NoEvent})
	g := &m.p.Graph.Functions[f.id]
	g.First, g.N, g.EntryBlock = profile.BlockID(first), int32(len(m.p.Graph.Blocks)-first), f.entry
	g.Entry, g.End = m.p.Graph.Blocks[first].Start, m.p.Graph.Blocks[len(m.p.Graph.Blocks)-1].End
}

func (f *function) call(w *walker) {
	at := w.at
	w.at = f.entry
	w.counts[w.m.p.Graph.Blocks[f.entry].Count]++
	for _, s := range f.body {
		s.run(w)
	}
	w.at = at
}

func (m *machine) event(e profile.Event) profile.EventID {
	e.Superior = profile.NoEvent
	m.p.Events = append(m.p.Events, e)
	return profile.EventID(len(m.p.Events) - 1)
}

func (m *machine) block(f profile.FunctionID, instructions int32) profile.BlockID {
	b := profile.BlockID(len(m.p.Graph.Blocks))
	start := profile.Addr(0x1000 + 0x10*int(b))
	count := m.event(profile.Event{Kind: profile.BlockEntered, Block: b, Addr: start})
	m.p.Graph.Blocks = append(m.p.Graph.Blocks, profile.Block{
		Function: f, Start: start, End: start + 0x10, Last: start + 0xc, Instructions: instructions, Count: count})
	return b
}

func (m *machine) newBlock(instructions int32) profile.BlockID {
	return m.block(m.p.Graph.Blocks[m.cur].Function, instructions)
}

func (m *machine) link(from, to profile.BlockID, kind profile.EdgeKind) {
	k := int32(len(m.p.Graph.Edges))
	site := m.p.Graph.Blocks[from].Last
	ev := m.p.Graph.Blocks[from].Count
	if kind != profile.Call {
		ev = m.event(profile.Event{Kind: profile.EdgeTaken, Edge: k, Addr: site, Block: profile.NoBlock})
		m.edge[[2]profile.BlockID{from, to}] = k
	} else {
		site -= 4
	}
	m.p.Graph.Edges = append(m.p.Graph.Edges, profile.Edge{From: from, To: to, Kind: kind, Site: site, Count: ev})
}

func (w *walker) step(to profile.BlockID) {
	e := w.m.edge[[2]profile.BlockID{w.at, to}]
	w.counts[w.m.p.Graph.Edges[e].Count]++
	w.counts[w.m.p.Graph.Blocks[to].Count]++
	w.at = to
}

// last returns the address of a block's deciding instruction.
func (m *machine) last(b profile.BlockID) profile.Addr { return m.p.Graph.Blocks[b].Last }

// work is straight-line code.
type work struct {
	instructions int32
	to           profile.BlockID
}

func (s *work) emit(m *machine) {
	s.to = m.newBlock(s.instructions)
	m.link(m.cur, s.to, profile.Fall)
	m.cur = s.to
}
func (s *work) run(w *walker) { w.step(s.to) }

// when is an if; with or set, if (a || b) with a short-circuit jump into the body.
type when struct {
	cond            func(*walker) bool
	or              func(*walker) bool
	then, otherwise []stmt
	head, second    profile.BlockID
	yes, no, join   profile.BlockID
}

func (s *when) emit(m *machine) {
	s.head = m.newBlock(2)
	m.link(m.cur, s.head, profile.Fall)
	miss := s.head
	if s.or != nil {
		s.second = m.newBlock(2)
		m.link(s.head, s.second, profile.Fall)
		miss = s.second
	}
	m.cur = s.head
	s.yes = m.newBlock(1)
	m.link(s.head, s.yes, profile.Taken)
	if s.or != nil {
		m.link(s.second, s.yes, profile.Fall)
	}
	m.cur = s.yes
	for _, x := range s.then {
		x.emit(m)
	}
	end := m.cur
	if s.otherwise != nil {
		s.no = m.newBlock(1)
		m.link(miss, s.no, profile.Fall)
		m.cur, miss = s.no, profile.NoBlock
		for _, x := range s.otherwise {
			x.emit(m)
		}
	}
	s.join = m.newBlock(1)
	m.link(end, s.join, profile.Jump)
	if miss >= 0 {
		m.link(miss, s.join, profile.Taken)
	} else {
		m.link(m.cur, s.join, profile.Jump)
	}
	m.cur = s.join
}

func (s *when) run(w *walker) {
	w.step(s.head)
	yes := s.cond(w)
	if !yes && s.or != nil {
		w.step(s.second)
		yes = s.or(w)
	}
	if yes {
		w.step(s.yes)
		for _, x := range s.then {
			x.run(w)
		}
	} else if s.otherwise != nil {
		w.step(s.no)
		for _, x := range s.otherwise {
			x.run(w)
		}
	}
	w.step(s.join)
}

// loop tests at the bottom; one block when it has no body but instructions.
type repeat struct {
	trips        func(*walker) int // at least 1
	instructions int32
	body         []stmt
	head, latch  profile.BlockID
	out          profile.BlockID
}

func (s *repeat) emit(m *machine) {
	s.head = m.newBlock(s.instructions)
	m.link(m.cur, s.head, profile.Fall)
	m.cur = s.head
	for _, x := range s.body {
		x.emit(m)
	}
	s.latch = m.cur
	m.link(s.latch, s.head, profile.Taken)
	s.out = m.newBlock(1)
	m.link(s.latch, s.out, profile.Fall)
	m.cur = s.out
}

func (s *repeat) run(w *walker) {
	outer := w.iter
	for i := range max(1, s.trips(w)) {
		w.iter = i
		w.step(s.head)
		for _, x := range s.body {
			x.run(w)
		}
	}
	w.iter = outer
	w.step(s.out)
}

// call calls a function; with through set, by pointer.
type call struct {
	f       *function
	through func(*walker) *function
	targets []*function
	edges   map[*function]profile.EventID
	block   profile.BlockID
}

func (s *call) emit(m *machine) {
	s.block = m.newBlock(2)
	m.link(m.cur, s.block, profile.Fall)
	m.cur = s.block
	if s.through == nil {
		m.link(s.block, s.f.entry, profile.Call)
		return
	}
	s.edges = map[*function]profile.EventID{}
	for _, f := range s.targets {
		m.link(s.block, f.entry, profile.Indirect)
		s.edges[f] = m.p.Graph.Edges[len(m.p.Graph.Edges)-1].Count
	}
}

func (s *call) run(w *walker) {
	w.step(s.block)
	if s.through == nil {
		s.f.call(w)
		return
	}
	f := s.through(w)
	w.counts[s.edges[f]]++
	f.call(w)
}

// run runs main functions, one for each thread, as one instance.
func (m *machine) run(mains ...*function) *profile.Profile {
	m.start(mains)
	m.instance(mains)
	return &m.p
}

// start adds the edges by which threads come in.
func (m *machine) start(mains []*function) {
	for _, f := range mains {
		if _, ok := m.edge[[2]profile.BlockID{profile.NoBlock, f.entry}]; ok {
			continue
		}
		k := int32(len(m.p.Graph.Edges))
		ev := m.event(profile.Event{Kind: profile.EdgeTaken, Edge: k, Block: profile.NoBlock})
		m.edge[[2]profile.BlockID{profile.NoBlock, f.entry}] = k
		m.p.Graph.Edges = append(m.p.Graph.Edges, profile.Edge{From: profile.NoBlock, To: f.entry, Kind: profile.Start, Count: ev})
	}
	if m.p.Sections == nil {
		m.p.Sections = []profile.Section{{Kind: profile.Barrier, Site: 0x500}}
	}
}

func (m *machine) instance(mains []*function) {
	in := profile.Instance{Folded: 1}
	for id, f := range mains {
		w := &walker{m: m, id: id, n: len(mains), counts: make([]uint64, len(m.p.Events))}
		w.counts[m.p.Graph.Edges[m.edge[[2]profile.BlockID{profile.NoBlock, f.entry}]].Count]++
		f.call(w)
		in.Parts = append(in.Parts, profile.Part{
			Thread: profile.ThreadID(id + 1), Begin: m.p.Graph.Blocks[f.entry].Start, Site: 0x500, Counts: sparse(w.counts)})
	}
	s := &m.p.Sections[0]
	s.Instances = append(s.Instances, in)
}

func sparse(dense []uint64) (c profile.Counts) {
	for e, n := range dense {
		if n > 0 {
			c.Event, c.N = append(c.Event, profile.EventID(e)), append(c.N, n)
		}
	}
	return c
}

// all returns n times the same main function.
func all(f *function, n int) []*function { return slices.Repeat([]*function{f}, n) }

// analyse analyses the first section of a profile, which must be valid.
func analyse(t testing.TB, p *profile.Profile, opt Options) *Result {
	t.Helper()
	if p.Threads == nil {
		for id := range 100 {
			p.Threads = append(p.Threads, profile.Thread{ID: profile.ThreadID(id)})
		}
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	res, err := Analyse(p, &p.Sections[0], opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func fixed(n int) func(*walker) int { return func(*walker) int { return n } }
