package report

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
)

// Analyse is how a section of the profile is analysed; see [lime.Analyser].
type Analyse func(*profile.Section, lime.Options) (*lime.Result, error)

// Options tune a report; the zero value means the defaults.
type Options struct {
	Lime    lime.Options
	Analyse Analyse // nil: by lime
}

// negligible is the part of the run's executed instructions that a section
// must lose to waiting before anything follows from it: the few instructions
// between a last barrier and a thread's end differ between threads by any
// factor, and matter to nobody.
const negligible = 0.001

// New analyses every section of a profile.
func New(p *profile.Profile, opt Options) (*Report, error) {
	if p == nil {
		return nil, errors.New("report: no profile")
	}
	if err := p.CheckValid(); err != nil {
		return nil, err
	}
	if opt.Analyse == nil && len(p.Sections) > 0 {
		opt.Analyse = lime.New(p).Section // the program's structure is worked out once for all sections
	}
	b := builder{p: p, opt: opt}
	r := &Report{
		Version:  Version,
		Program:  program(p.Program),
		Run:      b.run(),
		Coverage: coverage(p.Coverage),
		Sections: []Section{},
		Warnings: []Warning{},
		of:       p,
	}
	for i := range p.Sections {
		s, err := b.section(&p.Sections[i])
		if err != nil {
			return nil, err
		}
		r.Sections = append(r.Sections, s)
	}
	nameSections(r.Sections)
	markNegligible(r.Sections)
	sortSections(r.Sections)
	b.judge(r)
	return r, nil
}

// builder holds what is the same for all sections.
type builder struct {
	p   *profile.Profile
	opt Options
	// Locations asked for, and those of them without a source line.
	asked, blind int
	// For paths; made when there is a cause.
	callers [][]int          // edges, by function
	lives   []profile.Counts // by thread
}

