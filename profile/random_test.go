package profile

import (
	"fmt"
	"math/rand/v2"
	"sort"
)

// randomProfile makes a profile that CheckValid accepts and that uses every
// field, with the names that make a writer stumble.
func randomProfile(r *rand.Rand) *Profile {
	p := &Profile{
		Program: Program{Path: randomName(r), BuildID: pick(r, "", "0123abcd"), Libraries: pick(r, nil, []Library{{randomName(r), pick(r, "", "45ef"), LibraryStep}, {randomName(r), "", 2 * LibraryStep}})},
		Run: Run{Backend: pick(r, "native", "valgrind", ""), WallNS: r.Int64N(1e12), Cores: r.IntN(64), Machine: pick(r, "", "paper: 16K"), ExitCode: r.IntN(5) - 2,
			Signal: pick(r, "", "SIGSEGV"), Slowdown: pick(r, 0, 1.04, 1e-300)},
		Coverage: Coverage{Functions: r.IntN(5), FunctionsTotal: 5 + r.IntN(5), Instructions: r.IntN(50), InstructionsTotal: 50},
		Warnings: randomWarnings(r),
	}
	p.Program.Uncounted = pick(r, nil, []string{randomName(r)}, []string{"/lib/a", "/lib/b"})
	p.Program.LibraryCalls = pick(r, nil, []Addr{0x1000}, []Addr{0x1000, 0x1040})
	for range r.IntN(3) {
		p.Program.Args = append(p.Program.Args, randomName(r))
		p.Coverage.Skipped = append(p.Coverage.Skipped, Skipped{randomName(r), randomName(r)})
	}
	randomGraph(r, p)
	for id := range ThreadID(r.IntN(5)) {
		begin := 1 + r.Int64N(1000)
		creator, joiner, joined := ThreadID(0), ThreadID(0), int64(0)
		if n := len(p.Threads); n > 0 && r.IntN(3) > 0 {
			creator = 1 + p.Threads[r.IntN(n)].ID
			if r.IntN(2) > 0 {
				joiner, joined = creator, begin+r.Int64N(9)
			}
		}
		p.Threads = append(p.Threads, Thread{Creator: creator, Joiner: joiner, JoinedNS: joined, CreatedNS: pick(r, 0, begin*int64(min(1, creator))), CreatedCPUNS: int64(min(7, creator)), JoinNS: pick(r, 0, joined), JoinCPUNS: int64(min(7, joiner)), ID: id + id*id, Start: Addr(r.IntN(3)), BeginNS: begin, EndNS: pick(r, 0, begin+5),
			CPUNS: r.Int64N(9), Totals: randomCounts(r, p), Active: pick(r, nil, []Addr{7}, []Addr{9, 7}), Work: pick(r, uint64(0), 1<<40), With: pick(r, 0, 1+id+id*id)})
	}
	for i := range r.IntN(3) {
		p.Ranks = append(p.Ranks, Rank{Rank: 2 * i, Size: pick(r, 0, 9), Host: randomName(r), Job: randomName(r), Launcher: pick(r, "", "slurm"), Cores: r.IntN(3), StartNS: r.Int64N(1 << 60), Main: ThreadID(i)})
	}
	for range r.IntN(4) {
		p.Sections = append(p.Sections, randomSection(r, p))
	}
	randomLocations(r, p)
	return p
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func randomName(r *rand.Rand) string {
	return pick(r, "work", "work", "main", "", "-", "a b", "std::map<int, char>::operator==(x)", "ü", "\xff\"\n", "#1", "work#1", "k=v", "end", "a\u2028b")
}

func randomWarnings(r *rand.Rand) []Warning {
	if r.IntN(2) == 0 {
		return nil
	}
	return []Warning{{"few-threads", "only 2 \"threads\""}, {"low-r2", "x"}}
}

func randomGraph(r *rand.Rand, p *Profile) {
	g := &p.Graph
	at := Addr(r.Uint64N(1 << 40))
	for f := range FunctionID(r.IntN(5)) {
		fn := Function{Name: randomName(r), Entry: at, EntryBlock: NoBlock, First: BlockID(len(g.Blocks)), N: r.Int32N(4), Opaque: r.IntN(4) == 0}
		if fn.N > 0 {
			fn.EntryBlock = fn.First
		}
		for range fn.N {
			b := Block{Function: f, Start: at, End: at + 8, Last: at + 5, Instructions: 1 + r.Int32N(9), Count: NoEvent, Spin: r.IntN(9) == 0, Deals: r.IntN(9) == 0, Runtime: r.IntN(9) == 0, Resumes: r.IntN(9) == 0, Branch: Inputs(r.IntN(256))}
			if b.Virtual = r.IntN(9) == 0; b.Virtual {
				b.Instructions = 0
			}
			for a := range uint32(8) {
				if !b.Virtual && r.IntN(20) == 0 {
					b.Accesses = append(b.Accesses, a)
				}
			}
			g.Blocks = append(g.Blocks, b)
			at += 8
		}
		fn.End = at
		at += 16
		g.Functions = append(g.Functions, fn)
	}
	n := len(g.Blocks)
	if n == 0 {
		return
	}
	for range r.IntN(12) {
		e := Edge{From: BlockID(r.IntN(n)), To: BlockID(r.IntN(n)), Kind: EdgeKind(r.IntN(int(Exit) + 1)), Site: Addr(r.IntN(3)), Count: NoEvent, Passes: uint64(r.IntN(3)) << 40}
		switch {
		case e.Kind == Start || e.Kind == Pad:
			e.From = NoBlock
		case e.Kind == Exit || e.Kind == Indirect && r.IntN(2) == 0:
			e.To = NoBlock
		}
		g.Edges = append(g.Edges, e)
	}
	randomEvents(r, p)
}

func randomEvents(r *rand.Rand, p *Profile) {
	g := &p.Graph
	// Events come in any order: blocks, edges and misses mixed.
	for _, i := range r.Perm(len(g.Blocks) + len(g.Edges) + 3) {
		id := EventID(len(p.Events))
		switch j := i - len(g.Blocks); {
		case r.IntN(4) == 0:
		case i < len(g.Blocks):
			if b := &g.Blocks[i]; !g.Functions[b.Function].Opaque {
				b.Count = id
				p.Events = append(p.Events, Event{Kind: BlockEntered, Block: BlockID(i), Edge: r.Int32N(3) - 1, Addr: b.Start, Superior: NoEvent})
			}
		case j < len(g.Edges):
			g.Edges[j].Count = id
			p.Events = append(p.Events, Event{Kind: EdgeTaken, Block: BlockID(r.IntN(len(g.Blocks)+1) - 1), Edge: int32(j), Addr: g.Edges[j].Site, Superior: NoEvent})
			if g.Edges[j].Site == 0 {
				p.Events[id].Addr = 77
			}
		default:
			p.Events = append(p.Events, Event{Kind: Hardware, Block: BlockID(r.IntN(len(g.Blocks)+1) - 1), Edge: r.Int32N(2), Addr: 99,
				Name: pick(r, "l1d-miss", "page fault"), Superior: EventID(r.IntN(int(id)+1) - 1),
				Reason: pick(r, "", "capacity"), Cycles: r.Uint32N(3), Partner: Addr(r.IntN(3)), Writer: ThreadID(r.IntN(1 + len(p.Threads))), Doubt: pick(r, 0, 0.25), Writes: pick(r, false, true), Called: pick(r, false, true)})
		}
	}
	for i := range g.Edges {
		if e := &g.Edges[i]; e.Count == NoEvent && e.From != NoBlock && r.IntN(2) == 0 {
			e.Count = g.Blocks[e.From].Count
		}
	}
}

func randomCounts(r *rand.Rand, p *Profile) Counts {
	var c Counts
	for e := range p.Events {
		if r.IntN(3) == 0 {
			c.Event = append(c.Event, EventID(e))
			c.N = append(c.N, 1+r.Uint64N(pick(r, uint64(1), 1000, 1<<63)))
		}
	}
	return c
}

func randomSection(r *rand.Rand, p *Profile) Section {
	s := Section{Kind: pick(r, Barrier, Join, OpenMP, Goroutines, Threads, MPI), Site: 0x1040, Warnings: randomWarnings(r)}
	if s.Kind == Threads {
		s.Site = 0
	} else {
		s.Outside = r.IntN(3)
		for range r.IntN(3) {
			s.Callers = append(s.Callers, Addr(1+r.IntN(99)))
		}
	}
	if len(p.Threads) == 0 {
		return s
	}
	part := func(id ThreadID) Part {
		t := Part{Thread: id, Begin: Addr(r.IntN(9)), Site: Addr(r.IntN(9)), Counts: randomCounts(r, p), Timed: r.IntN(2) == 0, BeginNS: pick(r, 0, r.Int64N(99)), ArriveNS: pick(r, 0, r.Int64N(99))}
		if t.Timed {
			t.BusyNS, t.WaitNS = r.Int64N(3), r.Int64N(3)
			if r.IntN(3) == 0 {
				t.Inner, t.InnerBusyNS = randomCounts(r, p), r.Int64N(3)
			}
		}
		for range r.IntN(3) {
			t.Waits = append(t.Waits, Wait{waitKinds[1+r.IntN(len(waitKinds)-1)], Addr(r.IntN(3)), r.Int64N(1 << 40), 1 + r.IntN(9)})
		}
		t.Waits = SumWaits(t.Waits)
		for range r.IntN(3) {
			t.Wakes = append(t.Wakes, Wake{waitKinds[1+r.IntN(len(waitKinds)-1)], Addr(r.IntN(3)), Addr(r.IntN(3)), p.Threads[r.IntN(len(p.Threads))].ID, r.Int64N(1 << 40)})
		}
		t.Wakes = SumWakes(t.Wakes)
		for at := r.Int64N(5); r.IntN(3) > 0; at += r.Int64N(5) {
			t.Messages = append(t.Messages, Message{Addr(r.IntN(3)), r.IntN(5), r.IntN(2) == 0, r.Int64N(9), 1 + r.IntN(9)})
			t.Syncs = append(t.Syncs, Sync{waitKinds[1+r.IntN(len(waitKinds)-1)], Addr(r.IntN(3)), at, at + 5, p.Threads[r.IntN(len(p.Threads))].ID, at + r.Int64N(6)})
		}
		return t
	}
	slotted := r.IntN(2) == 0
	slots := func(parts []Part) {
		for i, k := range r.Perm(len(parts)) {
			if slotted {
				parts[i].Slot = SlotID(k + 1)
			}
		}
	}
	for i := range r.IntN(4) {
		in := Instance{Folded: 1, SpanNS: r.Int64N(1000)}
		if i == 0 && r.IntN(2) == 0 {
			in.Folded, s.TimeNS = 2+r.IntN(9), r.Int64N(9)
		}
		for j := range p.Threads {
			id := p.Threads[j].ID
			if in.Folded > 1 {
				id = ThreadID(j)
				s.Totals = append(s.Totals, part(p.Threads[j].ID))
			}
			in.Parts = append(in.Parts, part(id))
		}
		if in.Folded == 1 {
			slots(in.Parts)
			if s.Kind == MPI {
				in.Call = MPICall{pick(r, "world", "world/3:1 x"), uint64(r.IntN(3)), 1 + r.IntN(3)}
			}
			in.Waiter = pick(r, 0, 1+p.Threads[r.IntN(len(p.Threads))].ID)
		} else {
			slots(s.Totals)
			s.Totals[0].Several = slotted && r.IntN(2) == 0
		}
		s.Instances = append(s.Instances, in)
	}
	if r.IntN(3) == 0 {
		s.Units = &Units{Loop: Addr(r.IntN(99)), Dealt: dealtBy[r.IntN(len(dealtBy))]}
		for range 1 + r.IntN(3) {
			y := UnitRound{Rest: []uint64{r.Uint64(), 0}}
			for range r.IntN(4) {
				y.Units = append(y.Units, Unit{r.Uint64(), 1 + r.Uint32N(3), r.Int32N(2)})
			}
			s.Units.Rounds = append(s.Units.Rounds, y)
		}
	}
	return s
}

func randomLocations(r *rand.Rand, p *Profile) {
	addresses := map[Addr]bool{}
	for range r.IntN(6) {
		addresses[Addr(r.Uint64())] = true
	}
	frame := func() Frame {
		return Frame{File: fmt.Sprintf("/src/%d.c", r.IntN(3)), Line: r.IntN(99), Column: r.IntN(3), Function: randomName(r)}
	}
	for a := range addresses {
		l := Location{Address: a, Frame: Frame{Function: randomName(r)}, SymbolOffset: Addr(r.IntN(3))}
		if r.IntN(3) > 0 {
			l.Frame, l.SymbolOffset = frame(), 0
			for range r.IntN(3) {
				l.InlinedAt = append(l.InlinedAt, frame())
			}
		}
		p.Locations = append(p.Locations, l)
	}
	sort.Slice(p.Locations, func(i, j int) bool { return p.Locations[i].Address < p.Locations[j].Address })
}
