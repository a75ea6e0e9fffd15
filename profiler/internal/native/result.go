package native

import (
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/section"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// callSite returns the call of a library function that a record stands for, as
// a link-time address: the call behind which it returns. A function that was
// reached by a tail jump returns to its caller's caller, in the program or
// not; then it is the one such jump that the thread has taken since.
func (r *run) callSite(ret uint64, d []record.Delta) profile.Addr {
	s, ok := r.sites[ret]
	if !ok {
		s.addr, s.sure = r.findCall(r.original(ret, false))
		r.sites[ret] = s
	}
	if s.sure {
		return s.addr
	}
	c := r.solver.Solve(d)
	best := s.addr
	for _, t := range r.solver.Departures() {
		if _, ok := section.Hook(t.Name); ok && c.Of(t.Event) > 0 {
			best = t.Site
		}
	}
	return best
}

// site is where a return address leads: the call before it, and whether that
// surely called a hooked function.
type site struct {
	addr profile.Addr
	sure bool
}

func (r *run) findCall(at uint64) (profile.Addr, bool) {
	m, ret := r.in.moduleOf(at)
	if m == nil || m.im.SectionAt(ret) == nil {
		return 0, false
	}
	prog := m.spec.Program
	var call *x86.Insn
	if f := prog.Owner(ret - 1); f != nil {
		call = prog.CallBefore(f, ret)
	}
	if call == nil {
		return profile.Addr(ret - 1 + m.base), false
	}
	name := m.im.PLT[call.Target]
	if call.Kind == x86.CallInd {
		name = m.im.GOT[call.RIPTarget]
	} else if g := prog.FuncAt(call.Target); g != nil {
		name = g.Name
	}
	_, hooked := section.Hook(name)
	return profile.Addr(call.Addr + m.base), hooked || call.Kind == x86.CallInd && name == ""
}

// linkTime turns the third argument of a record into an address of the profile
// where it is one: a start function in one of the modules.
func (r *run) linkTime(kind uint32, v uint64) uint64 {
	if !section.ArgIsFunction(kind) {
		return v
	}
	m, a := r.in.moduleOf(v)
	if m == nil || m.im.SectionAt(a) == nil {
		return 0
	}
	return a + m.base
}

// profile gathers the result.
func (r *run) profile() *profile.Profile {
	sections := r.tracker.Finish()
	p := &profile.Profile{
		Program:  profile.Program{Path: r.c.Path, Args: r.c.Args, BuildID: r.in.mods[0].im.BuildID},
		Sections: sections,
		Run:      profile.Run{Backend: "native", WallNS: r.ns(r.end - r.begin), Cores: runtime.NumCPU()},
	}
	for _, m := range r.in.mods[1:] {
		p.Program.Libraries = append(p.Program.Libraries, profile.Library{Path: m.im.Path, BuildID: m.im.BuildID, Base: profile.Addr(m.base)})
	}
	if r.killed != 0 {
		p.Run.Signal = tracee.SignalName(r.killed)
	} else {
		p.Run.ExitCode = r.code
	}
	for _, t := range r.threads {
		p.Threads = append(p.Threads, profile.Thread{ID: t.id, BeginNS: r.ns(t.begin - r.begin),
			EndNS: r.ns(t.end - r.begin), CPUNS: t.cpuNS, Totals: t.totals, Active: t.stood})
	}
	r.coverage(p)
	r.number(p)
	for i := range p.Threads {
		p.Threads[i].Start = r.startOf(p, &p.Threads[i])
	}
	r.warn(p)
	r.locate(p)
	return p
}

func (r *run) ns(ticks uint64) int64 { return int64(float64(ticks) * r.nsPerTick) }

// startOf is the function that a thread began in: as its creator said, or,
// where a library created it, the one function of ours that it entered from
// outside exactly once.
func (r *run) startOf(p *profile.Profile, t *profile.Thread) profile.Addr {
	if a := r.tracker.Start(t.ID); a != 0 || t.ID == 0 {
		return a
	}
	start := profile.Addr(0)
	for i, e := range t.Totals.Event {
		if ev := &p.Events[e]; ev.Kind == profile.EdgeTaken && p.Graph.Edges[ev.Edge].Kind == profile.Start && t.Totals.N[i] == 1 {
			if start != 0 {
				return 0
			}
			start = ev.Addr
		}
	}
	return start
}

func (r *run) coverage(p *profile.Profile) {
	c := &p.Coverage
	for _, m := range r.in.mods {
		moved, all, insns, allInsns := m.spec.Program.Summary()
		c.Functions, c.FunctionsTotal = c.Functions+moved, c.FunctionsTotal+all
		c.Instructions, c.InstructionsTotal = c.Instructions+insns, c.InstructionsTotal+allInsns
		for _, f := range m.spec.Program.Funcs {
			if f.Skip != "" && f.Ranges[0].Lo != m.im.Entry {
				c.Skipped = append(c.Skipped, profile.Skipped{Function: f.Name, Reason: f.Skip})
			}
		}
	}
}

// number gives the profile its graph, and all counts the numbers of its
// events. Counts of functions whose solution was impossible go: a wrong number
// is worse than none.
func (r *run) number(p *profile.Profile) {
	var number []profile.EventID
	p.Graph, p.Events, number = r.solver.Graph()
	eachCounts(p, func(c *profile.Counts) {
		k := profile.Counts{Event: make([]profile.EventID, 0, len(c.Event)), N: make([]uint64, 0, len(c.N))} // not in place: lists may be shared
		for i, e := range c.Event {
			if number[e] != profile.NoEvent {
				k.Event, k.N = append(k.Event, number[e]), append(k.N, c.N[i])
			}
		}
		sort.Sort(byEvent{&k})
		*c = k
	})
}

// byEvent sorts counts.
type byEvent struct{ c *profile.Counts }

func (s byEvent) Len() int           { return len(s.c.Event) }
func (s byEvent) Less(i, j int) bool { return s.c.Event[i] < s.c.Event[j] }
func (s byEvent) Swap(i, j int) {
	s.c.Event[i], s.c.Event[j] = s.c.Event[j], s.c.Event[i]
	s.c.N[i], s.c.N[j] = s.c.N[j], s.c.N[i]
}

func eachCounts(p *profile.Profile, do func(*profile.Counts)) {
	for i := range p.Threads {
		do(&p.Threads[i].Totals)
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		for j := range s.Totals {
			do(&s.Totals[j].Counts)
		}
		for j := range s.Instances {
			for k := range s.Instances[j].Parts {
				do(&s.Instances[j].Parts[k].Counts)
			}
		}
	}
}

func (r *run) warn(p *profile.Profile) {
	add := func(code, format string, args ...any) {
		p.Warnings = append(p.Warnings, profile.Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if len(r.replaced) > 0 {
		add("exec", "this is the profile of the program that took the place of %s (exec); what came before is not in it", strings.Join(r.replaced, " and then "))
	}
	switch {
	case r.refused != nil:
		add("exec", "%s replaced itself by another program (exec), which could not be profiled; what came after is not in this profile: %v", r.c.Path, r.refused)
	case r.execed != "":
		add("exec", "%s replaced itself by %s (exec); what came after is not in this profile, but with --follow-exec", r.c.Path, r.execed)
	}
	if bad := r.solver.Bad(); len(bad) > 0 {
		add("inconsistent-counts", "the counts of %d functions contradict each other and are left out, first %s", len(bad), bad[0])
	}
	if r.lost > 0 {
		add("indirect-targets", "%d calls through pointers had too many different targets to be told apart", r.lost)
	}
	if len(p.Threads) == 1 {
		add("one-thread", "the program ran a single thread: there is nothing to balance")
	} else if len(p.Sections) == 0 {
		add("no-sections", "no two threads met at a barrier, a join or their end: no section to analyse")
	}
	if r.crash != "" && p.Run.Signal != "" {
		add("crashed", "the program was ended by %s; the profile holds what happened before", p.Run.Signal)
	}
	p.Warnings = append(p.Warnings, r.in.doubts...)
	p.Warnings = append(p.Warnings, r.lines.Warnings()...)
}

// locate resolves every address that a report may name.
func (r *run) locate(p *profile.Profile) {
	used := make([]bool, len(p.Events))
	eachCounts(p, func(c *profile.Counts) {
		for _, e := range c.Event {
			used[e] = true
		}
	})
	want := map[profile.Addr]bool{}
	add := func(a profile.Addr) {
		if a != 0 {
			want[a] = true
		}
	}
	for i := range p.Graph.Blocks {
		if b := &p.Graph.Blocks[i]; b.Count != profile.NoEvent && used[b.Count] {
			add(b.Start)
			add(b.Last)
		}
	}
	for i := range p.Graph.Edges {
		if e := &p.Graph.Edges[i]; e.Count != profile.NoEvent && used[e.Count] {
			add(e.Site)
		}
	}
	for i := range p.Threads {
		add(p.Threads[i].Start)
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		add(s.Site)
		for j := range s.Instances {
			for k := range s.Instances[j].Parts {
				add(s.Instances[j].Parts[k].Begin)
				add(s.Instances[j].Parts[k].Site)
			}
		}
	}
	for a := range want {
		locate := r.lines.Locate
		if m := r.in.mods[a/profile.LibraryStep]; m.spec.Program.FuncAt(uint64(a)-m.base) != nil {
			locate = r.lines.Entry
		}
		l := locate(a)
		l.Address = a
		p.Locations = append(p.Locations, l)
	}
	slices.SortFunc(p.Locations, func(a, b profile.Location) int {
		if a.Address < b.Address {
			return -1
		}
		return 1
	})
}
