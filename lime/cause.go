package lime

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// maxMembers bounds Cause.Members; a cluster may hold half the program.
const maxMembers = 50

// controlFlow is the kind of all causes that are decisions.
const controlFlow = "control-flow"

// hardware is the cause that an event happens more often to some threads.
type hardware struct {
	event   profile.EventID   // that says where
	events  []profile.EventID // all that it is the sum of
	cluster int               // −1: of none
}

// describe says where a decision is and what goes with it.
func (s steering) describe(a *analysis) Cause {
	c := Cause{Kind: controlFlow, Leader: s.kind()}
	c.Addr, c.To = s.place(a)
	var events []profile.EventID
	for _, d := range s.all() {
		events = append(events, d.out().event)
	}
	c.Members = a.members(s.cluster, events)
	return c
}

func (h hardware) describe(a *analysis) Cause {
	e := &a.graph.p.Events[h.event]
	c := Cause{Kind: e.Name, Addr: e.Addr, Event: h.event}
	if h.cluster >= 0 {
		c.Members = a.members(h.cluster, h.events)
	}
	return c
}

func (s start) describe(*analysis) Cause {
	return Cause{Kind: controlFlow, Leader: StartAt, Addr: s.slowest}
}

// members lists the other events of a cause's cluster, those with most work
// behind them first: executions × instructions of the block that they lead to.
func (a *analysis) members(cluster int, own []profile.EventID) []Member {
	type weighed struct {
		Member
		work float64
	}
	var all []weighed
	for i, e := range a.clusters.events {
		if a.clusters.of(e) != cluster || slices.Contains(own, e) {
			continue
		}
		ev := &a.graph.p.Events[e]
		w := weighed{Member{controlFlow, ev.Addr, floats.Dot(a.clusters.vector(i), a.clusters.unit[cluster])}, a.workBehind(e)}
		if ev.Kind == profile.Hardware {
			w.Kind = ev.Name
		}
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(x, y weighed) int { return cmp.Compare(y.work, x.work) })
	var out []Member
	type place struct {
		kind string
		addr profile.Addr
	}
	seen := map[place]bool{}
	for _, w := range all {
		if p := (place{w.Kind, w.Addr}); !seen[p] && len(out) < maxMembers {
			seen[p] = true
			out = append(out, w.Member)
		}
	}
	return out
}

// workBehind is how many instructions an event leads to directly; of a
// hardware event, how often it happened.
func (a *analysis) workBehind(e profile.EventID) (work float64) {
	times := floats.Sum(a.table.counts(e))
	if a.graph.p.Events[e].Kind == profile.Hardware {
		return times
	}
	for _, i := range a.graph.ofEvent.Of(int(e)) {
		if to := a.graph.p.Graph.Edges[i].To; to >= 0 {
			work += times * float64(a.graph.p.Graph.Blocks[to].Instructions)
		}
	}
	return work
}
