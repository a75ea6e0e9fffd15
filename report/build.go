package report

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
)

// Analyse is how a section of the profile is analysed; see [lime.Analyser].
type Analyse func(*profile.Section, lime.Options) (*lime.Result, error)

// Options tune a report; the zero value means the defaults.
type Options struct {
	Lime    lime.Options
	Analyse Analyse // nil: by lime
	Sizes   []int64 // of caches, where the run tells of all; nil: all
	Checked bool    // CheckValid has accepted the profile, as of one that was just made or read
}

// New analyses every section of a profile.
func New(p *profile.Profile, opt Options) (*Report, error) {
	if p == nil {
		return nil, errors.New("report: no profile")
	}
	if !opt.Checked {
		if err := p.CheckValid(); err != nil {
			return nil, err
		}
	}
	p = comparable(p)
	if opt.Analyse == nil && len(p.Sections) > 0 {
		opt.Analyse = lime.New(p).Section // the program's structure is worked out once for all sections
	}
	if opt.Lime.Response == "" {
		opt.Lime.Response = usual(p)
	}
	b := builder{p: p, opt: opt, bare: p.Run.Backend == perfBackend, uncounted: p.Totals() == nil}
	if b.bare && opt.Lime.Response == profile.Instructions {
		return nil, errors.New("no control flow was counted, so instructions are not known: leave --response out, or profile with --events edges,hardware")
	}
	b.calls = b.findLibraryCalls()
	r := &Report{
		Version:  Version,
		Program:  program(p.Program),
		Run:      b.run(),
		Coverage: coverage(p.Coverage),
		Sections: []Section{},
		Warnings: []Warning{},
	}
	ids, all := sectionIDs(p), [][][]float64{}
	for i := range p.Sections {
		s, moved, err := b.section(&p.Sections[i], ids[i])
		if err != nil {
			return nil, err
		}
		r.Sections, all = append(r.Sections, s), append(all, moved)
	}
	b.pathOf(r, all)
	r.Memory, r.CacheSizes, r.Hardware = b.runMemory(), b.runSizes(), b.runHardware()
	markNegligible(r.Sections)
	sortSections(r.Sections)
	r.Ranks = b.ranks(r)
	b.judge(r)
	return r, nil
}

// builder holds what is the same for all sections.
type builder struct {
	p   *profile.Profile
	opt Options
	// No control flow was counted: what threads executed is not known.
	bare bool
	// Nothing was counted by the kernel or the processor.
	uncounted bool
	// Locations asked for, and those of them without a source line.
	asked, blind int
	calls        *libraryCalls // nil: every library was counted
	// For paths; made when there is a cause.
	calling [][]int          // edges, by function
	lives   []profile.Counts // by thread
	blocks  *profile.BlockIndex
	// Of instructions that access memory: each section asks for them again.
	ofMemory map[profile.Addr]memoryPlace
	// By block, and how many places these are: see lineOf.
	lines blockLines
}

func (b *builder) run() Run {
	run := Run{
		Backend:  b.p.Run.Backend,
		Threads:  len(b.p.Threads),
		Cores:    b.p.Run.Cores,
		WallS:    seconds(b.p.Run.WallNS),
		Response: string(b.response()),
		Slowdown: positive(b.p.Run.Slowdown),
		Virtual:  b.p.Run.Virtual,
		Machine:  b.p.Run.Machine,
		ExitCode: b.p.Run.ExitCode,
		Signal:   b.p.Run.Signal,
	}
	if b.several() {
		run.Ranks, run.Threads = len(b.p.Ranks), 1
	}
	most := 0
	for _, s := range b.p.Sections {
		if s.Kind == profile.MPI {
			continue
		}
		for _, in := range s.Instances {
			most = max(most, len(in.Parts))
		}
	}
	if most > 0 {
		run.Threads = most
	}
	return run
}

func (b *builder) response() profile.Response {
	if b.opt.Lime.Response == "" {
		return profile.Instructions
	}
	return b.opt.Lime.Response
}

func coverage(c profile.Coverage) Coverage {
	out := Coverage{Functions: c.Functions, FunctionsTotal: c.FunctionsTotal, Skipped: []Skipped{}}
	if c.InstructionsTotal > 0 {
		out.InstructionsPct = known(100 * float64(c.Instructions) / float64(c.InstructionsTotal))
	}
	for _, s := range c.Skipped {
		out.Skipped = append(out.Skipped, Skipped(s))
	}
	return out
}

// section is what there is to say about one, and lime.Result.Moved.
func (b *builder) section(s *profile.Section, id string) (Section, [][]float64, error) {
	out := Section{ID: id, Kind: string(s.Kind), Threads: []Thread{}, Waits: []Wait{}, Causes: []Cause{}, Lines: []WorkLine{}, Warnings: warnings(s.Warnings)}
	if s.Site != 0 {
		l := b.count(sectionPlace(b.p, s))
		out.Location, out.Callers = &l, b.callers(s)
	}
	busy, virtual := int64(0), Virtual{Cores: b.p.Run.Virtual}
	for i := range s.Instances {
		in := &s.Instances[i]
		out.Instances += max(in.Folded, 1)
		load := b.p.Load(in)
		out.Critical += load.Most
		out.IdleInstructions += load.Idle()
		virtual.add(load)
		if b := mostBusy(in); b < 0 || busy < 0 {
			busy = -1
		} else {
			busy += b
		}
	}
	out.TimeS, out.CriticalBusyS = b.time(s), seconds(busy)
	if len(s.Instances) == 0 {
		return out, nil, nil
	}
	out.Lines = b.workLines(s)
	res, err := b.opt.Analyse(s, b.opt.Lime)
	if err != nil && b.opt.Lime.Response == profile.BusyTime && b.bare { // nobody asked for it, and there is nothing else
		out.Warnings = append(out.Warnings, Warning{Code: "not-measured", Message: "Neither what its threads executed nor how long they were busy is known: its imbalance is not."})
		return out, nil, nil
	}
	if err != nil {
		return Section{}, nil, fmt.Errorf("analyse section %s: %w", id, err)
	}
	b.fill(&out, s, res)
	out.Virtual = virtual.of(out.JointGain)
	return out, res.Moved, nil
}

