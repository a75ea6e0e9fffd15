package scaling

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/attribution"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
)

// Recorded is a run in which nothing was counted, but when threads met, worked and
// waited (rule 29).
type Recorded struct {
	P        int
	Turns    bool    // so many threads took turns on one core
	TimeS    float64 // from begin to end
	CPUS     float64 // of all threads
	QueueS   float64 // for which they were ready and had no core
	Report   *report.Report
	sections []recordedSection
	waited   []ThreadWaited
	blurred  bool // CPUS has in it what threads waited for cores
}

// recordedSection is what a section took in a run.
type recordedSection struct {
	key       sectionKey
	of        *report.Section
	instances int
	run       attribution.Run
	slowest   attribution.Slowest
	timed     bool // all that it takes is known
}

// sectionKey is what a section has in common in all runs of a program. IDs have numbers
// where several stand on a line, and not all of these need be there in each run: those are
// told apart by the calls that lead to them. Else these say little, since they are those
// that all who meet came by.
type sectionKey struct{ kind, at, callers string }

// plain is the key without the calls.
func (k sectionKey) plain() sectionKey { return sectionKey{k.kind, k.at, ""} }

// unite takes the calls from the keys of sections which are alone on their lines in all of
// the runs.
func unite(runs []*Recorded) {
	several := map[sectionKey]bool{}
	for _, x := range runs {
		seen := map[sectionKey]bool{}
		for i := range x.sections {
			k := x.sections[i].key.plain()
			several[k] = several[k] || seen[k]
			seen[k] = true
		}
	}
	for _, x := range runs {
		for i := range x.sections {
			if k := x.sections[i].key.plain(); !several[k] {
				x.sections[i].key = k
			}
		}
	}
}

// known is the part of the CPU time of which waiting for cores must be known.
const known = 0.75

// NewRecorded takes from a recorded run on so many cores what there is to know. queue is
// for how long its threads were ready and had no core, as far as it was seen, which is for
// a part of their CPU time.
func NewRecorded(p *profile.Profile, cores int, cpu, queue, seen float64) (*Recorded, error) {
	r, err := report.New(p, report.Options{})
	if err != nil {
		return nil, err
	}
	of, err := r.SectionsOf(p)
	if err != nil {
		return nil, err
	}
	x := &Recorded{P: cores, TimeS: float64(p.Run.WallNS) / 1e9, CPUS: cpu, QueueS: queue, Report: r}
	for i, s := range of {
		x.sections = append(x.sections, record(&r.Sections[i], s))
		x.waits(p, s, r.Sections[i].Location)
	}
	x.bound(seen)
	x.goroutines(p)
	x.outside(p)
	return x, nil
}

// used is the part of the core time for which threads waited for cores, from which on
// others use the machine, too.
const used = 0.03

// quiet is the part of the CPU time for which goroutines may have waited for cores.
const quiet = 0.02

// goroutines: their busy time has in it what their threads wait for cores (rule 31). Where
// that is much, it is no work.
func (x *Recorded) goroutines(p *profile.Profile) {
	is := func(s profile.Section) bool { return s.Kind == profile.Goroutines }
	if !slices.ContainsFunc(p.Sections, is) || x.QueueS <= quiet*x.CPUS {
		return
	}
	x.blurred = true
	for i := range x.sections {
		x.sections[i].timed = false
	}
}

// Outside is the kind of what is done outside of all sections.
const Outside = "outside"

// outside adds what is left of the run, as if it were a section, where sections do not
// overlap. It is taken to be one thread's: what a program does before its threads begin,
// between them and behind.
func (x *Recorded) outside(p *profile.Profile) {
	begin, end := p.Run.WallNS, int64(0) // of what it is about: the kernel takes its memory apart behind its end
	for i := range p.Threads {
		begin, end = min(begin, p.Threads[i].BeginNS), max(end, p.Threads[i].EndNS)
	}
	wall, work, queue := attribution.Seconds(end-begin)/1e9, attribution.Seconds(x.CPUS), attribution.Seconds(x.QueueS)
	for i := range x.sections {
		s := &x.sections[i]
		if !s.timed {
			return
		}
		wall, work, queue = wall-s.run.Wall, work-*s.run.CPU, max(0, queue-*s.run.Queue)
	}
	// What it waited for is not told. On a machine that others use it was cores: how long
	// is known in part, since what a thread waits after the last look at it is not.
	if x.QueueS > used*float64(x.P)*x.TimeS {
		queue = wall - work
	}
	// Where it is mostly waiting, it is for what the recording itself does when threads begin.
	if queue = min(queue, wall-work); wall <= 0 || work < (wall-queue)/2 || work > wall {
		return
	}
	x.sections = append(x.sections, recordedSection{
		key: sectionKey{kind: Outside}, of: &report.Section{ID: Outside, Kind: Outside}, instances: 1, timed: true,
		run: attribution.Run{Wall: wall, CPU: &work, Queue: &queue}, slowest: attribution.Slowest{Needs: work, Threads: 1, Work: work}})
}

