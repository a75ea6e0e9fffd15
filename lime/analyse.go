package lime

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

const (
	balancedBelow = 0.01 // imbalance: relative scores would cry wolf
	exactStop     = 0.98 // clustering of exact counts
	noisyStop     = 0.9  // the paper's, for measured responses
	allUpTo       = 32   // instances that are all analysed one by one
	enoughLost    = 0.99 // of the lost thread-time: with more instances, those that lost this much are …
	oneByOne      = 400  // … but no more than these
	pooledAtMost  = 256  // instances in one regression
	poolBelow     = 8    // threads: a regression on fewer needs several instances at once
)

// Analyser holds what is worked out once for a profile: its control-flow
// structure. It may be used from several goroutines.
type Analyser struct {
	p   *profile.Profile
	g   *graph
	src *sources
}

// New prepares the analysis of a profile's sections. The profile must be
// valid and must not change while the Analyser is used.
func New(p *profile.Profile) *Analyser {
	g := newGraph(p)
	return &Analyser{p, g, newSources(p, g)}
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
	runs, err := a.runs(s, opt.Response)
	if err != nil {
		return nil, err
	}
	res := &Result{Response: opt.Response, R2: math.NaN(), JointGain: math.NaN(), Threads: threadTotals(a.p, s)}
	lost, possible := 0.0, 0.0
	for i := range runs {
		lost += runs[i].idle
		possible += runs[i].most * float64(len(runs[i].parts))
		res.Instances += runs[i].folded
	}
	if possible > 0 {
		res.Imbalance = lost / possible
	}
	res.Balanced = res.Imbalance < balancedBelow
	if !res.Balanced {
		a.explain(res, s, runs, opt)
	}
	res.Warnings = a.warnings(res, s, runs)
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
		if o.Method == Exact && o.Response == profile.Instructions {
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

// run is one instance with its response.
type run struct {
	parts  []profile.Part
	folded int       // executions that it stands for
	ranked bool      // parts are ranks, not threads
	resp   []float64 // T, by part: instructions, nanoseconds or cycles
	most   float64   // max T
	idle   float64   // Σ (max T − T)
}

func (r *run) measure() {
	r.most = floats.Max(r.resp)
	for _, t := range r.resp {
		r.idle += r.most - t
	}
}

// runs reads the instances' responses.
func (a *Analyser) runs(s *profile.Section, resp profile.Response) ([]run, error) {
	measure, err := a.response(s, resp)
	if err != nil {
		return nil, fmt.Errorf("lime: section at %#x: %w", uint64(s.Site), err)
	}
	var runs []run
	for i := range s.Instances {
		in := &s.Instances[i]
		if len(in.Parts) == 0 {
			continue
		}
		r := run{parts: in.Parts, folded: max(1, in.Folded), ranked: in.Folded > 1, resp: make([]float64, len(in.Parts))}
		for k := range in.Parts {
			r.resp[k] = measure(&in.Parts[k])
		}
		r.measure()
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("lime: section at %#x: it has no instances", uint64(s.Site))
	}
	return runs, nil
}

// response returns what measures T of a part. Cycles come as hardware events
// by the name of the response; they need not differ by instruction.
func (a *Analyser) response(s *profile.Section, resp profile.Response) (func(*profile.Part) float64, error) {
	switch resp {
	case profile.Instructions:
		return func(p *profile.Part) float64 { return float64(a.p.Instructions(p.Counts)) }, nil
	case profile.BusyTime:
		for i := range s.Instances {
			for k := range s.Instances[i].Parts {
				if !s.Instances[i].Parts[k].Timed {
					return nil, errors.New("busy time was not measured for all its parts")
				}
			}
		}
		return func(p *profile.Part) float64 { return float64(p.BusyNS) }, nil
	}
	counts := func(e *profile.Event) bool { return e.Kind == profile.Hardware && e.Name == string(resp) }
	for i := range a.p.Events {
		if counts(&a.p.Events[i]) {
			return func(p *profile.Part) (t float64) {
				for k, e := range p.Counts.Event {
					if counts(&a.p.Events[e]) {
						t += float64(p.Counts.N[k])
					}
				}
				return t
			}, nil
		}
	}
	return nil, fmt.Errorf("the profile has no %s", resp)
}

// explain analyses instances and combines what they say.
func (a *Analyser) explain(res *Result, s *profile.Section, runs []run, opt Options) {
	most := 0.0
	var uneven []*run
	for i := range runs {
		most += runs[i].most
		if runs[i].idle > 0 {
			uneven = append(uneven, &runs[i])
		}
	}
	sort.SliceStable(uneven, func(i, j int) bool { return uneven[i].idle > uneven[j].idle })
	c := combiner{at: map[key]*combined{}, most: most}
	measured := opt.Method == Exact && opt.Response != profile.Instructions
	if measured && len(uneven) > 1 && widest(uneven) < poolBelow {
		few := uneven[:min(len(uneven), pooledAtMost)]
		c.add(a.scene(opt, few...))
		res.Warnings = append(res.Warnings, profile.Warning{Code: "pooled", Message: fmt.Sprintf(
			"With fewer than %d threads the %d instances that lost most were fitted together; p values are optimistic.", poolBelow, len(few))})
	} else {
		for _, r := range fewer(len(a.p.Events), uneven) {
			c.add(a.scene(opt, r))
		}
	}
	c.finish(a, res, s, opt)
}

func widest(runs []*run) int {
	n := 0
	for _, r := range runs {
		n = max(n, len(r.parts))
	}
	return n
}

// fewer bounds the work on sections that ran very often. Runs come by lost
// time; after those that lost 99 % of it, or after 400, the rest is added up,
// the i-th fastest part of each to the i-th fastest of the others. That keeps
// Σ max T and the lost time exactly, which a sum by thread would cancel
// (profile.Instance.Folded does the same).
func fewer(events int, runs []*run) []*run {
	if len(runs) <= allUpTo {
		return runs
	}
	total, sum := 0.0, 0.0
	for _, r := range runs {
		total += r.idle
	}
	n := 0
	for n < min(len(runs), oneByOne) && (n < allUpTo || sum < enoughLost*total) {
		sum += runs[n].idle
		n++
	}
	out := append([]*run(nil), runs[:n]...)
	byWidth := map[int][]*run{}
	for _, r := range runs[n:] {
		byWidth[len(r.parts)] = append(byWidth[len(r.parts)], r)
	}
	var widths []int
	for w := range byWidth {
		widths = append(widths, w)
	}
	sort.Ints(widths)
	for _, w := range widths {
		out = append(out, fold(events, byWidth[w]))
	}
	return out
}

// fold adds runs of the same width up by rank of T.
func fold(events int, runs []*run) *run {
	w := len(runs[0].parts)
	f := &run{parts: make([]profile.Part, w), ranked: true, resp: make([]float64, w)}
	order := make([][]int, len(runs))
	for i, r := range runs {
		f.folded += r.folded
		order[i] = make([]int, w)
		for k := range order[i] {
			order[i][k] = k
		}
		sort.SliceStable(order[i], func(x, y int) bool { return r.resp[order[i][x]] < r.resp[order[i][y]] })
	}
	sum := make([]uint64, events)
	for k := range w {
		clear(sum)
		for i, r := range runs {
			p := &r.parts[order[i][k]]
			f.resp[k] += r.resp[order[i][k]]
			for j, e := range p.Counts.Event {
				sum[e] += p.Counts.N[j]
			}
		}
		c := &f.parts[k].Counts
		for e, n := range sum {
			if n > 0 {
				c.Event, c.N = append(c.Event, profile.EventID(e)), append(c.N, n)
			}
		}
	}
	f.measure()
	return f
}