// time is how long any of the section's instances lasted: not longer than the run.
func (b *builder) time(s *profile.Section) *float64 {
	ns := s.Time()
	if wall := b.p.Run.WallNS; wall > 0 {
		ns = min(ns, wall)
	}
	return seconds(ns)
}

// mostBusy is the longest CPU time of an instance's parts, −1 where one was not timed.
func mostBusy(in *profile.Instance) int64 {
	most := int64(0)
	for i := range in.Parts {
		if !in.Parts[i].Timed {
			return -1
		}
		most = max(most, in.Parts[i].BusyNS+in.Parts[i].InnerBusyNS)
	}
	return most
}

func (b *builder) fill(out *Section, s *profile.Section, res *lime.Result) {
	out.Instances = res.Instances
	for i := range s.Instances {
		if in := &s.Instances[i]; in.Folded <= 1 { // of many calls each rank adds up those of a group
			out.Instances += max(0, in.Call.N-1)
		}
	}
	out.Imbalance = known(res.Imbalance)
	out.Balanced = res.Balanced
	out.R2 = known(res.R2)
	out.JointGain = gain(res.JointGain, math.NaN(), out.TimeS)
	idle, timed := int64(0), len(res.Threads) > 0
	slots := s.PartsBySlot() // once: where instances are many, to add them up takes long
	var threads []profile.Part
	if len(res.Causes) > 0 || slices.ContainsFunc(slots, func(q profile.Part) bool { return len(q.Waits) > 0 }) { // else nobody looks
		threads = s.ByThread(slots)
	}
	hardware := b.threadsHardware(slots, len(res.Threads))
	for i, t := range res.Threads {
		th := Thread{Slot: i + 1, Instructions: t.Instructions, uncounted: b.bare, Hardware: hardware[i]}
		if t.Slot > 0 {
			th.Slot = int(t.Slot)
		}
		b.name(&th, s, &t)
		if t.Timed {
			busy, wait := float64(t.BusyNS)/1e9, float64(t.WaitNS)/1e9
			th.BusyS, th.WaitS = known(busy), known(wait)
		}
		idle, timed = idle+t.WaitNS, timed && t.Timed // of some of them is less than threads waited
		out.Threads = append(out.Threads, th)
	}
	if timed {
		out.IdleS = known(float64(idle) / 1e9)
	}
	b.causes(out, s, res, threads)
	b.busyCounted(out, s)
	b.waits(out, s, slots, threads)
	out.Memory, out.CacheSizes, out.Hardware = b.sectionMemory(slots), b.sectionSizes(slots), b.sectionHardware(slots)
	out.Warnings = append(out.Warnings, warnings(res.Warnings)...)
	doubtCauses(out)
	b.units(out, s)
	if s.Kind == profile.MPI {
		ofRanks(out)
	}
}

// causes are those of a section. What a library decides because of one call is one: where
// it is known which call led to what, they are counted as such.
func (b *builder) causes(out *Section, s *profile.Section, res *lime.Result, threads []profile.Part) {
	list := func() {
		out.Causes = []Cause{}
		var at []profile.Addr
		for i := range res.Causes {
			out.Causes = append(out.Causes, b.cause(out, &res.Causes[i], i+1))
			at = append(at, res.Causes[i].Addr)
		}
		b.paths(out, s, threads, at)
	}
	asked, blind := b.asked, b.blind
	list()
	if res.Join(b.atOneCall(out, res)) {
		b.asked, b.blind = asked, blind
		list()
	}
}

func (b *builder) cause(s *Section, c *lime.Cause, rank int) Cause {
	at, to, leader := b.location(c.Addr), c.To, c.Leader
	switch {
	case c.Leader == lime.StartAt:
		at = startPlace(b.p, c.Addr)
	case c.Leader == lime.Branch && b.startsAt(c, s.Instances):
		at, to, leader = startPlace(b.p, c.To), 0, lime.StartAt
	}
	out := Cause{
		Rank:        rank,
		Kind:        c.Kind,
		Leader:      string(leader),
		Share:       round(c.Share),
		Score:       known(c.Score),
		Beta:        known(c.Beta),
		LeaderScore: known(c.LeaderScore),
		P:           known(c.P),
		Gain:        gain(c.Gain, c.WholeUnits, s.TimeS),
		Location:    &at,
		Counts:      orEmpty(c.Counts),
		Members:     []Member{},
	}
	if to != 0 {
		place := b.location(to).Place
		place.Column = 0
		out.To = &place
	}
	for _, m := range c.Members {
		out.Members = append(out.Members, Member{Kind: m.Kind, Place: b.location(m.Addr).Place, Corr: known(m.Corr)})
	}
	b.miss(&out, c)
	out.Message = message(s, &out)
	return out
}

func program(p profile.Program) Program {
	out := Program{Path: p.Path, Args: orEmpty(p.Args), BuildID: p.BuildID}
	for _, l := range p.Libraries {
		out.Libraries = append(out.Libraries, Library{l.Path, l.BuildID})
	}
	return out
}
