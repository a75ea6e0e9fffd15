package lime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

const (
	listShare = 0.05 // causes with less share …
	listGain  = 0.01 // … and less gain are not listed
)

// combiner adds instances up (3.6, rule 11): shares and scores are means
// weighted by the thread-time that each instance lost to idling, an instance
// without the cause counting as zero; gains are sums.
type combiner struct {
	outcomes []explained
	byID     map[identity]*combined
	all      []*combined
	longest  float64 // Σ max T over all instances
	idle     float64 // Σ idle
	r2       float64 // Σ idle × R²

	dealt     profile.Addr // where threads take their work themselves, in the instance where most comes from that
	dealtIdle float64
	byNumber  bool    // in some instance, some took more pieces than others
	allDealt  float64 // Σ idle × the part of T's variation that comes from that
}

// explained is what is kept of an instance: enough for the joint gain, and that of some causes.
type explained struct {
	groups
	idle     float64
	response []float64
	findings []finding
	of       []*instance
}

// combined is one cause over the instances: sums, weighted by idle time but
// for the gains.
type combined struct {
	id, line          identity
	others            []identity // of copies of its line that were joined to it
	shown             construct
	in                []int // outcomes that it has a share in, ascending
	cause             Cause
	counted           map[identity]bool // decisions of the code, of which there may be copies …
	events            []profile.EventID // … and what counts each; of hardware, the event
	share, score      float64
	beta, leaderScore float64
	present           float64        // Σ idle of the instances that have it
	evened, scheduled float64        // Σ of what is saved
	began             []profile.Addr // where parts begin that have it
}

// add takes in one instance, or several that were pooled, with their analysis or that of
// one that is alike. Instances come by lost time, so that what names
// a cause (its address, its event, its p) is from the one where most is lost.
func (c *combiner) add(a *analysis, of ...*instance) {
	if a.dealt != 0 && a.idle*a.dealtShare > c.dealtIdle {
		c.dealt, c.dealtIdle = a.dealt, a.idle*a.dealtShare
	}
	c.allDealt += a.idle * a.dealtShare
	c.byNumber = c.byNumber || a.dealt != 0 && !a.byPieces
	c.idle += a.idle
	c.r2 += a.idle * a.r2
	for i := range a.findings {
		f := &a.findings[i]
		x := c.byID[f.id]
		if x == nil {
			x = &combined{id: f.id, line: f.line, counted: map[identity]bool{}, cause: f.origin.describe(a)}
			x.cause.P = f.p
			c.byID[f.id], c.all = x, append(c.all, x)
		}
		x.count(f.origin)
		x.in = append(x.in, len(c.outcomes))
		x.share += a.idle * f.share
		x.score += a.idle * f.score
		x.beta += a.idle * f.beta
		x.leaderScore += a.idle * f.leaderScore
		x.present += a.idle
		evened, scheduled := f.cost.saved(a.table.groups, a.response)
		x.evened, x.scheduled = x.evened+evened, x.scheduled+scheduled
	}
	c.outcomes = append(c.outcomes, explained{a.table.groups, a.idle, a.response, a.findings, of})
}

// count adds the events of a cause, one for each decision: which edge of a loop
// goes best with T may change between instances.
func (x *combined) count(from origin) {
	var all []decision
	switch o := from.(type) {
	case hardware:
		for _, e := range o.events {
			if !slices.Contains(x.events, e) {
				x.events = append(x.events, e)
			}
		}
	case steering:
		all = o.all()
	case parted:
		all = []decision{o.branch}
		for _, b := range o.began {
			if !slices.Contains(x.began, b) {
				x.began = append(x.began, b)
			}
		}
	}
	for _, d := range all {
		if id := d.id(); !x.counted[id] {
			x.counted[id] = true
			if e := d.out().event; !slices.Contains(x.events, e) {
				x.events = append(x.events, e)
			}
		}
	}
}

