package profile

import (
	"errors"
	"fmt"
)

// encode takes the profile apart into tables.
func (p *Profile) encode(e *encoder) {
	g, c := &p.Graph, &p.Coverage
	var libraries []wireLibrary
	for _, l := range p.Program.Libraries {
		libraries = append(libraries, wireLibrary(l))
	}
	var ranks []wireRank
	for _, r := range p.Ranks {
		ranks = append(ranks, wireRank(r))
	}
	e.chunk(tableRun, []wireRun{{
		p.Program.Path, p.Program.BuildID,
		p.Run.Backend, p.Run.WallNS, p.Run.Cores, p.Run.ExitCode, p.Run.Signal, p.Run.Slowdown,
		c.Functions, c.FunctionsTotal, c.Instructions, c.InstructionsTotal, len(p.Warnings), libraries, p.Program.Uncounted, p.Program.LibraryCalls, p.Run.Virtual, p.Run.Machine, ranks,
	}})
	encodeRows(e, tableArgs, len(p.Program.Args), func(i int) string { return p.Program.Args[i] }, func(s string) int { return len(s) })
	encodeRows(e, tableSkipped, len(c.Skipped), func(i int) wireSkipped { return wireSkipped(c.Skipped[i]) },
		func(s wireSkipped) int { return len(s.Function) + len(s.Reason) })

	warnings := p.Warnings[:len(p.Warnings):len(p.Warnings)]
	for i := range p.Sections {
		warnings = append(warnings, p.Sections[i].Warnings...)
	}
	encodeRows(e, tableWarnings, len(warnings), func(i int) wireWarning { return wireWarning(warnings[i]) }, nil)

	encodeRows(e, tableFunctions, len(g.Functions), func(i int) wireFunction { return wireFunction(g.Functions[i]) },
		func(f wireFunction) int { return len(f.Name) })
	encodeRows(e, tableBlocks, len(g.Blocks), func(i int) wireBlock { return wireBlock(g.Blocks[i]) },
		func(b wireBlock) int { return 4 * len(b.Accesses) })
	encodeRows(e, tableEdges, len(g.Edges), func(i int) wireEdge { return wireEdge(g.Edges[i]) }, nil)
	encodeRows(e, tableEvents, len(p.Events), func(i int) wireEvent { return p.Events[i].wire() }, nil)
	encodeRows(e, tableThreads, len(p.Threads), func(i int) wireThread {
		t := &p.Threads[i]
		return wireThread{t.ID, t.Start, t.BeginNS, t.EndNS, t.CPUNS, packCounts(t.Totals), t.Active, t.Creator, t.Joiner, t.JoinedNS,
			t.CreatedNS, t.CreatedCPUNS, t.JoinNS, t.JoinCPUNS, t.Work, t.With}
	}, func(t wireThread) int { return len(t.Totals) + 8*len(t.Open) })
	p.encodeSections(e)
	p.encodeLocations(e)
}

func (p *Profile) encodeSections(e *encoder) {
	var instances []*Instance
	var parts []*Part
	each := func(ps []Part) {
		for i := range ps {
			parts = append(parts, &ps[i])
		}
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		each(s.Totals)
		for j := range s.Instances {
			instances = append(instances, &s.Instances[j])
			each(s.Instances[j].Parts)
		}
	}
	encodeRows(e, tableSections, len(p.Sections), func(i int) wireSection {
		s := &p.Sections[i]
		return wireSection{s.Kind, s.Site, len(s.Instances), len(s.Totals), len(s.Warnings), s.TimeNS, s.Outside, s.Callers, packUnits(s.Units)}
	}, func(s wireSection) int { return 8*len(s.Callers) + len(s.Units) })
	encodeRows(e, tableInstances, len(instances), func(i int) wireInstance {
		in := instances[i]
		return wireInstance{len(in.Parts), in.Folded, in.SpanNS, in.Waiter, in.Call.Comm, in.Call.First, in.Call.N}
	}, nil)
	encodeRows(e, tableParts, len(parts), func(i int) wirePart {
		t := parts[i]
		return wirePart{t.Thread, t.Begin, t.Site, packCounts(t.Counts), t.BusyNS, t.WaitNS, t.Timed, t.BeginNS, t.ArriveNS, t.Slot, packWaits(t.Waits), t.Several,
			packCounts(t.Inner), t.InnerBusyNS, packWakes(t.Wakes), packSyncs(t.Syncs), packMessages(t.Messages)}
	}, func(t wirePart) int {
		return len(t.Counts) + len(t.Waits) + len(t.Inner) + len(t.Wakes) + len(t.Syncs) + len(t.Messages)
	})
}

