package profile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// CheckValid reports the first promise of the data model that the profile
// breaks, as one line that names the place; nil when it keeps them all. What
// CheckValid accepts can be indexed without looking: lime, report and the
// writers do. Read and ReadText check what they read, Write and WriteText
// what they are given.
func (p *Profile) CheckValid() error {
	for _, check := range []func() error{
		p.checkRun, p.checkFunctions, p.checkBlocks, p.checkEdges, p.checkEvents,
		p.checkThreads, p.checkSections, p.checkLocations,
	} {
		if err := check(); err != nil {
			return fmt.Errorf("profile is not consistent: %w", err)
		}
	}
	return nil
}

func (p *Profile) checkRun() error {
	r, c := p.Run, p.Coverage
	switch {
	case r.WallNS < 0:
		return fmt.Errorf("run: wall time is negative: %d ns", r.WallNS)
	case r.Virtual < 0:
		return fmt.Errorf("run: number of virtual cores is negative: %d", r.Virtual)
	case r.Cores < 0:
		return fmt.Errorf("run: number of cores is negative: %d", r.Cores)
	case math.IsNaN(r.Slowdown) || math.IsInf(r.Slowdown, 0) || r.Slowdown < 0:
		return fmt.Errorf("run: slowdown is %v, want 0 (not measured) or a positive number", r.Slowdown)
	case c.Functions < 0 || c.Functions > c.FunctionsTotal:
		return fmt.Errorf("coverage: %d functions of %d", c.Functions, c.FunctionsTotal)
	case c.Instructions < 0 || c.Instructions > c.InstructionsTotal:
		return fmt.Errorf("coverage: %d instructions of %d", c.Instructions, c.InstructionsTotal)
	}
	for i, l := range p.Program.Libraries {
		if l.Base != LibraryStep*Addr(i+1) {
			return fmt.Errorf("library %d (%q): base %#x, want %#x", i, l.Path, uint64(l.Base), uint64(LibraryStep*Addr(i+1)))
		}
	}
	if err := checkRanks(p); err != nil {
		return err
	}
	return checkWarnings("profile", p.Warnings)
}

