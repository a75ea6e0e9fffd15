package native

import (
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// injection is what was put into the target.
type injection struct {
	modules []*module // the program, then libraries
	aside   []*module // libraries that are not counted, where caches are simulated: see beside.go
	layout  threadarea.Layout
	areas
	simulation  *simulation
	shared      []byte // slot 0: what the threads' areas have in common
	common      *threadarea.Common
	doubts      []profile.Warning
	loader      *loader   // nil: nothing that may be loaded later is wanted
	mprotect    *mprotect // nil: nothing that is counted calls it
	waits       waits
	loadedLater []string // files of libraries: see seeLater
	golang      *golang  // nil: the program is not in Go
	early       early

	leaping *bool // see leaps
}

// inject puts the moved code and the counters' memory into a target that is
// stopped at its entry point. Nothing of the target's text is changed unless
// everything can be.
func inject(p *tracee.Process, src source, j backend.Job) (in *injection, err error) {
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
	in = &injection{modules: []*module{{analysis: src.analysis, bias: entry - src.im.Entry}}}
	if err := in.look(p, src.libraries, j); err != nil {
		return nil, err
	}
	src.options.probe.Caches.Libraries = in.moveBeside(p, src.options.probe, &j)
	if err := in.moveAll(p, src.options, j.Analyses); err != nil {
		return nil, err
	}
	if err := in.number(src.lines); err != nil {
		return nil, err
	}
	in.layOut(&j)
	in.syscall = in.modules[0].cache + threadarea.SyscallAt
	untimed := in.prepareWaits(p, j.Analyses) // before the areas take the room
	if err := in.begin(p); err != nil {
		return nil, err
	}
	begun := in
	defer func() {
		if err != nil {
			begun.memory.Close()
			begun.simulation.close()
		}
	}()
	if in.simulation, err = newSimulation(p, &j, in.layout.Ops); err != nil {
		return nil, err
	}
	if err := in.writeCode(p); err != nil {
		return nil, err
	}
	if err := in.patch(p); err != nil {
		return nil, err
	}
	if src.golang != nil {
		return in, in.injectGo(p, *src.golang)
	}
	if untimed == nil {
		untimed = in.timeWaits(p)
	}
	if untimed != nil {
		in.doubts = append(in.doubts, profile.Warning{Code: "waits", Message: fmt.Sprintf("waits inside of sections were not measured: %v", untimed)})
	}
	return in, nil
}

// writeCode writes the moved code of all modules that are there.
func (in *injection) writeCode(p *tracee.Process) error {
	for _, m := range slices.Concat(in.modules, in.aside) {
		if m.absent {
			continue
		}
		if err := m.write(p, in.layout); err != nil {
			return err
		}
	}
	return nil
}

// layOut says what threads' areas hold.
func (in *injection) layOut(j *backend.Job) {
	var funcs []threadarea.Function
	for _, m := range in.modules {
		funcs = append(funcs, m.spec.Functions()...)
	}
	next := in.modules[len(in.modules)-1].spec.Next()
	ops := next.Op
	if j.Reuse {
		ops *= 2 // of each thread, and of all
	}
	in.layout = threadarea.NewLayout(funcs, ops)
	if next.Unit > 0 {
		in.layout = in.layout.WithUnits(next.Unit)
	}
	if j.Cores > 0 {
		in.layout = in.layout.WithClocks()
	}
	if j.Machine != nil {
		way := uint64(j.Machine.L1.Size) / uint64(j.Machine.L1.Ways)
		if tellsAll(j) {
			way = tellingSets * uint64(j.Machine.Line)
		}
		in.layout = in.layout.WithCaches(way)
	}
	in.area = in.layout.Size()
	if in.modules[0].im.Go != nil {
		in.keep = mostGoroutines // to take memory away, and give it back, takes as long as many of them live
	}
}

// look finds what else there is when the program comes to its entry: threads,
// and libraries, if some are to be counted.
func (in *injection) look(p *tracee.Process, libraries bool, j backend.Job) error {
	if err := in.early.find(p); err != nil {
		return err
	}
	if libraries {
		if err := in.addLibraries(p, j); err != nil {
			return err
		}
	}
	in.hold()
	return nil
}

// patch checks every byte that is to be replaced, then writes (package
// probe says why this is safe). If a write fails, what was written is undone.
func (in *injection) patch(p *tracee.Process) error {
	var texts []text
	later := false
	for _, m := range slices.Concat(in.modules, in.aside) {
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
	for _, m := range in.modules {
		if !m.absent {
			if err := m.hook(p); err != nil {
				return err
			}
		}
	}
	if err := in.hookLibraries(p); err != nil {
		in.doubts = append(in.doubts, profile.Warning{Code: "library", Message: fmt.Sprintf("what libraries do to wait or to join is not seen: %v", err)})
	}
	in.watchMprotect(p)
	if !later {
		return nil
	}
	var err error
	in.loader, err = watchLoader(p, in.modules[0])
	return err
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

// release gives back what view mapped, but for threads that are alive.
func (in *injection) release() {
	if in.shared != nil {
		tracee.Unmap(in.shared)
	}
	for _, v := range in.views {
		tracee.Unmap(v)
	}
}