func (b *builder) run() Run {
	run := Run{
		Backend:  b.p.Run.Backend,
		Threads:  len(b.p.Threads),
		Cores:    b.p.Run.Cores,
		WallS:    seconds(b.p.Run.WallNS),
		Response: string(b.response()),
		Slowdown: positive(b.p.Run.Slowdown),
		ExitCode: b.p.Run.ExitCode,
		Signal:   b.p.Run.Signal,
	}
	most := 0
	for _, s := range b.p.Sections {
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

func (b *builder) section(s *profile.Section) (Section, error) {
	out := Section{Kind: string(s.Kind), Threads: []Thread{}, Causes: []Cause{}, Warnings: warnings(s.Warnings)}
	out.site, out.of = s.Site, s
	if s.Site != 0 {
		l := b.location(s.Site)
		out.Location = &l
	}
	span, busy := int64(0), int64(0)
	for i := range s.Instances {
		in := &s.Instances[i]
		span += in.SpanNS
		out.Instances += max(in.Folded, 1)
		critical, idle := b.critical(in)
		out.Critical += critical
		out.IdleInstructions += idle
		if b := mostBusy(in); b < 0 || busy < 0 {
			busy = -1
		} else {
			busy += b
		}
	}
	out.TimeS, out.CriticalBusyS = seconds(span), seconds(busy)
	if len(s.Instances) == 0 {
		return out, nil
	}
	res, err := b.opt.Analyse(s, b.opt.Lime)
	if err != nil {
		return Section{}, fmt.Errorf("analyse section %s: %w", b.where(s), err)
	}
	b.fill(&out, res)
	return out, nil
}

// critical is the instructions of the thread that executed most, and what all
// threads together executed less than that. A folded instance holds sums by
// rank, so its last rank is the sum of the maxima.
func (b *builder) critical(in *profile.Instance) (most, idle uint64) {
	sum := uint64(0)
	for i := range in.Parts {
		n := b.p.Instructions(in.Parts[i].Counts)
		most, sum = max(most, n), sum+n
	}
	return most, most*uint64(len(in.Parts)) - sum
}

// mostBusy is the longest CPU time of an instance's parts, −1 where one was not timed.
func mostBusy(in *profile.Instance) int64 {
	most := int64(0)
	for i := range in.Parts {
		if !in.Parts[i].Timed {
			return -1
		}
		most = max(most, in.Parts[i].BusyNS)
	}
	return most
}

func (b *builder) fill(out *Section, res *lime.Result) {
	out.Instances = res.Instances
	out.Imbalance = known(res.Imbalance)
	out.Balanced = res.Balanced
	out.R2 = known(res.R2)
	out.JointGain = gain(res.JointGain, math.NaN(), out.TimeS)
	idle, timed := int64(0), false
	for _, t := range res.Threads {
		th := Thread{ID: int(t.Thread), Instructions: t.Instructions}
		if t.Timed {
			busy, wait := float64(t.BusyNS)/1e9, float64(t.WaitNS)/1e9
			th.BusyS, th.WaitS = known(busy), known(wait)
			idle, timed = idle+t.WaitNS, true
		}
		out.Threads = append(out.Threads, th)
	}
	if timed {
		out.IdleS = known(float64(idle) / 1e9)
	}
	var at []profile.Addr
	for i := range res.Causes {
		out.Causes = append(out.Causes, b.cause(out, &res.Causes[i], i+1))
		at = append(at, res.Causes[i].Addr)
	}
	b.paths(out, at)
	out.Warnings = append(out.Warnings, warnings(res.Warnings)...)
}

func (b *builder) cause(s *Section, c *lime.Cause, rank int) Cause {
	at := b.location(c.Addr)
	out := Cause{
		Rank:        rank,
		Kind:        c.Kind,
		Leader:      string(c.Leader),
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
	if c.To != 0 {
		to := b.location(c.To).Place
		to.Column = 0
		out.To = &to
	}
	for _, m := range c.Members {
		out.Members = append(out.Members, Member{Kind: m.Kind, Place: b.location(m.Addr).Place, Corr: known(m.Corr)})
	}
	out.Message = message(s, &out)
	return out
}

// nameSections gives each section its id, "file:line". Where two share one (a
// loop that the compiler copied, two barriers in one macro), the later address
// gets a number.
func nameSections(ss []Section) {
	order := make([]*Section, len(ss))
	for i := range ss {
		order[i] = &ss[i]
	}
	sort.SliceStable(order, func(i, j int) bool { return order[i].site < order[j].site })
	used := map[string]bool{}
	for _, s := range order {
		base := s.Kind
		if s.Location != nil {
			base = s.Location.Short()
		}
		id := base
		for n := 2; used[id]; n++ {
			id = fmt.Sprintf("%s#%d", base, n)
		}
		used[id], s.ID = true, id
	}
}

func markNegligible(ss []Section) {
	total := uint64(0)
	for i := range ss {
		for _, t := range ss[i].Threads {
			total += t.Instructions
		}
		total += ss[i].IdleInstructions
	}
	for i := range ss {
		ss[i].Negligible = float64(ss[i].IdleInstructions) < negligible*float64(total)
	}
}

// sortSections puts the sections that lost most first: in idle thread-seconds
// where all were timed, else in idle instructions, for the two cannot be
// compared. Balanced ones and those too short to matter come last: what their
// threads waited is the machine's doing, not the program's.
func sortSections(ss []Section) {
	timed := true
	for i := range ss {
		timed = timed && ss[i].IdleS != nil
	}
	lost := func(s *Section) float64 {
		if s.Balanced { // nothing is lost: the longest first
			return float64(s.Critical)
		}
		if timed {
			return *s.IdleS
		}
		return float64(s.IdleInstructions)
	}
	class := func(s *Section) int {
		switch {
		case s.Imbalance == nil:
			return 3
		case s.Balanced:
			return 1
		case s.Negligible:
			return 2
		}
		return 0
	}
	sort.SliceStable(ss, func(i, j int) bool {
		a, b := &ss[i], &ss[j]
		if class(a) != class(b) {
			return class(a) < class(b)
		}
		if lost(a) != lost(b) {
			return lost(a) > lost(b)
		}
		return a.ID < b.ID
	})
}

// Worst is the largest imbalance of the sections that matter.
func (r *Report) Worst() (imbalance float64, section string) {
	for i := range r.Sections {
		s := &r.Sections[i]
		if s.Imbalance != nil && !s.Negligible && *s.Imbalance > imbalance {
			imbalance, section = *s.Imbalance, s.ID
		}
	}
	return imbalance, section
}

func program(p profile.Program) Program {
	out := Program{Path: p.Path, Args: orEmpty(p.Args), BuildID: p.BuildID}
	for _, l := range p.Libraries {
		out.Libraries = append(out.Libraries, Library{l.Path, l.BuildID})
	}
	return out
}
