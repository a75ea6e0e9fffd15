package scaling

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/skewlens/skewlens/attribution"
	"github.com/skewlens/skewlens/report"
)

// Section is where the speedup of one parallel section goes, of runs that were recorded
// (rule 29).
type Section struct {
	ID       string           `json:"id"`
	Kind     string           `json:"kind"`
	Location *report.Location `json:"location,omitempty"`
	Callers  []report.Place   `json:"callers,omitempty"`
	Against  string           `json:"against"`        // what its speedups are over: "one": itself on one core; "turns": its threads by turns on one core; "": nothing that is known
	Main     string           `json:"main,omitempty"` // what its core time on the most cores is lost to most, as a component is named; "scales": nothing much
	Points   []SectionPoint   `json:"points"`
}

// SectionPoint is a section on P cores. As with the whole program, what is not known is
// absent.
type SectionPoint struct {
	P           int          `json:"p"`
	Runs        int          `json:"runs"`
	Instances   int          `json:"instances"` // in the last of them
	Threads     int          `json:"threads"`   // that took part
	TimeS       float64      `json:"time_s"`
	TimeSD      *float64     `json:"time_sd,omitempty"`
	QueuedS     *float64     `json:"queued_s,omitempty"` // taken off the core time: threads were ready, and had no core
	IdleS       *float64     `json:"idle_s,omitempty"`
	IdleSD      *float64     `json:"idle_sd,omitempty"`
	WorkS       *float64     `json:"work_s,omitempty"`
	WorkSD      *float64     `json:"work_sd,omitempty"`
	InflationS  *float64     `json:"inflation_s,omitempty"`
	InflationSD *float64     `json:"inflation_sd,omitempty"`
	Disturbed   bool         `json:"disturbed,omitempty"`
	TurnsS      *float64     `json:"turns_s,omitempty"` // its work when as many threads take turns on one core
	TurnsSD     *float64     `json:"turns_sd,omitempty"`
	Speedup     Speedups     `json:"speedup"`
	Low         *Speedups    `json:"speedup_low,omitempty"` // of an interval of 99 %
	High        *Speedups    `json:"speedup_high,omitempty"`
	Stack       []Component  `json:"stack,omitempty"`
	Waits       []KindWaited `json:"waits"` // means of runs, those that took longest first
}

// Recordings is how the recorded runs on so many cores went, beside the timed ones.
type Recordings struct {
	P        int      `json:"p"`
	Runs     int      `json:"runs"`
	TimeS    float64  `json:"time_s"` // as a clock on the wall has it
	TimeSD   *float64 `json:"time_sd,omitempty"`
	CPUS     float64  `json:"cpu_s"`
	Slowdown *float64 `json:"slowdown,omitempty"` // CPU time, by that of the timed runs
}

const (
	leastSection  = 0.01 // of the run's time, on some number of cores, from which on a section is listed
	sectionsShown = 50
	matters       = 0.05 // of the core time
)

// What the components of a section are, in words.
const (
	howSectionSpeedup   = "its time on one core, in recorded runs"
	howSectionTurns     = "CPU time of as many threads by turns on one core, in recorded runs; what one thread takes is not known"
	howSectionBeside    = "CPU time of its threads on these cores less that by turns on one core, in recorded runs: caches and memory that are shared, lines that others take away, spinning"
	howSectionThreads   = "CPU time of as many threads by turns on one core less that of one thread, in recorded runs: more threads have more to do, or touch more than a core's caches hold"
	howSectionWork      = "CPU time of its threads in recorded runs; what it takes on one core is not known, so it is not divided"
	howSectionInflation = "CPU time of its threads on these cores less on one, in recorded runs: caches, memory and spinning that no wait explains"
	howSync             = "what the slowest thread waited for locks and meetings, as measured in recorded runs, on all cores (its time less t − t_lb)"
	howImbalance        = "what the threads needed less than the slowest, as measured in recorded runs"
	howNoThread         = "cores without a thread of the section while the slowest worked, as measured in recorded runs"
	howOwn              = "threads waited for time or for files, as measured in recorded runs"
)

// AddSections adds what recorded runs say of sections, and how these runs went. They may
// be on any of the points.
func (r *Report) AddSections(runs []*Recorded) {
	unite(runs)
	at, turns := map[int][]*Recorded{}, map[int][]*Recorded{}
	for _, x := range runs {
		if x.Turns {
			turns[x.P] = append(turns[x.P], x)
		} else {
			at[x.P] = append(at[x.P], x)
		}
	}
	r.Recorded, r.Sections = []Recordings{}, []Section{}
	keys := map[sectionKey]bool{}
	for _, p := range slices.Sorted(maps.Keys(at)) {
		r.Recorded = append(r.Recorded, r.recordings(p, at[p]))
		for _, x := range at[p] {
			for i := range x.sections {
				keys[x.sections[i].key] = true
			}
		}
	}
	if Incomparable(runs) {
		delete(at, 1)
	}
	for k := range keys {
		if s := r.section(k, at, turns); s != nil {
			r.Sections = append(r.Sections, *s)
		}
	}
	if len(r.Sections) == 1 && r.Sections[0].Kind == Outside { // that is the whole program
		r.Sections = []Section{}
	}
	slices.SortFunc(r.Sections, func(a, b Section) int {
		return cmp.Or(cmp.Compare(b.lost(), a.lost()), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind))
	})
	r.Sections = r.Sections[:min(len(r.Sections), sectionsShown)]
}