func checkWarnings(where string, ws []Warning) error {
	for i, w := range ws {
		if strings.Trim(w.Code, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || w.Code == "" {
			return fmt.Errorf("%s: warning %d: code %q is not kebab-case", where, i, w.Code)
		}
		if w.Message == "" || strings.ContainsAny(w.Message, "\n\r") {
			return fmt.Errorf("%s: warning %d (%s): message is not one line", where, i, w.Code)
		}
	}
	return nil
}

func (p *Profile) checkFunctions() error {
	owned := int64(0)
	for i := range p.Graph.Functions {
		f := &p.Graph.Functions[i]
		owned += int64(f.N)
		if err := p.checkFunction(i); err != nil {
			return fmt.Errorf("function %d (%q): %w", i, f.Name, err)
		}
	}
	// Every block says its function, and no block is claimed twice without
	// saying so twice: equal sums mean that each has exactly one owner.
	if owned != int64(len(p.Graph.Blocks)) {
		return fmt.Errorf("functions hold %d blocks, the graph has %d", owned, len(p.Graph.Blocks))
	}
	return nil
}

func (p *Profile) checkFunction(i int) error {
	g := &p.Graph
	f := &g.Functions[i]
	switch {
	case i > 0 && g.Functions[i-1].Entry >= f.Entry:
		return fmt.Errorf("entry %#x is not after the one before, %#x", f.Entry, g.Functions[i-1].Entry)
	case f.End < f.Entry:
		return fmt.Errorf("ends at %#x, before its entry %#x", f.End, f.Entry)
	case f.N < 0 || f.First < 0 || int64(f.First)+int64(f.N) > int64(len(g.Blocks)):
		return fmt.Errorf("blocks %d+%d are not among the %d", f.First, f.N, len(g.Blocks))
	case f.N == 0 && f.EntryBlock != NoBlock:
		return fmt.Errorf("has no blocks, but entry block %d", f.EntryBlock)
	case f.N > 0 && (f.EntryBlock < f.First || f.EntryBlock-f.First >= BlockID(f.N)):
		return fmt.Errorf("entry block %d is not one of its own, %d+%d", f.EntryBlock, f.First, f.N)
	}
	if f.N > 0 && g.Blocks[f.EntryBlock].Start != f.Entry {
		return fmt.Errorf("entry block %d starts at %#x, not at the entry %#x", f.EntryBlock, g.Blocks[f.EntryBlock].Start, f.Entry)
	}
	for b := f.First; b < f.First+BlockID(f.N); b++ {
		if g.Blocks[b].Function != FunctionID(i) {
			return fmt.Errorf("its block %d says it belongs to function %d", b, g.Blocks[b].Function)
		}
		if b > f.First && g.Blocks[b-1].Start > g.Blocks[b].Start {
			return fmt.Errorf("block %d starts at %#x, before the one before it at %#x", b, g.Blocks[b].Start, g.Blocks[b-1].Start)
		}
	}
	return nil
}

func (p *Profile) checkBlocks() error {
	for i := range p.Graph.Blocks {
		if err := p.checkBlock(i); err != nil {
			return fmt.Errorf("block %d at %#x: %w", i, p.Graph.Blocks[i].Start, err)
		}
	}
	return nil
}

func (p *Profile) checkBlock(i int) error {
	b := &p.Graph.Blocks[i]
	// checkFunctions has seen that each block's function is in range.
	f := &p.Graph.Functions[b.Function]
	switch {
	case b.Virtual && (b.Instructions != 0 || b.End < b.Start):
		return fmt.Errorf("virtual, but has %d instructions up to %#x", b.Instructions, b.End)
	case !b.Virtual && (b.Last < b.Start || b.Last >= b.End):
		return fmt.Errorf("last instruction %#x is not before the end %#x", b.Last, b.End)
	case !b.Virtual && b.Instructions <= 0:
		return fmt.Errorf("has %d instructions", b.Instructions)
	case len(b.Accesses) > 0 && (!slices.IsSorted(b.Accesses) || uint64(b.Accesses[len(b.Accesses)-1]) >= uint64(b.End-b.Start)):
		return fmt.Errorf("its accesses are not in order, or behind its end %#x", b.End)
	case b.Count == NoEvent:
		return nil
	case f.Opaque:
		return fmt.Errorf("has event %d, but function %q is opaque", b.Count, f.Name)
	case b.Count < 0 || int(b.Count) >= len(p.Events):
		return fmt.Errorf("event %d is not among the %d", b.Count, len(p.Events))
	}
	if e := &p.Events[b.Count]; e.Kind != BlockEntered || e.Block != BlockID(i) {
		return fmt.Errorf("event %d does not count this block", b.Count)
	}
	return nil
}

func (p *Profile) checkEdges() error {
	for i := range p.Graph.Edges {
		if err := p.checkEdge(i); err != nil {
			e := &p.Graph.Edges[i]
			return fmt.Errorf("edge %d (block %d → %d): %w", i, e.From, e.To, err)
		}
	}
	return nil
}

func (p *Profile) checkEdge(i int) error {
	e, n := &p.Graph.Edges[i], BlockID(len(p.Graph.Blocks))
	fromStart := e.Kind == Start || e.Kind == Pad && e.From == NoBlock
	mayLeave := e.Kind == Exit || e.Kind == Call || e.Kind == Indirect || e.Kind == TailCall
	switch {
	case e.Kind > Exit:
		return fmt.Errorf("kind %d is not known", e.Kind)
	case e.From < NoBlock || e.From >= n || e.To < NoBlock || e.To >= n:
		return fmt.Errorf("not among the %d blocks", n)
	case fromStart != (e.From == NoBlock):
		return fmt.Errorf("only a start or pad edge comes from outside, and this is a %s", e.Kind)
	case e.To == NoBlock && !mayLeave:
		return fmt.Errorf("a %s edge leads out of the graph", e.Kind)
	case e.To != NoBlock && e.Kind == Exit:
		return errors.New("an exit leads to a block")
	case e.Count == NoEvent:
		return nil
	case e.Count < 0 || int(e.Count) >= len(p.Events):
		return fmt.Errorf("event %d is not among the %d", e.Count, len(p.Events))
	}
	// An edge shares the event of a block that is entered exactly as
	// often: a direct call its own block's, a sole edge that of its end.
	switch ev := &p.Events[e.Count]; {
	case ev.Kind == EdgeTaken && int(ev.Edge) == i:
	case ev.Kind == BlockEntered && (ev.Block == e.From || ev.Block == e.To):
	default:
		return fmt.Errorf("event %d counts neither this edge nor a block at its ends", e.Count)
	}
	return nil
}

func (p *Profile) checkEvents() error {
	for i := range p.Events {
		e := &p.Events[i]
		if err := p.checkEvent(EventID(i), e); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	return p.checkSuperiors()
}

func (p *Profile) checkEvent(id EventID, e *Event) error {
	if e.Kind != Hardware && (e.Superior != NoEvent || e.Name != "" || e.Reason != "" || e.Cycles != 0 || e.Partner != 0 || e.Writer != 0 || e.Doubt != 0 || e.Writes || e.Called) {
		return fmt.Errorf("has name %q, reason %q, superior %d, a partner or a cost, which only hardware events have", e.Name, e.Reason, e.Superior)
	}
	if math.IsNaN(e.Doubt) || math.IsInf(e.Doubt, 0) || e.Doubt < 0 {
		return fmt.Errorf("its doubt is %v, want 0 (counted) or a positive number", e.Doubt)
	}
	switch e.Kind {
	case BlockEntered:
		switch {
		case e.Block < 0 || int(e.Block) >= len(p.Graph.Blocks):
			return fmt.Errorf("block %d is not among the %d", e.Block, len(p.Graph.Blocks))
		case p.Graph.Blocks[e.Block].Count != id:
			return fmt.Errorf("counts block %d, whose event is %d", e.Block, p.Graph.Blocks[e.Block].Count)
		case e.Addr != p.Graph.Blocks[e.Block].Start:
			return fmt.Errorf("stands for %#x, its block starts at %#x", e.Addr, p.Graph.Blocks[e.Block].Start)
		}
	case EdgeTaken:
		switch {
		case e.Block < NoBlock || int(e.Block) >= len(p.Graph.Blocks):
			return fmt.Errorf("block %d is not among the %d", e.Block, len(p.Graph.Blocks))
		case e.Edge < 0 || int(e.Edge) >= len(p.Graph.Edges):
			return fmt.Errorf("edge %d is not among the %d", e.Edge, len(p.Graph.Edges))
		case p.Graph.Edges[e.Edge].Count != id:
			return fmt.Errorf("counts edge %d, whose event is %d", e.Edge, p.Graph.Edges[e.Edge].Count)
		case p.Graph.Edges[e.Edge].Site != 0 && p.Graph.Edges[e.Edge].Site != e.Addr:
			return fmt.Errorf("stands for %#x, its edge is decided at %#x", e.Addr, p.Graph.Edges[e.Edge].Site)
		}
	case Hardware:
		switch {
		case e.Name == "":
			return fmt.Errorf("hardware event at %#x has no name", e.Addr)
		case e.Block < NoBlock || int(e.Block) >= len(p.Graph.Blocks):
			return fmt.Errorf("block %d is not among the %d", e.Block, len(p.Graph.Blocks))
		case e.Writer < 0 || int(e.Writer) > len(p.Threads):
			return fmt.Errorf("thread %d writes, of %d", e.Writer, len(p.Threads))
		case e.Superior < NoEvent || int(e.Superior) >= len(p.Events):
			return fmt.Errorf("superior %d is not among the %d events", e.Superior, len(p.Events))
		}
	default:
		return fmt.Errorf("kind %d is not known", e.Kind)
	}
	return nil
}

// checkSuperiors finds an event that is, through others, its own superior: only hardware
// events have one.
func (p *Profile) checkSuperiors() error {
	var seen []EventID // the walk that visited it, from 1
	for i := range p.Events {
		if p.Events[i].Superior == NoEvent {
			continue
		}
		if seen == nil {
			seen = make([]EventID, len(p.Events))
		}
		walk := EventID(i) + 1
		for e := EventID(i); e != NoEvent && seen[e] == 0 || e != NoEvent && seen[e] == walk; e = p.Events[e].Superior {
			if seen[e] == walk {
				return fmt.Errorf("event %d: is its own superior", e)
			}
			seen[e] = walk
		}
	}
	return nil
}

func checkFrame(f Frame) error {
	switch {
	case f.Line < 0 || f.Column < 0:
		return fmt.Errorf("line %d, column %d of %q: negative", f.Line, f.Column, f.File)
	case f.File == "" && (f.Line != 0 || f.Column != 0):
		return fmt.Errorf("line %d, column %d of no file", f.Line, f.Column)
	}
	return nil
}

func (p *Profile) checkLocations() error {
	for i := range p.Locations {
		l := &p.Locations[i]
		if i > 0 && p.Locations[i-1].Address >= l.Address {
			return fmt.Errorf("location %d: address %#x is not after the one before, %#x", i, l.Address, p.Locations[i-1].Address)
		}
		if err := checkLocation(l); err != nil {
			return fmt.Errorf("location of %#x: %w", l.Address, err)
		}
	}
	return nil
}

func checkLocation(l *Location) error {
	if err := checkFrame(l.Frame); err != nil {
		return err
	}
	for _, f := range l.InlinedAt {
		if err := checkFrame(f); err != nil {
			return fmt.Errorf("inlined at: %w", err)
		}
	}
	switch {
	case l.File == "" && len(l.InlinedAt) > 0:
		return errors.New("inlined, but without a file")
	case l.File != "" && l.SymbolOffset != 0:
		return errors.New("has both a file and a symbol offset")
	}
	return nil
}
