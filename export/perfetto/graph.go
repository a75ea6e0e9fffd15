package perfetto

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
)

// tie is a dependence of the task graph (rule 27): what a thread did from to on depends
// on what another one had done by from.
type tie struct {
	name     string // create, join, barrier, or the kind of a wait
	from, to int64
	of, on   profile.ThreadID
}

const (
	tieFlows = 1 << 32 // their numbers begin behind those of the critical path
	mostTies = 20000   // more are slow to look at
)

// ties are the dependences that the profile knows with their times, in order of time.
// left is how many more there are.
func ties(p *profile.Profile) (all []tie, left int) {
	for i := range p.Threads {
		t := &p.Threads[i]
		if t.Creator != 0 && t.CreatedNS > 0 {
			all = append(all, tie{"create", t.CreatedNS, t.BeginNS, t.Creator - 1, t.ID})
		}
		if t.Joiner != 0 && t.JoinedNS > 0 && t.EndNS > 0 {
			all = append(all, tie{"join", t.EndNS, t.JoinedNS, t.ID, t.Joiner - 1})
		}
	}
	for s := range p.Sections {
		for i := range p.Sections[s].Instances {
			if in := &p.Sections[s].Instances[i]; in.Folded <= 1 && in.Placed() {
				all = append(all, instance(p.Sections[s].Kind, in)...)
			}
		}
	}
	all = slices.DeleteFunc(all, func(t tie) bool { return t.of == t.on || t.to < t.from })
	slices.SortStableFunc(all, func(a, b tie) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.on, b.on))
	})
	left = max(0, len(all)-mostTies)
	return all[:len(all)-left], left
}

// instance has the dependences of an instance: all who meet go on when the last one has
// come, and who waits when another one lets it.
func instance(kind profile.SectionKind, in *profile.Instance) (all []tie) {
	for k := range in.Parts {
		for _, y := range in.Parts[k].Syncs {
			all = append(all, tie{string(y.Kind), y.WakeNS, y.EndNS, y.Thread, in.Parts[k].Thread})
		}
	}
	if kind == profile.Join || kind == profile.Threads || kind == profile.Goroutines || in.Waiter != 0 {
		return all
	}
	last := slices.MaxFunc(in.Parts, func(a, b profile.Part) int { return cmp.Compare(a.ArriveNS, b.ArriveNS) })
	for i := range in.Parts {
		all = append(all, tie{"barrier", last.ArriveNS, last.ArriveNS, last.Thread, in.Parts[i].Thread})
	}
	return all
}

// moment is an end of a tie.
type moment struct {
	ns    int64
	of    profile.ThreadID
	name  string
	flow  uint64
	field protowire.Number // of the flow
}

// graph draws dependences as flows, each from a moment of one thread to one of another,
// on tracks below those of the threads.
func (t *writer) graph(p *profile.Profile) {
	all, left := ties(p)
	var moments []moment
	for i, x := range all {
		flow := tieFlows + uint64(i)
		moments = append(moments, moment{x.from, x.of, x.name, flow, eventFlows}, moment{x.to, x.on, x.name, flow, eventFlowsEnd})
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return cmp.Compare(a.ns, b.ns) })
	drawn := map[profile.ThreadID]bool{}
	for _, m := range moments {
		track := graphTracks + uint64(m.of)
		if !drawn[m.of] {
			drawn[m.of] = true
			var d proto
			d.number(trackUUID, track)
			d.number(trackParent, threadTracks+uint64(m.of))
			d.text(trackName, fmt.Sprintf("task graph of thread %d", m.of))
			t.descriptor(d)
		}
		t.event(m.ns, track, instant, func(e *proto) {
			e.text(eventName, m.name)
			e.text(eventCategories, "task graph")
			e.fixed(m.field, m.flow)
		})
	}
	if left > 0 {
		t.event(0, process, instant, func(e *proto) {
			e.text(eventName, "task graph: "+units.Plural(left, "dependence")+" more")
		})
	}
}