// record takes a section.
func record(of *report.Section, s *profile.Section) recordedSection {
	x := recordedSection{key: keyOf(of), of: of, instances: of.Instances, timed: true}
	wall := attribution.Seconds(s.Time()) / 1e9
	parts, inner := s.PartsBySlot(), int64(0)
	for i := range parts {
		q := &parts[i]
		if !q.Timed {
			x.timed = false
		}
		busy, own := q.BusyNS+waited(q, profile.WaitFault), waited(q, profile.WaitSleep, profile.WaitIO)
		inner += q.InnerBusyNS
		x.slowest.Work += attribution.Seconds(busy) / 1e9
		x.slowest.Own += attribution.Seconds(own) / 1e9
		x.slowest.Needs = max(x.slowest.Needs, attribution.Seconds(busy+own)/1e9)
	}
	x.slowest.Threads = len(parts)
	// What its threads had others do is of sections of their own, and of its time, too.
	if float64(inner) > 1e9*littleInner*float64(x.slowest.Work) {
		x.timed = false
	}
	cpu, queue := x.slowest.Work, queued(s, x.slowest.Work)
	x.run = attribution.Run{Wall: wall, CPU: &cpu, Queue: &queue}
	return x
}

// littleInner is the part of a section's work that sections inside of it may have.
const littleInner = 0.01

// waited is how long a part waited, by some kinds.
func waited(q *profile.Part, kinds ...profile.WaitKind) (ns int64) {
	for _, w := range q.Waits {
		if slices.Contains(kinds, w.Kind) {
			ns += w.NS
		}
	}
	return ns
}

// queued is for how long the threads of a section neither worked nor waited for anything
// that is known: they had no core. Where instances were added up, the others tell how
// much that is for their work.
func queued(s *profile.Section, work attribution.Seconds) attribution.Seconds {
	left, busy := int64(0), int64(0)
	for i := range s.Instances {
		in := &s.Instances[i]
		if in.Folded > 1 || !in.Placed() {
			continue
		}
		for k := range in.Parts {
			q := &in.Parts[k]
			did := q.BusyNS
			for _, w := range q.Waits {
				did += w.NS
			}
			left += max(0, q.ArriveNS-q.BeginNS-did)
			busy += q.BusyNS + waited(q, profile.WaitFault)
		}
	}
	if busy == 0 {
		return attribution.Seconds(left) / 1e9
	}
	return attribution.Seconds(float64(left) / float64(busy) * float64(work))
}

// bound takes less for waiting for cores where a section would take less time without it
// than its slowest thread needs, since threads wait for each other's waiting, too; and where,
// in all sections together, it would be more than the kernel says: then threads waited for
// something that is not known.
func (x *Recorded) bound(seen float64) {
	sum := attribution.Seconds(0)
	for i := range x.sections {
		s := &x.sections[i]
		*s.run.Queue = min(*s.run.Queue, max(0, attribution.Seconds(x.P)*(s.run.Wall-s.slowest.Needs)))
		sum += *s.run.Queue
	}
	if seen < known || sum <= 0 {
		return
	}
	most := attribution.Seconds(x.QueueS / seen)
	for i := range x.sections {
		*x.sections[i].run.Queue *= min(1, most/sum)
	}
}

func keyOf(s *report.Section) sectionKey {
	at, _, _ := strings.Cut(s.ID, "#")
	var callers []string
	for _, c := range s.Callers {
		callers = append(callers, c.Short())
	}
	if s.Location != nil {
		at += " " + s.Location.File + " " + s.Location.Function
	}
	return sectionKey{s.Kind, at, strings.Join(callers, " ")}
}

// waits adds what each thread waited for, by kind and line.
func (x *Recorded) waits(p *profile.Profile, s *profile.Section, end *report.Location) {
	for _, q := range s.PartsBySlot() {
		id := int(q.Thread)
		thread := &id
		if q.Several {
			thread = nil
		}
		if q.WaitNS > 0 {
			x.wait(ThreadWaited{Thread: thread, Kind: string(report.AtEnd(s.Kind)), Location: end, Seconds: float64(q.WaitNS) / 1e9})
		}
		for _, w := range q.Waits {
			x.wait(ThreadWaited{Thread: thread, Kind: string(w.Kind), Location: report.Own(p, w.Site), Seconds: float64(w.NS) / 1e9, Times: w.N})
		}
	}
}

func (x *Recorded) wait(w ThreadWaited) {
	for i := range x.waited {
		if y := &x.waited[i]; y.like(&w) {
			y.Seconds, y.Times = y.Seconds+w.Seconds, y.Times+w.Times
			return
		}
	}
	x.waited = append(x.waited, w)
}

// ThreadWaited is how long one thread waited for one thing.
type ThreadWaited struct {
	Thread   *int             `json:"thread,omitempty"` // its number; none: threads that took one place in turn
	Kind     string           `json:"kind"`
	Location *report.Location `json:"location,omitempty"`
	Seconds  float64          `json:"seconds"`         // mean of runs
	Times    int              `json:"times,omitempty"` // in all runs together; none: at the ends of sections
}

func (w *ThreadWaited) like(x *ThreadWaited) bool {
	return w.Kind == x.Kind && (w.Thread == nil) == (x.Thread == nil) && (w.Thread == nil || *w.Thread == *x.Thread) && same(w.Location, x.Location)
}

// threadWaits are shown at most.
const threadWaits = 256

// byThread adds up what threads waited for in several runs, as means, the longest first.
func byThread(runs []*Recorded) []ThreadWaited {
	var sum Recorded
	for _, r := range runs {
		for _, w := range r.waited {
			w.Seconds /= float64(len(runs))
			sum.wait(w)
		}
	}
	slices.SortStableFunc(sum.waited, func(a, b ThreadWaited) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return sum.waited[:min(len(sum.waited), threadWaits)]
}
