package native

import (
	"sort"

	"github.com/skewlens/skewlens/profile"
)

// pageFaultCycles is what a page fault takes by the model, where caches are
// simulated: two thirds of a microsecond at three gigahertz, of which most is the
// kernel's way in and out. What each really took is known as a wait.
const pageFaultCycles = 2000

// faultEvents makes the page faults that parts waited for events of the profile,
// each at its instruction: who touches more new pages than others does more. Those
// of threads' whole lives are not known, for parts of several sections share some.
func faultEvents(p *profile.Profile, simulated bool) {
	if len(p.Sections) == 0 {
		return
	}
	f := faultCounter{p: p, blocks: p.Graph.IndexBlocks(), event: map[profile.Addr]profile.EventID{}}
	if simulated {
		f.cycles = pageFaultCycles
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		for k := range s.Totals {
			f.add(&s.Totals[k].Counts, s.Totals[k].Waits)
		}
		for j := range s.Instances {
			in := &s.Instances[j]
			for k := range in.Parts {
				q := &in.Parts[k]
				f.add(&q.Counts, q.Waits)
			}
		}
	}
}

type faultCounter struct {
	p      *profile.Profile
	blocks *profile.BlockIndex
	event  map[profile.Addr]profile.EventID // by instruction
	cycles uint32
}

// add adds those among some waits to counts.
func (f *faultCounter) add(c *profile.Counts, waits []profile.Wait) {
	if len(waits) == 0 { // as mostly
		return
	}
	var more profile.Counts
	for _, w := range waits {
		if w.Kind == profile.WaitFault && w.Site != 0 && w.N > 0 {
			more.Event, more.N = append(more.Event, f.of(w.Site)), append(more.N, uint64(w.N))
		}
	}
	if len(more.Event) > 0 {
		sort.Sort(byEvent{&more})
		*c = c.Plus(more)
	}
}

// of is the event of an instruction.
func (f *faultCounter) of(at profile.Addr) profile.EventID {
	e, ok := f.event[at]
	if ok {
		return e
	}
	e = profile.EventID(len(f.p.Events))
	f.event[at] = e
	ev := profile.Event{Kind: profile.Hardware, Block: f.blocks.At(at), Edge: -1, Addr: at, Name: "page-fault", Superior: profile.NoEvent, Cycles: f.cycles}
	if ev.Block != profile.NoBlock {
		ev.Superior = f.p.Graph.Blocks[ev.Block].Count
	}
	f.p.Events = append(f.p.Events, ev)
	return e
}

// byEvent sorts counts.
type byEvent struct{ c *profile.Counts }

func (s byEvent) Len() int           { return len(s.c.Event) }
func (s byEvent) Less(i, j int) bool { return s.c.Event[i] < s.c.Event[j] }
func (s byEvent) Swap(i, j int) {
	s.c.Event[i], s.c.Event[j] = s.c.Event[j], s.c.Event[i]
	s.c.N[i], s.c.N[j] = s.c.N[j], s.c.N[i]
}
