package lime

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// Compilers copy code: loops are unrolled, functions inlined and specialised.
// A decision that was written once then stands in several places, each with a
// part of the counts, and each may explain next to nothing. Leaders whose
// deciding instructions have the same source line and were inlined at the same
// calls are copies of one, and so is their cost, the sum (rule 12).

// all lists the decision and its copies.
func (s *steering) all() []decision { return append([]decision{s.decision}, s.copies...) }

// ids lists what the decision and its copies are known by in the code.
func (s *steering) ids() []identity {
	var ids []identity
	for _, d := range s.all() {
		ids = append(ids, d.id())
	}
	return ids
}

// withCopies adds to leaders those that stand for several copies. Which of
// them explain T is for the matching pursuit to say: two branches of one line
// may also do different things, as the test before a loop and the one in it.
func (f *finder) withCopies(all []leader) []leader {
	out, joined := slices.Clip(all), map[identity]bool{}
	for i := range all {
		if len(all[i].copies) > 0 {
			joined[all[i].id()] = true
		}
	}
	for _, x := range f.joinCopies(all) {
		if len(x.copies) > 0 && !joined[x.id()] {
			out = append(out, x)
		}
	}
	return out
}

// joinCopies makes one leader of those that are copies of each other. The one
// that costs most speaks for all.
func (f *finder) joinCopies(all []leader) []leader {
	var out []leader
	at := map[identity]int{}
	for _, x := range all {
		id := x.sourceID(f.sources)
		if i, ok := at[id]; !ok {
			at[id] = len(out)
			out = append(out, x)
		} else if f.independent(&out[i], x.decision) {
			out[i] = f.joined(out[i], x)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// independent reports whether the costs of a leader, with its copies, and of
// another decision have nothing in common: neither is among what the other
// controls.
func (f *finder) independent(x *leader, d decision) bool {
	return !slices.ContainsFunc(x.all(), func(c decision) bool {
		return f.graph.controls(c, d.out().block) || f.graph.controls(d, c.out().block)
	})
}

// joined is one leader for two.
func (f *finder) joined(a, b leader) leader {
	if floats.Sum(b.cost) > floats.Sum(a.cost) {
		a, b = b, a
	}
	sum := func(x, y []float64) []float64 { return floats.AddTo(f.table.vector(), x, y) }
	a.copies = slices.Concat(a.copies, b.all())
	a.cost = sum(a.cost, b.cost)
	a.flows = flows{inflow: sum(a.inflow, b.inflow), visits: sum(a.visits, b.visits), taken: sum(a.taken, b.taken)}
	a.corr, a.told = f.corr(a.taken), a.told && b.told
	a.score = f.score(a.out().block, a.corr, a.flows)
	return a
}

// leadersByCopies looks at departures again to which their own in-flow seems to
// bring the difference. Where threads run different copies of the same code
// everything in a copy goes with who runs it; only the copies together show
// where the difference arises.
func (f *finder) leadersByCopies(inherited []departure) []leader {
	var tried []leader
	may := map[identity]bool{}
	for _, d := range inherited {
		round := f.graph.headed(d.block) >= 0
		if !f.copied(d.block, round) || f.broughtByCalls(d, round) || !round && !f.mayArise(branch{d.way, false}, may) {
			continue
		}
		if x, ok := f.lead(d, round); ok {
			tried = append(tried, x)
		}
	}
	var out []leader
	for _, x := range f.joinCopies(tried) {
		all, several := f.flowsOfAllCopies(x.decision)
		if !several || !f.table.varies(all.taken) || f.specialised(&x) {
			continue
		}
		if f.arises(x.out().block, &all, x.kind()) {
			x.inflow, x.visits = all.inflow, all.visits
			x.score = f.score(x.out().block, x.corr, x.flows)
			out = append(out, x)
		}
	}
	return out
}

// mayArise reports whether a difference may arise in the copies of a branch taken
// together: of most one look at what comes to them shows that it does not, before it
// is known what each costs.
func (f *finder) mayArise(d branch, known map[identity]bool) bool {
	id := d.sourceID(f.sources)
	may, ok := known[id]
	if !ok {
		defer f.table.room.release(f.table.room.asked())
		all, several := f.flowsOfAllCopies(d)
		may = several && f.table.varies(all.taken) && !f.bringsAnywhere(all.inflow, all.taken)
		known[id] = may
	}
	return may
}

// broughtByCalls reports whether calls that cost differently bring the difference along
// to all copies of what a departure decides: they are in the function that is called.
func (f *finder) broughtByCalls(d departure, round bool) bool {
	k := f.graph.compOf(d.block)
	calls := f.costs.share(k)
	return calls.mixed && f.inCluster(d.block, calls.total, d.taken, d.cluster) && !slices.ContainsFunc(f.copiesAt(d.block, round), func(b int32) bool {
		return f.costs.at[b] >= 0 && f.graph.compOf(profile.BlockID(b)) != k
	})
}

// copiesAt lists the copies of what a block decides, as the head of a loop or as a branch.
func (f *finder) copiesAt(v profile.BlockID, round bool) []int32 {
	if round {
		return f.sources.byLoop.Of(int(f.sources.loop[v]))
	}
	return f.sources.byLast.Of(int(f.sources.last[v]))
}

// copied reports whether the instance ran several copies of what a block decides, as
// the head of a loop or as a branch. Most stand alone, and need not be looked at.
func (f *finder) copied(v profile.BlockID, round bool) bool {
	ran := 0
	for _, b := range f.copiesAt(v, round) {
		if f.costs.at[b] >= 0 {
			ran++
		}
	}
	return ran > 1
}

// flowsOfAllCopies counts what comes to a decision in all copies of it that the
// instance ran, also where no difference shows, and how often they led where it
// leads. several is false when there is but one, or something is unknown.
func (f *finder) flowsOfAllCopies(d decision) (sum flows, several bool) {
	ran := 0
	sum = flows{inflow: f.table.vector(), visits: f.table.vector(), taken: f.table.vector()}
	for _, b := range f.copiesOf(d) {
		v := profile.BlockID(b)
		if f.costs.at[v] < 0 || !f.addTaken(sum.taken, v, d.out().to) {
			continue
		}
		inflow, visits := f.costs.inflow(v), f.visits(v)
		if inflow == nil || visits == nil {
			return sum, false
		}
		floats.Add(sum.inflow, inflow)
		floats.Add(sum.visits, visits)
		ran++
	}
	return sum, ran > 1
}

// addTaken adds up how often v led to code of the same source as a block; it
// reports whether v has such a way on.
func (f *finder) addTaken(sum []float64, v, to profile.BlockID) bool {
	led := false
	for _, i := range f.graph.outs.Of(int(v)) {
		e := &f.graph.p.Graph.Edges[i]
		if n := f.table.counts(e.Count); countable(f.graph, e) && f.sources.start[e.To] == f.sources.start[to] && n != nil {
			floats.Add(sum, n)
			led = true
		}
	}
	return led
}
