package lime

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// Modelled cycles add up as instructions do: one for each, and for each miss what
// the model says. So they need no regression either (rule 25). An event happens
// because its superior does, the block that its instruction is in (3.1), and as
// far as it follows that one, in the direction of Gram and Schmidt, its cycles are
// a cost of the block, which decisions steer. The rest is the event's own, and a
// candidate beside the decisions.
//
//	cycles of an event, by part = slope · Cycles · executions of its block + own

// misses are an instance's events of caches.
type misses struct {
	follow map[profile.BlockID]float64 // by block: cycles that go with one execution
	own    []*missing
}

// missing is what the loads and stores of a source line miss, at all levels: a line
// is one cause, by the event that costs most.
type missing struct {
	line   string
	events []profile.EventID
	first  profile.EventID // that costs most
	most   float64         // what it does
	cost   []float64       // by part: cycles beyond those that follow executions
	times  []float64       // by part
}

// newMisses splits what an instance's events of caches cost. line names the
// source line of an address.
func newMisses(p *profile.Profile, t *table, line func(profile.Addr) string) *misses {
	m := &misses{follow: map[profile.BlockID]float64{}}
	at := map[string]*missing{}
	for _, e := range t.events {
		ev := &p.Events[e]
		if ev.Kind != profile.Hardware || ev.Cycles == 0 || p.Spins(ev) {
			continue
		}
		times, slope := t.counts(e), 0.0
		if ev.Superior != profile.NoEvent && ev.Block != profile.NoBlock {
			slope = t.slope(t.counts(ev.Superior), times)
			m.follow[ev.Block] += slope * float64(ev.Cycles)
		}
		k := line(ev.Addr)
		if ev.Reason == "" && ev.Name != "upgrade" { // no cache's
			k += "\x00" + ev.Name
		}
		x := at[k]
		if x == nil {
			x = &missing{line: k, cost: t.vector(), times: t.vector()}
			at[k], m.own = x, append(m.own, x)
		}
		x.add(e, float64(ev.Cycles), slope, times, t.counts(ev.Superior))
	}
	return m
}

// add adds an event to those of its line.
func (x *missing) add(e profile.EventID, cycles, slope float64, times, superior []float64) {
	x.events = append(x.events, e)
	floats.Add(x.times, times)
	floats.AddScaled(x.cost, cycles, times)
	if slope > 0 {
		floats.AddScaled(x.cost, -cycles*slope, superior)
	}
	if c := cycles * floats.Sum(times); c > x.most {
		x.first, x.most = e, c
	}
}

// slope is how an event follows its superior: by how much it happens more often
// for one more of that. 0 where the superior does not vary enough to be what makes
// the event vary.
func (t *table) slope(superior, times []float64) float64 {
	if superior == nil || !t.accounts(superior, times) {
		return 0
	}
	n := t.centre(superior)
	if v := floats.Dot(n, n); v > 0 {
		return max(0, floats.Dot(n, t.centre(times))/v)
	}
	return 0
}

// following are the cycles that go with an execution of a block.
func (m *misses) following(b profile.BlockID) float64 {
	if m == nil {
		return 0
	}
	return m.follow[b]
}

// leaders are the candidates that misses are.
func (m *misses) leaders(a *analysis) (list []leader) {
	for _, x := range m.own {
		r := a.corr(x.cost)
		list = append(list, leader{steering: steering{cluster: -1}, misses: x, cost: x.cost, flows: flows{taken: x.times}, corr: r, score: r})
	}
	return list
}

// addMisses adds those that were chosen.
func (a *analysis) addMisses(p *matchingPursuit) {
	for _, j := range p.chosen {
		x := p.candidates[j].leader
		if x.misses == nil {
			continue
		}
		cost := a.table.centre(x.cost)
		a.add(finding{
			id: missesID{x.misses.line}, origin: hardware{x.misses.first, x.misses.events, x.cluster}, cost: divisible(slices.Clone(x.cost)),
			share: floats.Dot(cost, a.centred) / a.variation, beta: math.Sqrt(floats.Dot(cost, cost) / a.variation),
			score: x.corr, leaderScore: math.NaN(), p: math.NaN(),
		})
	}
}

// named are the events that a cause is named by and counted: its misses, where it
// has any, and not that writes to these lines took them from others.
func named(p *profile.Profile, events []profile.EventID) []profile.EventID {
	misses := slices.DeleteFunc(slices.Clone(events), func(e profile.EventID) bool { return p.Events[e].Reason == "" })
	if len(misses) == 0 {
		return events
	}
	return misses
}

// costliest is the event that costs most of some, over the whole section.
func costliest(p *profile.Profile, s *profile.Section, events []profile.EventID) (best profile.EventID) {
	most := uint64(0)
	for _, e := range events {
		n := uint64(0)
		eachTotal(s, func(q *profile.Part) { n += q.Counts.Of(e) + q.Inner.Of(e) })
		if n *= uint64(p.Events[e].Cycles); n > most || most == 0 {
			best, most = e, n
		}
	}
	return best
}

// lineOf names the source line of an address, with what it was inlined at; the
// address itself where that is not known. Each instance asks for the same ones.
func (an *Analyser) lineOf(addr profile.Addr) string {
	if x, known := an.named.Load(addr); known {
		return x.(string)
	}
	name := fmt.Sprintf("%#x", uint64(addr))
	if l, ok := an.p.Location(addr); ok && l.Known() {
		name = sourceLine(&l)
	}
	an.named.Store(addr, name)
	return name
}
