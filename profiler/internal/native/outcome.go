package native

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// outcome gathers the result of a program that has ended.
func (s *session) outcome() *backend.Outcome {
	p := &profile.Profile{
		Program:  profile.Program{Path: s.job.Path, Args: s.job.Args, BuildID: s.in.modules[0].im.BuildID},
		Sections: s.tracker.Finish(),
		Run:      profile.Run{WallNS: s.rate.ns(s.end - s.begin)},
	}
	for _, m := range s.in.modules[1:] {
		p.Program.Libraries = append(p.Program.Libraries, profile.Library{Path: m.im.Path, BuildID: m.im.BuildID, Base: profile.Addr(m.base)})
	}
	p.Program.Uncounted, p.Program.LibraryCalls = s.in.uncounted()
	if s.killed != 0 {
		p.Run.Signal = tracee.SignalName(s.killed)
	} else {
		p.Run.ExitCode = s.code
	}
	p.Run.Virtual = s.job.Cores
	s.threads.goroutines.settle(s.solver)
	p.Threads = make([]profile.Thread, 0, len(s.threads.all))
	for _, t := range s.threads.all {
		x := profile.Thread{ID: t.id, Start: s.tracker.Start(t.id), BeginNS: s.rate.ns(t.begin - s.begin),
			EndNS: s.rate.ns(t.end - s.begin), CPUNS: t.cpuNS, Totals: t.totals, Active: t.stood}
		if t.with != nil {
			x.With, x.Work = t.with.id+1, t.work
		}
		s.tracker.Tie(&x)
		p.Threads = append(p.Threads, x)
	}
	if s.job.Machine != nil && !s.job.Reuse {
		p.Run.Machine = s.job.Machine.String()
	}
	s.in.simulation.tell(s.solver, &s.job, s.threads.all)
	s.threads.hardware.settle()
	s.number(p)
	faultEvents(p, p.Run.Machine != "")
	o := &backend.Outcome{Profile: p, Lines: s.lines, Began: s.began, Doubts: backend.Doubts{
		Exec:          backend.Exec{Replaced: s.lineage.replaced, By: s.lineage.by, Refused: s.lineage.refused},
		Contradictory: s.solver.Bad(),
		Abandoned:     slices.DeleteFunc(s.solver.Forgotten(), s.in.mprotect.has),
		LostTargets:   s.threads.lost,
		Children:      s.children,
		QueuedNS:      s.queuedNS,
		Crashed:       crashed(s.killed),
		Others:        slices.Concat(s.in.doubts, s.cutWaits(), s.in.mprotect.doubt(), s.notWatched(), s.threads.faults.doubt(), s.threads.births.doubt(), s.threads.silenced(), s.threads.goroutines.doubts(s.end-s.begin), s.threads.cores.doubts(), s.in.simulation.doubts(), s.threads.hardware.doubts(), s.procs, s.tracker.Doubts()),
	}}
	for _, m := range s.in.modules {
		o.Modules = append(o.Modules, backend.Module{
			Coverage: m.coverage(s.in.mprotect),
			Begins:   m.begins(),
		})
	}
	return o
}

// begins reports whether one of the module's functions begins at an address: it is asked for
// one after the other, and looks from the last one on.
func (m *module) begins() func(profile.Addr) bool {
	all, near := m.spec.Program.Funcs, 0
	entry := func(i int) profile.Addr { return profile.Addr(all[i].Ranges[0].Lo) }
	return func(link profile.Addr) bool {
		near = profile.SearchNear(len(all), near, func(i int) bool { return entry(i) >= link })
		return near < len(all) && entry(near) == link
	}
}

// crashed reports whether a signal that ended a program says that it failed.
func crashed(by syscall.Signal) bool {
	switch by {
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE, syscall.SIGABRT:
		return true
	}
	return false
}

// cutWaits warns of waits that are not known because signals came to them,
// where these are more than a tenth.
func (s *session) cutWaits() []profile.Warning {
	cut, known := s.signals.cut, s.threads.waits.known
	if 10*cut <= cut+known {
		return nil
	}
	return []profile.Warning{{Code: "waits", Message: fmt.Sprintf("signals interrupted %d of %d waits, which are not measured", cut, cut+known)}}
}

// notWatched is the warning where handlers came too fast to be watched.
func (s *session) notWatched() []profile.Warning {
	if s.signals.unwatched == 0 {
		return nil
	}
	return []profile.Warning{{Code: "unwatched-handlers", Message: fmt.Sprintf(
		"%d signals came so fast that it was not seen whether their handlers came back: if one did not (siglongjmp), the counts where it came are wrong", s.signals.unwatched)}}
}

// coverage says how much of the module was moved, and so counted: not what the program was
// given back, to change it.
func (m *module) coverage(back *mprotect) (c profile.Coverage) {
	prog := m.spec.Program
	c.Functions, c.FunctionsTotal, c.Instructions, c.InstructionsTotal = prog.Summary()
	for _, f := range prog.Funcs {
		if f.Skip == "" && back.has(f.Name) {
			c.Functions--
			c.Instructions -= f.Insns
			c.Skipped = append(c.Skipped, profile.Skipped{Function: f.Name, Reason: "the program made it writable"})
		}
		if f.Skip != "" && f.Ranges[0].Lo != m.im.Entry && !f.Runtime { // a language's runtime is nobody's work
			c.Skipped = append(c.Skipped, profile.Skipped{Function: f.Name, Reason: f.Skip})
		}
	}
	return c
}

// number gives the profile its graph, and all counts the numbers of its
// events. Counts of functions whose solution was impossible go: a wrong number
// is worse than none.
func (s *session) number(p *profile.Profile) {
	var number []profile.EventID
	p.Graph, p.Events, number = s.solver.Graph()
	const many = 1 << 12
	known := map[*profile.EventID]profile.Counts{} // parts that counted the same have theirs together
	p.EachCounts(func(c *profile.Counts) {
		if len(c.Event) == 0 {
			return
		}
		n, is := known[&c.Event[0]]
		if !is {
			if n = s.solver.Numbered(s.solver.Explain(*c), number); len(known) == many {
				clear(known)
			}
			known[&c.Event[0]] = n
		}
		*c = n
	})
	s.in.callbacks(p, s.lines)
}