func (r *Report) recordings(p int, runs []*Recorded) Recordings {
	var time, cpu []float64
	for _, x := range runs {
		time, cpu = append(time, x.TimeS), append(cpu, x.CPUS)
	}
	out := Recordings{P: p, Runs: len(runs)}
	var sd float64
	if out.TimeS, sd = stat.MeanStdDev(time, nil); len(runs) > 1 {
		out.TimeSD = &sd
	}
	out.CPUS = stat.Mean(cpu, nil)
	if pt := r.at(p); pt != nil && pt.CPUS != nil && *pt.CPUS > 0 && !slices.ContainsFunc(runs, func(x *Recorded) bool { return x.blurred }) {
		slowdown := out.CPUS / *pt.CPUS
		out.Slowdown = &slowdown
	}
	return out
}

// section is nil where nothing can be said of one, or it takes next to nothing.
func (r *Report) section(k sectionKey, at, turns map[int][]*Recorded) *Section {
	in := attribution.Input{Cores: r.Setting.Cores, Runs: map[int][]attribution.Run{}}
	parts, worth := map[int][]*recordedSection{}, false
	s := &Section{Points: []SectionPoint{}}
	for _, p := range slices.Sorted(maps.Keys(at)) {
		list := met(k, at[p])
		if list == nil {
			continue
		}
		parts[p] = list
		for _, x := range list {
			in.Runs[p] = append(in.Runs[p], x.run)
			worth = worth || float64(x.run.Wall) >= leastSection*at[p][0].TimeS
		}
		of := list[len(list)-1].of
		s.ID, s.Kind, s.Location, s.Callers = of.ID, of.Kind, of.Location, of.Callers
	}
	if !worth {
		return nil
	}
	byTurns := map[int][]attribution.Run{}
	for p, runs := range turns {
		for _, x := range met(k, runs) {
			byTurns[p] = append(byTurns[p], attribution.Run{Wall: x.slowest.Work, CPU: &x.slowest.Work})
		}
	}
	if s.Against = "one"; len(in.Runs[1]) == 0 {
		if s.Against = ""; len(byTurns) > 0 {
			s.Against, in.Runs[1] = "turns", byTurns[slices.Max(slices.Collect(maps.Keys(byTurns)))]
		}
	}
	points := attribution.Section(in)
	for i := range points {
		if x := &points[i]; parts[x.P] != nil {
			s.Points = append(s.Points, r.sectionPoint(s, x, parts[x.P], &points[0], byTurns[x.P]))
		}
	}
	s.Main = s.mostLost()
	return s
}

// met are a section's parts of runs on so many cores: of those in which it was met once,
// and all that it took is known, which must be most; else nil. A thread's CPU clock is now
// and then not read where a part begins.
func met(k sectionKey, runs []*Recorded) (list []*recordedSection) {
	for _, x := range runs {
		var found []*recordedSection
		for i := range x.sections {
			if x.sections[i].key == k {
				found = append(found, &x.sections[i])
			}
		}
		if len(found) == 1 && found[0].timed && found[0].run.Wall > 0 {
			list = append(list, found[0])
		}
	}
	if 2*len(list) <= len(runs) {
		return nil
	}
	return list
}

func (r *Report) sectionPoint(s *Section, x *attribution.Point, list []*recordedSection, one *attribution.Point, turns []attribution.Run) SectionPoint {
	y := r.point(x)
	last := list[len(list)-1]
	p := SectionPoint{P: y.P, Runs: y.Runs, Instances: last.instances, Threads: last.slowest.Threads, TimeS: y.TimeS, TimeSD: y.TimeSD, QueuedS: y.QueuedS, IdleS: y.IdleS, IdleSD: y.IdleSD,
		WorkS: y.WorkS, WorkSD: y.WorkSD, InflationS: y.InflationS, InflationSD: y.InflationSD, Disturbed: y.Disturbed, Waits: meanWaits(list)}
	if p.Speedup = y.Speedup; y.Low != nil {
		p.Low, p.High = y.Low, y.High
	}
	if len(turns) > 0 {
		t := attribution.Section(attribution.Input{Cores: 1, Runs: map[int][]attribution.Run{1: turns}})[0]
		p.TurnsS, p.TurnsSD = estimate(&t.Time)
	}
	p.stack(s.Against, list, one)
	return p
}