// finish lists the causes that matter (rule 9), ranked, with their joint gain.
func (c *combiner) finish(p *profile.Profile, res *Result, s *profile.Section, opt Options) {
	if c.idle == 0 {
		return
	}
	listed := map[identity]bool{}
	var ranked []*combined
	if opt.Method != Paper { // which reports what the code has
		for _, x := range c.all {
			x.shown = constructOf(p, x)
		}
	}
	c.joinCopies()
	for _, x := range c.all {
		cause := &x.cause
		c.number(x)
		if opt.Method == Paper && !(cause.Score > 0) ||
			opt.Method == Exact && !(cause.Share >= listShare || cause.Share > 0 && cause.Gain >= listGain) {
			continue
		}
		_, misses := x.id.(missesID)
		if misses {
			cause.Erased, cause.Missing = erased(p, s, x.events), addresses(p, x.events)
			x.events = named(p, x.events)
		}
		cause.Counts = perThread(res, s, x)
		if misses {
			cause.Event = costliest(p, s, x.events)
			cause.Kind = p.Events[cause.Event].Name
		}
		for _, id := range x.ids() {
			listed[id] = true
		}
		res.decidedBefore = res.decidedBefore || cause.Leader == StartAt || len(x.began) > 0
		ranked = append(ranked, x)
	}
	if c.dealt != 0 && c.allDealt >= listShare*c.idle && (c.byNumber || !sameEachTime(p, s)) {
		if w := selfScheduled(p, c.dealt); !slices.ContainsFunc(s.Warnings, func(x profile.Warning) bool { return x.Code == w.Code }) {
			res.Warnings = append(res.Warnings, w)
		}
		res.selfScheduled = true
	}
	if len(ranked) > 0 {
		res.R2 = c.r2 / c.idle
		res.JointGain = c.joint(listed)
		res.ranked = ranking{c, ranked, len(s.Instances)}
		res.rank()
	}
}

// number fills in what a cause comes to over all instances.
func (c *combiner) number(x *combined) {
	cause := &x.cause
	cause.Share = min(1, max(0, x.share/c.idle))
	cause.Score = x.score / c.idle
	cause.Beta, cause.LeaderScore = x.beta/x.present, x.leaderScore/x.present
	cause.Gain, cause.WholeUnits = max(0, x.evened/c.longest), max(0, x.scheduled/c.longest) // NaN stays NaN
}

// joinCopies makes one cause of those of one line that never come together:
// what was inlined at several places is what one function would have been. Of one
// construct of the source are also those that do (sameline.go).
func (c *combiner) joinCopies() {
	var out []*combined
	for _, x := range c.all {
		k := slices.IndexFunc(out, func(y *combined) bool {
			return x.line != nil && x.line == y.line && !meets(x.in, y.in) || x.shown.line > 0 && x.shown == y.shown
		})
		if k < 0 {
			out = append(out, x)
			continue
		}
		c.join(out[k], x)
	}
	c.all = out
}

// meets reports whether two ascending lists have something in common.
func meets(a, b []int) bool {
	return slices.ContainsFunc(a, func(n int) bool { _, is := slices.BinarySearch(b, n); return is })
}

// join adds a copy; the instances that lost most came first, so that x names it.
func (c *combiner) join(x, y *combined) {
	together := meets(x.in, y.in)
	if together && y.share > x.share {
		x.cause = y.cause
	}
	x.others = append(append(x.others, y.id), y.others...)
	x.in = append(x.in, y.in...)
	slices.Sort(x.in)
	x.in = slices.Compact(x.in)
	x.share, x.score = x.share+y.share, x.score+y.score
	x.beta, x.leaderScore, x.present = x.beta+y.beta, x.leaderScore+y.leaderScore, x.present+y.present
	x.evened, x.scheduled = x.evened+y.evened, x.scheduled+y.scheduled
	for id := range y.counted {
		x.counted[id] = true
	}
	for _, e := range y.events {
		if !slices.Contains(x.events, e) {
			x.events = append(x.events, e)
		}
	}
	of := []profile.Addr{x.cause.Addr, y.cause.Addr}
	x.cause.Members = slices.DeleteFunc(x.cause.Members, func(m Member) bool { return slices.Contains(of, m.Addr) })
	if together {
		c.addUp(x)
	}
}

// ids are those of the cause and of the copies that were joined to it.
func (x *combined) ids() []identity { return append(slices.Clip(x.others), x.id) }

// joint returns the gain of evening all listed causes at once; NaN when the
// cost of one is unknown.
func (c *combiner) joint(listed map[identity]bool) float64 {
	sum := 0.0
	for _, o := range c.outcomes {
		total := make([]float64, len(o.response))
		for i := range o.findings {
			if f := &o.findings[i]; listed[f.id] {
				cost := f.cost.perPart()
				if cost == nil {
					return math.NaN()
				}
				floats.Add(total, cost)
			}
		}
		sum += o.savedByEvening(o.response, total)
	}
	return max(0, sum/c.longest)
}
