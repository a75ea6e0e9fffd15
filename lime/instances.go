package lime

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

const (
	allUpTo    = 32   // instances that are all analysed one by one
	enoughLost = 0.99 // of the lost thread-time: with more instances, those that lost this much are …
	oneByOne   = 16   // … but no more than these for each thread,
	atMost     = 128  // and in all
)

// instance is one execution of a section with its response (rule 1).
type instance struct {
	parts    []profile.Part
	folded   int       // executions that it stands for
	ranked   bool      // parts are ranks, not threads
	response []float64 // T, by part: instructions, nanoseconds or cycles
	longest  float64   // max T
	idle     float64   // Σ (max T − T)
	index    int       // of the instance in the section
	summands []summand // that were added up; nil: it is itself
}

// summand is an instance that was added up with others, and which of its parts to
// which part of the sum.
type summand struct {
	*instance
	order []int
}

func (in *instance) measure() {
	in.longest = floats.Max(in.response)
	for _, t := range in.response {
		in.idle += in.longest - t
	}
}

// alike reports whether another instance is the same to an analysis: its threads did
// exactly as much, each of everything. Programs that repeat themselves have many of them.
func (in *instance) alike(x *instance) bool {
	return in.folded == x.folded && in.ranked == x.ranked && slices.Equal(in.response, x.response) &&
		slices.EqualFunc(in.parts, x.parts, func(p, q profile.Part) bool {
			return p.Thread == q.Thread && p.Slot == q.Slot && p.Begin == q.Begin &&
				slices.Equal(p.Counts.N, q.Counts.N) && slices.Equal(p.Counts.Event, q.Counts.Event)
		})
}

// instances reads the instances' responses.
func (a *Analyser) instances(s *profile.Section, resp profile.Response) ([]*instance, error) {
	measure, err := a.response(s, resp)
	if err != nil {
		return nil, fmt.Errorf("lime: section at %#x: %w", uint64(s.Site), err)
	}
	var all []*instance
	for i := range s.Instances {
		x := &s.Instances[i]
		if len(x.Parts) == 0 {
			continue
		}
		in := &instance{parts: x.Parts, folded: max(1, x.Folded), ranked: x.Folded > 1, response: make([]float64, len(x.Parts)), index: i}
		if slices.ContainsFunc(x.Parts, func(p profile.Part) bool { return len(p.Inner.Event) > 0 }) { // few have that
			in.parts = slices.Clone(x.Parts)
			for k := range in.parts {
				in.parts[k] = x.Parts[k].Whole()
			}
		}
		for k := range in.parts {
			in.response[k] = measure(&in.parts[k])
		}
		in.measure()
		all = append(all, in)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("lime: section at %#x: it has no instances", uint64(s.Site))
	}
	return all, nil
}

// response returns what measures T of a part. Cycles come as hardware events
// by the name of the response; they need not differ by instruction.
func (a *Analyser) response(s *profile.Section, resp profile.Response) (func(*profile.Part) float64, error) {
	switch resp {
	case profile.Instructions:
		return func(p *profile.Part) float64 { return float64(a.p.Instructions(p.Counts)) }, nil
	case profile.ModelCycles:
		if a.p.Run.Machine == "" {
			return nil, errors.New("no caches were simulated: profile with --events edges,cache")
		}
		return func(p *profile.Part) float64 { return float64(a.p.ModelCycles(p.Counts)) }, nil
	case profile.BusyTime:
		timed := true
		eachPart(s, func(_ *profile.Instance, p *profile.Part) { timed = timed && p.Timed })
		if !timed {
			return nil, errors.New("busy time was not measured for all its parts")
		}
		return func(p *profile.Part) float64 { return float64(p.BusyNS) }, nil
	}
	counts := func(e profile.Event) bool { return e.Kind == profile.Hardware && e.Name == string(resp) }
	if !slices.ContainsFunc(a.p.Events, counts) {
		return nil, fmt.Errorf("the profile has no %s: profile with --events edges,hardware, where skewlens doctor says that they are counted", resp)
	}
	return func(p *profile.Part) (t float64) {
		for k, e := range p.Counts.Event {
			if counts(a.p.Events[e]) {
				t += float64(p.Counts.N[k])
			}
		}
		return t
	}, nil
}

// widest is the greatest number of parts.
func widest(instances []*instance) int {
	n := 0
	for _, in := range instances {
		n = max(n, len(in.parts))
	}
	return n
}

// foldTail bounds the work on sections that ran very often (rule 13). Instances
// come by lost time; after those that lost 99 % of it, or after 16 for each thread and
// 128 in all, the others are added up (of two threads an instance says little more
// than which of them did more), the i-th fastest part of each to the i-th fastest of the others.
// That keeps Σ max T and the lost time exactly, which a sum by thread would
// cancel (profile.Instance.Folded does the same).
func foldTail(events int, instances []*instance) []*instance {
	if len(instances) <= allUpTo {
		return instances
	}
	total, sum := 0.0, 0.0
	for _, in := range instances {
		total += in.idle
	}
	n, most := 0, min(len(instances), max(allUpTo, min(oneByOne*widest(instances), atMost)))
	for n < most && (n < allUpTo || sum < enoughLost*total) {
		sum += instances[n].idle
		n++
	}
	out := append([]*instance(nil), instances[:n]...)
	byWidth := map[int][]*instance{}
	for _, in := range instances[n:] {
		byWidth[len(in.parts)] = append(byWidth[len(in.parts)], in)
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

// fold adds instances of the same width up by rank of T.
func fold(events int, instances []*instance) *instance {
	w := len(instances[0].parts)
	f := &instance{parts: make([]profile.Part, w), ranked: true, response: make([]float64, w)}
	order := make([][]int, len(instances))
	for i, in := range instances {
		f.folded += in.folded
		order[i] = make([]int, w)
		for k := range order[i] {
			order[i][k] = k
		}
		sort.SliceStable(order[i], func(x, y int) bool { return in.response[order[i][x]] < in.response[order[i][y]] })
		f.summands = append(f.summands, summand{in, order[i]})
	}
	sum := make([]uint64, events)
	for k := range w {
		clear(sum)
		for i, in := range instances {
			p := &in.parts[order[i][k]]
			f.response[k] += in.response[order[i][k]]
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