// meanWaits are what threads waited for in a section, as means of runs.
func meanWaits(list []*recordedSection) []KindWaited {
	kinds := []KindWaited{}
	for _, x := range list {
		for _, w := range x.of.Waits {
			k := slices.IndexFunc(kinds, func(k KindWaited) bool { return k.Kind == w.Kind })
			if k < 0 {
				k, kinds = len(kinds), append(kinds, KindWaited{Kind: w.Kind})
			}
			kinds[k].Seconds += w.Seconds / float64(len(list))
		}
	}
	slices.SortStableFunc(kinds, func(a, b KindWaited) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return kinds
}

// stack divides the core time of a section: exactly, as that of the whole program, but
// idle time by what the threads waited for there.
func (p *SectionPoint) stack(against string, list []*recordedSection, one *attribution.Point) {
	if p.IdleS == nil || p.WorkS == nil || p.TimeS <= 0 {
		return
	}
	switch {
	case p.InflationS == nil:
		p.Stack = []Component{{"work", *p.WorkS, 0, howSectionWork}}
	case against == "turns":
		p.Stack = []Component{{"speedup", float64(one.Time.Mean), 0, howSectionTurns}, {"inflation-beside", *p.InflationS, 0, howSectionBeside}}
	case p.TurnsS != nil && p.P > 1:
		beside := *p.WorkS - *p.TurnsS
		p.Stack = []Component{{"speedup", float64(one.Time.Mean), 0, howSectionSpeedup}, {"inflation-threads", *p.InflationS - beside, 0, howSectionThreads}, {"inflation-beside", beside, 0, howSectionBeside}}
	default:
		p.Stack = []Component{{"speedup", float64(one.Time.Mean), 0, howSectionSpeedup}, {"inflation", *p.InflationS, 0, howSectionInflation}}
	}
	mean := attribution.Slowest{Threads: list[0].slowest.Threads}
	for _, x := range list {
		if x.slowest.Threads != mean.Threads {
			mean.Threads = p.P + 1 // it is not divided
		}
		n := attribution.Seconds(len(list))
		mean.Needs, mean.Own, mean.Work = mean.Needs+x.slowest.Needs/n, mean.Own+x.slowest.Own/n, mean.Work+x.slowest.Work/n
	}
	if d, ok := mean.Divide(p.P, attribution.Seconds(p.TimeS)); ok {
		for _, c := range []Component{{"idle-sync", float64(d.Sync), 0, howSync}, {"idle-imbalance", float64(d.Imbalance), 0, howImbalance},
			{"idle-none", float64(d.None), 0, howNoThread}, {"idle-own", float64(d.Own), 0, howOwn}} {
			if math.Abs(c.CoreS) > 1e-9 {
				p.Stack = append(p.Stack, c)
			}
		}
	} else {
		p.Stack = append(p.Stack, Component{"idle", *p.IdleS, 0, howIdle})
	}
	heights(p.Stack, p.P)
}

// last is the last point with a core for each thread whose core time is divided; nil:
// there is none.
func (s *Section) last() *SectionPoint {
	for i := len(s.Points) - 1; i >= 0; i-- {
		if p := &s.Points[i]; p.P > 1 && len(p.Stack) > 0 {
			return p
		}
	}
	return nil
}

// lost is the core time on the most cores that is no speedup; where that is not known,
// what idles.
func (s *Section) lost() (sum float64) {
	if p := s.last(); p != nil {
		for _, c := range p.Stack {
			if c.Name != "speedup" && c.Name != "work" {
				sum += max(0, c.CoreS)
			}
		}
	}
	return sum
}

// mostLost names the component that costs most.
func (s *Section) mostLost() string {
	p := s.last()
	if p == nil {
		return ""
	}
	what, most := "scales", matters*float64(p.P)*p.TimeS
	if p.InflationS == nil { // so what is lost is known in part
		what = ""
	}
	for _, c := range p.Stack {
		if c.Name != "speedup" && c.Name != "work" && c.CoreS > most {
			what, most = c.Name, c.CoreS
		}
	}
	return what
}

// seen is the part of the timed runs' CPU time that recorded runs must have, for as long
// as they take.
const seen = 0.75

// Unseen is an error where recorded runs did not see much of what the program does on one
// core: they take as long, and work less. On more it may differ from run to run.
func (r *Report) Unseen(runs []*Recorded) error {
	cpu, time, n := 0.0, 0.0, 0.0
	for _, x := range runs {
		if x.P == 1 && !x.Turns {
			cpu, time, n = cpu+x.CPUS, time+max(x.CPUS, x.TimeS-x.QueueS), n+1
		}
	}
	p := r.at(1)
	if time <= 0 || p == nil || p.CPUS == nil || p.TimeS <= 0 || cpu >= n*seen**p.CPUS {
		return nil
	}
	if share := cpu / time / (*p.CPUS / p.TimeS); share < seen {
		return fmt.Errorf("recorded runs saw %.0f %% of the CPU time of the timed ones: the rest is of children that it starts, which are not recorded", 100*share)
	}
	return nil
}