func (p *Profile) encodeLocations(e *encoder) {
	var frames []*Frame
	for i := range p.Locations {
		l := &p.Locations[i]
		frames = append(frames, &l.Frame)
		for k := range l.InlinedAt {
			frames = append(frames, &l.InlinedAt[k])
		}
	}
	encodeRows(e, tableLocations, len(p.Locations), func(i int) wireLocation {
		l := &p.Locations[i]
		return wireLocation{l.Address, 1 + len(l.InlinedAt), l.SymbolOffset}
	}, nil)
	encodeRows(e, tableFrames, len(frames), func(i int) wireFrame { return wireFrame(*frames[i]) },
		func(f wireFrame) int { return len(f.File) + len(f.Function) })
}

// take cuts the next n of what is left of a table; nil for none.
func take[T any](rest *[]T, n int) ([]T, error) {
	if n < 0 || n > len(*rest) {
		return nil, errors.New("its tables do not fit together")
	}
	if n == 0 {
		return nil, nil
	}
	t := (*rest)[:n:n]
	*rest = (*rest)[n:]
	return t, nil
}

// tables are the rows that belong to others, before they are handed out.
type tables struct {
	runs      []wireRun
	warnings  []Warning
	sections  []wireSection
	instances []wireInstance
	parts     []Part
	locations []wireLocation
	frames    []Frame
}

// wanted is how many parts the other tables want.
func (t *tables) wanted() (n int) {
	for i := range t.sections {
		n += t.sections[i].Totals
	}
	for i := range t.instances {
		n += t.instances[i].Parts
	}
	return max(0, n)
}

