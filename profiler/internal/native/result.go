package native

import (
	"fmt"
	"runtime"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/section"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Lines maps addresses to source.
type Lines interface {
	Locate(profile.Addr) profile.Location
	// Entry locates a function by its first address.
	Entry(profile.Addr) profile.Location
	// Key names the source line of an address, or the address itself.
	Key(profile.Addr) string
}

// callSite returns the call of a library function that a record stands for, as
// a link-time address: the call behind which it returns. A function that was
// reached by a tail jump returns to its caller's caller, in the program or
// not; then it is the one such jump that the thread has taken since.
func (r *run) callSite(ret uint64, d []probe.Delta) profile.Addr {
	s, ok := r.sites[ret]
	if !ok {
		s.addr, s.sure = r.findCall(ret - r.in.bias)
		r.sites[ret] = s
	}
	if s.sure || len(r.tails) == 0 {
		return s.addr
	}
	c := r.solver.Solve(d)
	best := s.addr
	for _, t := range r.tails {
		if c.Of(t.event) > 0 {
			best = t.addr
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

// tail is a jump to a hooked function, and the event that counts it.
type tail struct {
	addr  profile.Addr
	event profile.EventID
}

func (r *run) findCall(ret uint64) (profile.Addr, bool) {
	im := r.spec.Program.Image
	if im.SectionAt(ret) == nil {
		return 0, false
	}
	f := r.spec.Program.Owner(ret - 1)
	if f == nil {
		return profile.Addr(ret - 1), false
	}
	i := sort.Search(len(f.Insns), func(i int) bool { return f.Insns[i].End() >= ret })
	if i == len(f.Insns) || f.Insns[i].End() != ret || !f.Insns[i].Kind.IsCall() {
		return profile.Addr(ret - 1), false
	}
	call := &f.Insns[i]
	name := im.PLT[call.Target]
	if call.Kind == x86.CallInd {
		name = im.GOT[call.RIPTarget]
	} else if g := r.spec.Program.FuncAt(call.Target); g != nil {
		name = g.Name
	}
	_, hooked := section.Hook(name)
	return profile.Addr(call.Addr), hooked || call.Kind == x86.CallInd && name == ""
}

// findTails lists the jumps to hooked functions.
func (r *run) findTails() {
	g := &r.solver.Graph
	for i := range g.Edges {
		e := &g.Edges[i]
		if e.Kind != profile.Exit || e.Count == profile.NoEvent {
			continue
		}
		f := r.spec.Program.Owner(uint64(e.Site))
		if f == nil {
			continue
		}
		if in := f.InsnAt(uint64(e.Site)); in != nil && in.Kind.IsJump() {
			if _, ok := section.Hook(r.spec.Program.Image.PLT[in.Target]); ok {
				r.tails = append(r.tails, tail{e.Site, e.Count})
			}
		}
	}
}

// linkTime turns the third argument of a record into a link-time address
// where it is one: a start function in the program.
func (r *run) linkTime(kind uint32, v uint64) uint64 {
	if !section.ArgIsFunction(kind) {
		return v
	}
	a := v - r.in.bias
	if r.spec.Program.Image.SectionAt(a) == nil {
		return 0
	}
	return a
}

// profile gathers the result.
func (r *run) profile(im *image.Image) *profile.Profile {
	sections := r.tracker.Finish()
	p := &profile.Profile{
		Program:  profile.Program{Path: r.c.Path, Args: r.c.Args, BuildID: im.BuildID},
		Graph:    r.solver.Graph,
		Events:   r.solver.Events,
		Sections: sections,
		Run:      profile.Run{Backend: "native", WallNS: r.ns(r.end - r.begin), Cores: runtime.NumCPU()},
	}
	if r.killed != 0 {
		p.Run.Signal = tracee.SignalName(r.killed)
	} else {
		p.Run.ExitCode = r.code
	}
	for _, t := range r.threads {
		p.Threads = append(p.Threads, profile.Thread{ID: t.id, Start: r.startOf(t), BeginNS: r.ns(t.begin - r.begin),
			EndNS: r.ns(t.end - r.begin), CPUNS: t.cpuNS, Totals: t.totals, Open: t.stood})
	}
	r.coverage(p)
	r.forgetBad(p)
	r.warn(p)
	r.locate(p)
	return p
}

func (r *run) ns(ticks uint64) int64 { return int64(float64(ticks) * r.nsPerTick) }

// startOf is the function that a thread began in: as its creator said, or,
// where a library created it, the one function of ours that it entered from
// outside exactly once.
func (r *run) startOf(t *thread) profile.Addr {
	if a := r.tracker.Start(t.id); a != 0 || t.id == 0 {
		return a
	}
	start := profile.Addr(0)
	for i, e := range t.totals.Event {
		if ev := &r.solver.Events[e]; ev.Kind == profile.EdgeTaken && r.solver.Graph.Edges[ev.Edge].Kind == profile.Start && t.totals.N[i] == 1 {
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
	c.Functions, c.FunctionsTotal, c.Instructions, c.InstructionsTotal = r.spec.Program.Summary()
	for _, f := range r.spec.Program.Funcs {
		if f.Skip != "" && f.Ranges[0].Lo != r.spec.Program.Image.Entry {
			c.Skipped = append(c.Skipped, profile.Skipped{Function: f.Name, Reason: f.Skip})
		}
	}
}

// forgetBad makes the counts of functions unknown whose solution was
// impossible: a wrong number is worse than none. Their events go, and the
// others are numbered anew.
func (r *run) forgetBad(p *profile.Profile) {
	if len(r.solver.Bad) == 0 {
		return
	}
	number := make([]profile.EventID, len(p.Events))
	for fi := range p.Graph.Functions {
		f := &p.Graph.Functions[fi]
		if r.solver.Bad[f.Name] == 0 {
			continue
		}
		inside := func(b profile.BlockID) bool { return b >= f.First && b < f.First+profile.BlockID(f.N) }
		for i := range p.Events {
			switch e := &p.Events[i]; e.Kind {
			case profile.BlockEntered:
				if inside(e.Block) {
					number[i] = profile.NoEvent
				}
			case profile.EdgeTaken:
				if x := &p.Graph.Edges[e.Edge]; inside(x.From) || inside(x.To) {
					number[i] = profile.NoEvent
				}
			}
		}
	}
	kept := p.Events[:0]
	for i := range p.Events {
		if number[i] != profile.NoEvent {
			number[i] = profile.EventID(len(kept))
			kept = append(kept, p.Events[i])
		}
	}
	p.Events = kept
	renumber := func(e *profile.EventID) {
		if *e != profile.NoEvent {
			*e = number[*e]
		}
	}
	for i := range p.Graph.Blocks {
		renumber(&p.Graph.Blocks[i].Count)
	}
	for i := range p.Graph.Edges {
		renumber(&p.Graph.Edges[i].Count)
	}
	eachCounts(p, func(c *profile.Counts) {
		n := 0
		for i, e := range c.Event {
			if number[e] != profile.NoEvent {
				c.Event[n], c.N[n] = number[e], c.N[i]
				n++
			}
		}
		c.Event, c.N = c.Event[:n], c.N[:n]
	})
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
	if r.execed {
		add("exec", "the program replaced itself by another one (exec); what came after is not in this profile")
	}
	if n := len(r.solver.Bad); n > 0 {
		names := make([]string, 0, n)
		for f := range r.solver.Bad {
			names = append(names, f)
		}
		slices.Sort(names)
		add("inconsistent-counts", "the counts of %d functions contradict each other and are left out, first %s", n, names[0])
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
		if r.spec.Program.FuncAt(uint64(a)) != nil {
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
