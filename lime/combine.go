package lime

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

const (
	listShare = 0.05 // causes with less share …
	listGain  = 0.01 // … and less gain are not listed
)

// combiner adds instances up (3.6): shares and scores are means weighted by
// the thread-time that each instance lost to idling, an instance without the
// cause counting as zero; gains are sums.
type combiner struct {
	seen []outcome
	at   map[key]*combined
	all  []*combined
	most float64 // Σ max T over all instances
	lost float64 // Σ idle
	r2   float64 // Σ idle × R²
}

// outcome is what is kept of an instance: enough for the joint gain.
type outcome struct {
	groups
	resp  []float64
	found []found
}

// combined is one cause over the instances: sums, weighted by idle time but
// for the gains.
type combined struct {
	key
	cause        Cause
	counted      map[key]bool      // decisions of the code, of which there may be copies …
	events       []profile.EventID // … and what counts each
	share, score float64
	beta, s      float64
	present      float64 // Σ idle of the instances that have it
	gain, whole  float64
}

// add takes in one instance. Instances come by lost time, so that what names
// a cause (its address, its event, its p) is from the one where most is lost.
func (c *combiner) add(sc *scene) {
	c.lost += sc.idle
	c.r2 += sc.idle * sc.r2
	for i := range sc.found {
		f := &sc.found[i]
		x := c.at[f.key]
		if x == nil {
			x = &combined{key: f.key, counted: map[key]bool{}, cause: sc.describe(f)}
			c.at[f.key], c.all = x, append(c.all, x)
		}
		x.count(&f.by)
		for j := range f.by.copies {
			x.count(&f.by.copies[j])
		}
		x.share += sc.idle * f.share
		x.score += sc.idle * f.score
		x.beta += sc.idle * f.beta
		x.s += sc.idle * f.by.s
		x.present += sc.idle
		gain, whole := math.NaN(), math.NaN()
		if f.k != nil {
			gain = sc.t.saved(sc.resp, f.k)
		}
		if f.whole {
			whole = sc.t.savedWhole(sc.resp, f.k, f.by.n)
		}
		x.gain, x.whole = x.gain+gain, x.whole+whole
	}
	c.seen = append(c.seen, outcome{sc.t.groups, sc.resp, sc.found})
}

// count adds the event of a decision, once: which edge of a loop goes best with
// T may change between instances.
func (x *combined) count(by *leader) {
	if k := by.key(); !x.counted[k] {
		x.counted[k] = true
		if !slices.Contains(x.events, by.event) {
			x.events = append(x.events, by.event)
		}
	}
}

// finish lists the causes that matter, ranked, with their joint gain.
func (c *combiner) finish(a *Analyser, res *Result, s *profile.Section, opt Options) {
	if c.lost == 0 {
		return
	}
	listed := map[key]bool{}
	for _, x := range c.all {
		cause := &x.cause
		cause.Share = min(1, max(0, x.share/c.lost))
		cause.Score = x.score / c.lost
		cause.Beta, cause.LeaderScore = x.beta/x.present, x.s/x.present
		cause.Gain, cause.WholeUnits = max(0, x.gain/c.most), max(0, x.whole/c.most) // NaN stays NaN
		if opt.Method == Paper && !(cause.Score > 0) ||
			opt.Method == Exact && !(cause.Share >= listShare || cause.Share > 0 && cause.Gain >= listGain) {
			continue
		}
		cause.Counts = perThread(res, s, x)
		listed[x.key] = true
		res.Causes = append(res.Causes, *cause)
	}
	slices.SortStableFunc(res.Causes, func(x, y Cause) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(y.Score, x.Score),
			cmp.Compare(x.Addr, y.Addr), cmp.Compare(x.To, y.To), cmp.Compare(x.Kind, y.Kind))
	})
	if len(res.Causes) > 0 {
		res.R2 = c.r2 / c.lost
		res.JointGain = c.joint(listed)
	}
}

// joint returns the gain of evening all listed causes at once; NaN when the
// cost of one is unknown.
func (c *combiner) joint(listed map[key]bool) float64 {
	sum := 0.0
	for _, o := range c.seen {
		k := make([]float64, len(o.resp))
		for i := range o.found {
			if f := &o.found[i]; listed[f.key] {
				if f.k == nil {
					return math.NaN()
				}
				floats.Add(k, f.k)
			}
		}
		sum += o.saved(o.resp, k)
	}
	return max(0, sum/c.most)
}

// of sums the cause's events.
func (x *combined) of(c profile.Counts) (sum uint64) {
	for _, e := range x.events {
		sum += c.Of(e)
	}
	return sum
}

// perThread adds up a cause's event over the section, in the order of
// Result.Threads. For a START cause it is how often a thread began there.
func perThread(res *Result, s *profile.Section, x *combined) []uint64 {
	at := make(map[profile.ThreadID]int, len(res.Threads))
	for i, t := range res.Threads {
		at[t.Thread] = i
	}
	counts := make([]uint64, len(res.Threads))
	start := x.kind == StartAt
	if len(s.Totals) > 0 && !start {
		for i := range s.Totals {
			counts[at[s.Totals[i].Thread]] += x.of(s.Totals[i].Counts)
		}
		return counts
	}
	for i := range s.Instances {
		for k := range s.Instances[i].Parts {
			p := &s.Instances[i].Parts[k]
			t, ok := at[p.Thread]
			switch {
			case !ok || start && s.Instances[i].Folded > 1: // a rank is no thread
			case !start:
				counts[t] += x.of(p.Counts)
			case p.Begin == x.addr:
				counts[t]++
			}
		}
	}
	return counts
}

// threadTotals adds the instances up by thread.
func threadTotals(p *profile.Profile, s *profile.Section) []ThreadTotal {
	var all []ThreadTotal
	at := map[profile.ThreadID]int{}
	add := func(part *profile.Part) {
		i, ok := at[part.Thread]
		if !ok {
			i = len(all)
			at[part.Thread] = i
			all = append(all, ThreadTotal{Thread: part.Thread, Timed: true})
		}
		t := &all[i]
		t.Instructions += p.Instructions(part.Counts)
		t.BusyNS += part.BusyNS
		t.WaitNS += part.WaitNS
		t.Timed = t.Timed && part.Timed
	}
	for i := range s.Totals {
		add(&s.Totals[i])
	}
	for i := range s.Instances {
		if len(s.Totals) > 0 {
			break
		}
		for k := range s.Instances[i].Parts {
			add(&s.Instances[i].Parts[k])
		}
	}
	slices.SortFunc(all, func(x, y ThreadTotal) int { return cmp.Compare(x.Thread, y.Thread) })
	return all
}