// profile reads all tables and puts the profile together.
func (d *decoder) profile() (*Profile, error) {
	p := &Profile{}
	t := &tables{}
	if err := d.next(); err != nil {
		return nil, err
	}
	names := interner{}
	for _, read := range []func() error{
		func() error { return decodeRows(d, tableRun, keepIn(&t.runs, func(r *wireRun) wireRun { return *r })) },
		func() error {
			return decodeRows(d, tableArgs, keepIn(&p.Program.Args, func(r *string) string { return *r }))
		},
		func() error {
			return decodeRows(d, tableSkipped, keepIn(&p.Coverage.Skipped, func(r *wireSkipped) Skipped { return Skipped(*r) }))
		},
		func() error {
			return decodeRows(d, tableWarnings, keepIn(&t.warnings, func(r *wireWarning) Warning { return Warning(*r) }))
		},
		func() error {
			return decodeRows(d, tableFunctions, keepIn(&p.Graph.Functions, func(r *wireFunction) Function { return Function(*r) }))
		},
		func() error {
			return decodeRows(d, tableBlocks, keepIn(&p.Graph.Blocks, func(r *wireBlock) Block { return Block(*r) }))
		},
		func() error {
			return decodeRows(d, tableEdges, keepIn(&p.Graph.Edges, func(r *wireEdge) Edge { return Edge(*r) }))
		},
		func() error {
			return decodeRows(d, tableEvents, keepIn(&p.Events, func(r *wireEvent) Event { r.Name, r.Reason = names.of(r.Name), names.of(r.Reason); return r.event() }))
		},
		func() error { return decodeRows(d, tableThreads, d.keepThread(p)) },
		func() error {
			return decodeRows(d, tableSections, keepIn(&t.sections, func(r *wireSection) wireSection { return *r }))
		},
		func() error {
			return decodeRows(d, tableInstances, keepIn(&t.instances, func(r *wireInstance) wireInstance { return *r }))
		},
		func() error {
			t.parts = make([]Part, 0, min(t.wanted(), 1<<16)) // more only as they arrive
			return decodeRows(d, tableParts, d.keepPart(t))
		},
		func() error {
			return decodeRows(d, tableLocations, keepIn(&t.locations, func(r *wireLocation) wireLocation { return *r }))
		},
		func() error {
			return decodeRows(d, tableFrames, keepIn(&t.frames, func(r *wireFrame) Frame {
				r.File, r.Function = names.of(r.File), names.of(r.Function)
				return Frame(*r)
			}))
		},
		d.end,
		func() error { return d.assemble(p, t) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// interner keeps one copy of each name.
type interner map[string]string

func (in interner) of(s string) string {
	if t, ok := in[s]; ok {
		return t
	}
	in[s] = s
	return s
}

func keepIn[T, U any](to *[]U, as func(*T) U) func(*T) error {
	return func(t *T) error {
		*to = append(*to, as(t))
		return nil
	}
}

func (d *decoder) keepThread(p *Profile) func(*wireThread) error {
	return func(r *wireThread) error {
		c, err := d.unpackCounts(r.Totals)
		p.Threads = append(p.Threads, Thread{r.ID, r.Start, r.BeginNS, r.EndNS, r.CPUNS, r.Creator, r.Joiner, r.Joined, r.Created, r.CreatedCPU, r.Join, r.JoinCPU, c, r.With, r.Open, r.Work})
		return err
	}
}

func (d *decoder) keepPart(t *tables) func(*wirePart) error {
	return func(r *wirePart) error {
		c, err := d.unpackCounts(r.Counts)
		if err != nil {
			return err
		}
		waits, err := d.unpackWaits(r.Waits)
		if err != nil {
			return err
		}
		wakes, err := d.unpackWakes(r.Wakes)
		if err != nil {
			return err
		}
		syncs, err := d.unpackSyncs(r.Syncs)
		if err != nil {
			return err
		}
		messages, err := d.unpackMessages(r.Messages)
		if err != nil {
			return err
		}
		inner, err := d.unpackCounts(r.Inner)
		t.parts = append(t.parts, Part{r.Thread, r.Slot, r.Several, r.Begin, r.Site, c, r.BusyNS, r.WaitNS, r.Timed, r.From, r.To, waits, wakes, syncs, messages, inner, r.InnerBusy})
		return err
	}
}

func (d *decoder) assemble(p *Profile, t *tables) error {
	if len(t.runs) != 1 {
		return fmt.Errorf("it describes %d runs", len(t.runs))
	}
	r := t.runs[0]
	p.takeRun(&r)
	var err error
	if p.Warnings, err = take(&t.warnings, r.Warnings); err != nil {
		return err
	}
	names := interner{}
	// A section or an instance that outgrows the file fails in take, before
	// anything is allocated for it.
	for _, ws := range t.sections {
		s := Section{Kind: ws.Kind, Site: ws.Site, TimeNS: ws.TimeNS, Outside: ws.Outside, Callers: ws.Callers}
		if s.Units, err = d.unpackUnits(ws.Units); err != nil {
			return err
		}
		if s.Warnings, err = take(&t.warnings, ws.Warnings); err != nil {
			return err
		}
		if s.Totals, err = take(&t.parts, ws.Totals); err != nil {
			return err
		}
		ins, err := take(&t.instances, ws.Instances)
		if err != nil {
			return err
		}
		for _, wi := range ins {
			in := Instance{Folded: wi.Folded, SpanNS: wi.SpanNS, Waiter: wi.Waiter, Call: MPICall{names.of(wi.Comm), wi.First, wi.Calls}}
			if in.Parts, err = take(&t.parts, wi.Parts); err != nil {
				return err
			}
			s.Instances = append(s.Instances, in)
		}
		p.Sections = append(p.Sections, s)
	}
	if err := p.locate(t); err != nil {
		return err
	}
	if len(t.warnings)+len(t.instances)+len(t.parts)+len(t.frames) > 0 {
		return errors.New("its tables do not fit together")
	}
	return nil
}

// locate gives each location its frames.
func (p *Profile) locate(t *tables) error {
	for _, wl := range t.locations {
		fs, err := take(&t.frames, wl.Frames)
		if err != nil {
			return err
		}
		if len(fs) == 0 {
			return errors.New("a location has no frame")
		}
		l := Location{Address: wl.Address, Frame: fs[0], SymbolOffset: wl.SymbolOffset}
		if len(fs) > 1 {
			l.InlinedAt = fs[1:]
		}
		p.Locations = append(p.Locations, l)
	}
	return nil
}
