package lime

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/skewlens/skewlens/profile"
)

const (
	balancedBelow = 0.01 // imbalance: relative scores would cry wolf
	exactStop     = 0.98 // clustering of exact counts
	noisyStop     = 0.9  // the paper's, for measured responses
	pooledAtMost  = 256  // instances in one regression
	poolBelow     = 8    // threads: a regression on fewer needs several instances at once
)

// Analyser holds what is worked out once for a profile: its control-flow
// structure. It may be used from several goroutines.
type Analyser struct {
	p       *profile.Profile
	graph   *graph
	sources *sources
	lines   *sources // whatever code was inlined at
	named   sync.Map // by address: see lineOf
}

// New prepares the analysis of a profile's sections. The profile must be
// valid and must not change while the Analyser is used.
func New(p *profile.Profile) *Analyser { return newAnalyser(p, newGraph(p)) }

func newAnalyser(p *profile.Profile, g *graph) *Analyser {
	at := newPlaced(p, g)
	a := &Analyser{p: p, graph: g, sources: newSources(p, g, at, true), lines: newSources(p, g, at, false)}
	a.lines.unfolded = a.sources.unfolded
	return a
}

// Analyse finds the causes of one section's imbalance. For several sections
// of one profile use [New] once.
func Analyse(p *profile.Profile, s *profile.Section, opt Options) (*Result, error) {
	return New(p).Section(s, opt)
}

// Section finds the causes of one section's imbalance: each instance by
// itself, then combined by the thread-time that it lost (3.6). It fails when
// the section has no instances, when an option is out of range, or when the
// profile lacks the response that is asked for.
func (a *Analyser) Section(s *profile.Section, opt Options) (*Result, error) {
	if err := opt.complete(); err != nil {
		return nil, err
	}
	instances, err := a.instances(s, opt.Response)
	if err != nil {
		return nil, err
	}
	res := &Result{Response: opt.Response, R2: math.NaN(), JointGain: math.NaN(), Threads: threadTotals(a.p, s)}
	lost, possible := 0.0, 0.0
	for _, in := range instances {
		lost += in.idle
		possible += in.longest * float64(len(in.parts))
		res.Instances += in.folded
	}
	if possible > 0 {
		res.Imbalance = lost / possible
	}
	res.Balanced = res.Imbalance < balancedBelow
	if !res.Balanced {
		a.explain(res, s, instances, opt)
	}
	res.Warnings = a.warnings(res, s, instances)
	return res, nil
}

// complete fills in the defaults.
func (o *Options) complete() error {
	if o.Method == "" {
		o.Method = Exact
	}
	if o.Response == "" {
		o.Response = profile.Instructions
	}
	if o.Stop == 0 {
		o.Stop = noisyStop
		if o.Method == Exact && o.Response.Counted() {
			o.Stop = exactStop
		}
	}
	switch {
	case o.Method != Exact && o.Method != Paper:
		return fmt.Errorf("lime: unknown method %q", o.Method)
	case !(o.Stop > 0 && o.Stop <= 1):
		return fmt.Errorf("lime: clustering threshold %v is not in (0, 1]", o.Stop)
	case o.Bulk != 0 && !(o.Bulk >= o.Stop && o.Bulk <= 1):
		return fmt.Errorf("lime: bulk merging at %v is not in [%v, 1]", o.Bulk, o.Stop)
	}
	return nil
}

// explain analyses instances and combines what they say.
func (a *Analyser) explain(res *Result, s *profile.Section, instances []*instance, opt Options) {
	c := combiner{byID: map[identity]*combined{}}
	var uneven []*instance
	var r room
	for _, in := range instances {
		c.longest += in.longest
		if in.idle > 0 {
			uneven = append(uneven, in)
		}
	}
	sort.SliceStable(uneven, func(i, j int) bool { return uneven[i].idle > uneven[j].idle })
	all := newPool(a, uneven)
	measured := opt.Method == Exact && !opt.Response.Counted()
	if measured && len(uneven) > 1 && widest(uneven) < poolBelow {
		few := uneven[:min(len(uneven), pooledAtMost)]
		c.add(a.analysis(opt, &r, nil, few...), few...)
		res.Warnings = append(res.Warnings, profile.Warning{Code: "pooled", Message: fmt.Sprintf(
			"With fewer than %d threads the %d instances that lost most were fitted together; p values are optimistic.", poolBelow, len(few))})
	} else {
		var done []*analysis
		for _, in := range foldTail(len(a.p.Events), uneven) {
			if len(done) > 0 && done[0].idle != in.idle {
				done = done[:0]
			}
			i := slices.IndexFunc(done, func(x *analysis) bool { return x.instances[0].alike(in) })
			if i < 0 {
				i, done = len(done), append(done, a.analysis(opt, &r, all, in))
			}
			c.add(done[i], in)
		}
	}
	c.finish(a.p, res, s, opt)
}
