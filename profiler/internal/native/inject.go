package native

import (
	"fmt"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/livepatch"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// placed is what was put into the target.
type placed struct {
	mods   []*module // the program, then libraries
	layout threadarea.Layout
	slots  int
	memory *tracee.Shared // the threads' areas
	area   uint64         // bytes of one
	doubts []profile.Warning

	dlopening *dlopening // nil: nothing that may be loaded later is wanted
}

// cacheOf returns the module in whose code cache a run-time address lies, or nil.
func (in *placed) cacheOf(pc uint64) *module {
	for _, m := range in.mods {
		if m.holds(pc) {
			return m
		}
	}
	return nil
}

// moduleOf returns the module that a run-time address belongs to as it was
// loaded, and the link-time address; or nil.
func (in *placed) moduleOf(pc uint64) (*module, uint64) {
	for _, m := range in.mods {
		if a, ok := m.link(pc); ok {
			return m, a
		}
	}
	return nil, 0
}

// passes returns the module in which a jump of ours stands at a run-time
// address, or nil.
func (in *placed) passes(pc uint64) *module {
	if m, a := in.moduleOf(pc); m != nil && m.late.HasJump(a) {
		return m
	}
	return nil
}

// addr is a run-time address as the profile has it; ok is false outside of the
// modules.
func (in *placed) addr(pc uint64) (a uint64, ok bool) {
	m, link := in.moduleOf(pc)
	if m == nil {
		return 0, false
	}
	return link + m.base, true
}

// inject puts the moved code and the counters' memory into a target that is
// stopped at its entry point. Nothing of the target's text is changed unless
// everything can be.
func inject(p *tracee.Process, s source, c Config) (in *placed, err error) {
	entry, err := p.Entry()
	if err != nil {
		return nil, err
	}
	if err := p.RunTo(entry); err != nil {
		return nil, err
	}
	if gs, err := p.GS(p.Pid); err != nil {
		return nil, err
	} else if gs != 0 {
		return nil, fmt.Errorf("a library of the program uses the GS register, in which this backend keeps its counters; it cannot be profiled")
	}
	in = &placed{mods: []*module{{analysis: s.analysis, bias: entry - s.im.Entry}}}
	if len(c.Libraries) > 0 {
		if err := in.addLibraries(p, s, c); err != nil {
			return nil, err
		}
	}
	for _, m := range in.mods {
		if err := m.put(p); err != nil {
			return nil, err
		}
	}
	n := in.mods[len(in.mods)-1].spec.Next()
	in.layout = threadarea.NewLayout(int(n.Chord), int(n.Site))
	in.area = in.layout.Size()
	if err := in.mapAreas(p); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			in.memory.Close()
		}
	}()
	for _, m := range in.mods {
		if m.absent {
			continue
		}
		if err := p.Write(m.code.Link(in.layout), m.cache); err != nil {
			return nil, err
		}
		m.late = livepatch.New(m.spec, m.code, func(a uint64, b []byte) error { return p.Write(b, a+m.bias) })
	}
	return in, in.patch(p)
}

// mapAreas makes the threads' memory.
func (in *placed) mapAreas(p *tracee.Process) (err error) {
	in.slots = int(min(maxThreads, max(64, maxArea/in.area)))
	in.memory, err = p.MapShared(uint64(in.slots) * in.area)
	return err
}

// patch checks every byte that is to be replaced, then writes (package
// relocate says why this is safe). If a write fails, what was written is undone.
func (in *placed) patch(p *tracee.Process) error {
	var texts []text
	later := false
	for _, m := range in.mods {
		later = later || m.absent
		if m.absent {
			continue
		}
		t, err := m.texts(p)
		if err != nil {
			return err
		}
		texts = append(texts, t...)
	}
	if err := write(p, texts); err != nil {
		return err
	}
	for _, m := range in.mods {
		if !m.absent {
			if err := m.hook(p); err != nil {
				return err
			}
		}
	}
	if later {
		return in.watch(p)
	}
	return nil
}

// write writes all texts, or none.
func write(p *tracee.Process, texts []text) error {
	for i, t := range texts {
		if err := p.Write(t.new, t.addr); err != nil {
			for _, u := range texts[:i+1] {
				p.Write(u.old, u.addr)
			}
			return err
		}
	}
	return nil
}

// view maps one thread's area here.
func (in *placed) view(slot int) ([]byte, error) {
	return in.memory.View(uint64(slot)*in.area, in.area)
}

// wipe gives an area's memory back; it reads as zero afterwards.
func (in *placed) wipe(slot int) error { return in.memory.Wipe(uint64(slot)*in.area, in.area) }

func (in *placed) base(slot int) uint64 { return in.memory.Addr + uint64(slot)*in.area }
