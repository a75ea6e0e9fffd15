package section

import (
	"cmp"
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// Which loop deals a section's work out: the outermost one whose rounds are most
// of it, and of which each is done by one thread.

// dealt is what the threads of one instance did in loops.
type dealt struct {
	parts []map[int32]*share // by part
	work  []uint64
}

const (
	maxUnits = 100_000 // of a section that are kept
	mayMeet  = 3       // rounds of a part, at most, of a loop that goes round with the meeting in it
	covers   = 0.7     // of the section's work is done in the rounds of the loop that deals it
	atEnd    = 500     // instructions in which a thread sees that there is nothing left
	owned    = 10      // times as much as anybody else who owns a unit does in its round
)

// deal keeps what the parts of an instance did in loops.
func (c *collector) deal(o *open, arrivals []arrival) {
	if c.c.Loop == nil {
		return
	}
	d := dealt{}
	n := 0
	arrivals = slices.SortedFunc(slices.Values(arrivals), func(a, b arrival) int { return cmp.Compare(a.t.id, b.t.id) }) // as the parts are
	for i := range arrivals {
		a := &arrivals[i]
		end := max(a.tsc, a.until)
		shares := a.t.rounds.between(a.beginTSC, end)
		a.t.rounds.forget(end)
		for _, s := range shares {
			n += len(s.units)
		}
		d.parts, d.work = append(d.parts, shares), append(d.work, c.c.Work(a.delta))
	}
	if o.pieces+n <= 4*maxUnits {
		o.pieces += n
		o.dealt = append(o.dealt, d)
	}
}

// dealing is a loop's share in a section, or that of the copies that a compiler made
// of it.
type dealing struct {
	loop   int32
	copies []int32
	work   uint64 // in its rounds
	units  int
}

// units finds the loop that deals a section out.
func (c *collector) units(o *open) *profile.Units {
	all, parts := uint64(0), 0
	by := map[int32]*dealing{}
	for _, d := range o.dealt {
		parts += len(d.parts)
		for k, shares := range d.parts {
			all += d.work[k]
			for loop, s := range shares {
				x := by[loop]
				if x == nil {
					x = &dealing{loop: loop, copies: []int32{loop}}
					by[loop] = x
				}
				for _, u := range s.units {
					x.work += u.cost
				}
				x.units += len(s.units)
			}
		}
	}
	// Outer loops have fewer rounds, and what is in them is all that is in inner ones.
	list := slices.SortedFunc(maps.Values(by), func(a, b *dealing) int {
		return cmp.Or(cmp.Compare(a.units, b.units), cmp.Compare(b.work, a.work), cmp.Compare(a.loop, b.loop))
	})
	if o.ofTasks() {
		list = c.joined(list, all)
	}
	for _, x := range list {
		if float64(x.work) < covers*float64(all) {
			continue
		}
		u, known := c.dealtBy(o, x.copies)
		if u != nil || !known && x.units > mayMeet*parts {
			return u // what it deals out in some way is not for loops in it to deal again
		}
	}
	return nil
}

// ofTasks: the section's threads execute tasks of a runtime's.
func (o *open) ofTasks() bool {
	return slices.ContainsFunc(o.s.Warnings, func(w profile.Warning) bool { return w.Code == selfScheduled })
}

// joined joins the copies of a loop, which stand on one line and none of which is in
// another one: templates are instantiated where a task is divided, and where it is not.
func (c *collector) joined(list []*dealing, all uint64) (joined []*dealing) {
	at := map[string]*dealing{}
	for _, x := range list {
		line := c.c.Line(c.c.Loop(x.loop).At)
		y := at[line]
		if y == nil || y.work+x.work > all {
			at[line] = x
			joined = append(joined, x)
			continue
		}
		y.copies, y.work, y.units = append(y.copies, x.loop), y.work+x.work, y.units+x.units
	}
	return joined
}

// dealtBy are the units that the rounds of a loop, and of its copies, are; nil if they
// are none. known: it is known what they are.
func (c *collector) dealtBy(o *open, copies []int32) (u *profile.Units, known bool) {
	loop := c.c.Loop(copies[0])
	for _, n := range copies[1:] {
		loop.Index = loop.Index && c.c.Loop(n).Index
	}
	u = &profile.Units{Loop: loop.At}
	tasks := o.ofTasks()
	votes := map[profile.DealtBy]int{}
	units, parts := 0, 0
	for _, d := range o.dealt {
		y, how := roundOf(d, copies, loop, tasks)
		if how == "" {
			return nil, loop.Index
		}
		votes[how] += len(y.Units)
		units, parts = units+len(y.Units), parts+len(y.Rest)
		u.Rounds = append(u.Rounds, y)
		if units > maxUnits {
			break
		}
	}
	if units < 2*parts || !tasks && (!loop.Takes && oneDoesAll(u) || loop.Takes && allDoAsMany(u)) {
		return nil, true
	}
	for how, n := range votes {
		if n*10 >= units*9 {
			u.Dealt = how
		}
	}
	if u.Dealt == "" {
		u.Dealt = profile.DealtOtherly
	}
	return u, true
}

// allDoAsMany: all parts of all rounds do as many: who takes what is free does not.
func allDoAsMany(u *profile.Units) bool {
	for _, y := range u.Rounds {
		each := make([]int, len(y.Rest))
		for _, x := range y.Units {
			each[x.Part] += int(x.N)
		}
		if slices.Min(each) < slices.Max(each) {
			return false
		}
	}
	return true
}

// oneDoesAll: nearly all units of most rounds are one part's: nobody dealt them out.
func oneDoesAll(u *profile.Units) bool {
	n := 0
	for _, y := range u.Rounds {
		each, all := make([]int, len(y.Rest)), 0
		for _, x := range y.Units {
			each[x.Part] += int(x.N)
			all += int(x.N)
		}
		if slices.Max(each)*20 >= all*19 {
			n++
		}
	}
	return 2*n > len(u.Rounds)
}

// mine is a piece of a part.
type mine struct {
	piece
	part int
	last bool // of the part's, in the loop
}

// roundOf is an instance's work in units, and how it was dealt; "" if the rounds of the
// loop are none: all threads go through them. tasks: the threads execute tasks.
func roundOf(d dealt, copies []int32, loop Loop, tasks bool) (profile.UnitRound, profile.DealtBy) {
	y := profile.UnitRound{Rest: slices.Clone(d.work)}
	var all []mine
	for k, shares := range d.parts {
		for n, loop := range copies {
			if s := shares[loop]; s != nil {
				for i, u := range s.units {
					last := i == len(s.units)-1 || s.units[i+1].time != u.time
					u.time = u.time*len(copies) + n
					all = append(all, mine{u, k, last})
				}
			}
		}
	}
	all = worth(all)
	firstIndices(all)
	how := profile.DealtBy("")
	switch {
	case loop.Takes:
		how = profile.DealtOnDemand
	case tasks:
		how = profile.DealtInTasks
	case loop.Index && steps(all):
		all, how = byIndex(all, len(d.parts))
	}
	if how == profile.DealtOnDemand || how == profile.DealtInTasks && !(loop.Index && steps(all) && inTasks(all)) {
		slices.SortStableFunc(all, func(a, b mine) int { return cmp.Compare(a.tsc, b.tsc) })
	}
	for _, u := range all {
		y.Units = append(y.Units, profile.Unit{Cost: u.cost, N: u.n, Part: int32(u.part)})
		y.Rest[u.part] -= min(u.cost, y.Rest[u.part])
	}
	return y, how
}

// inTasks puts pieces in the order of what the loop counts by, and reports whether each
// of them is one task's: of one region's tasks each has some that no other has.
func inTasks(all []mine) bool {
	slices.SortStableFunc(all, func(a, b mine) int { return cmp.Compare(a.index, b.index) })
	shared := 0
	for i := range all {
		if i > 0 && all[i].index == all[i-1].index {
			shared++
		}
	}
	return shared*20 < len(all)
}

// firstIndices are those of rounds that parts began in, whose own they did not see: they
// are one step before the next.
func firstIndices(all []mine) {
	for i := 0; i+2 < len(all); i++ {
		a, b, c := &all[i], &all[i+1], &all[i+2]
		if a.index == noIndex && a.part == c.part && a.time == c.time && b.index != noIndex {
			a.index = b.index - (c.index-b.index)/int64(b.n)*int64(a.n)
		}
	}
}

// worth are the rounds in which something was done: not those at a thread's begin or
// end of a loop in which it only sees that there is nothing left.
func worth(all []mine) []mine {
	sum := uint64(0)
	for i := range all {
		sum += all[i].cost
	}
	return slices.DeleteFunc(all, func(u mine) bool {
		return (u.last || u.index == noIndex) && u.cost < atEnd && u.cost*uint64(20*len(all)) < sum
	})
}

// steps reports whether what a loop counts by does count its rounds: from one to the
// next it grows by the same.
func steps(all []mine) bool {
	right, wrong := 0, 0
	for i := 2; i < len(all); i++ {
		a, b, c := &all[i-2], &all[i-1], &all[i]
		if a.index == noIndex || a.part != c.part || a.time != c.time {
			continue
		}
		if (b.index-a.index)*int64(b.n) == (c.index-b.index)*int64(a.n) && a.index != b.index {
			right++
		} else {
			wrong++
		}
	}
	return wrong*20 <= right
}

// byIndex puts pieces in the order of what the loop counts by. Where all
// threads go through the same, each piece is that of who does most in it.
func byIndex(all []mine, parts int) ([]mine, profile.DealtBy) {
	slices.SortStableFunc(all, func(a, b mine) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.index, b.index), cmp.Compare(a.part, b.part))
	})
	same := func(a, b *mine) bool { return a.time == b.time && a.index == b.index && a.index != noIndex }
	var own []mine
	shared, work, alone := 0, uint64(0), uint64(0)
	for i := 0; i < len(all); {
		j, most, second := i+1, i, uint64(0)
		for ; j < len(all) && same(&all[i], &all[j]); j++ {
			if all[j].cost > all[most].cost {
				second, most = all[most].cost, j
			} else {
				second = max(second, all[j].cost)
			}
		}
		if j-i > 1 {
			shared++
		}
		work += all[most].cost
		if j-i == 1 || all[most].cost >= owned*second {
			alone += all[most].cost
		}
		own = append(own, all[most])
		i = j
	}
	switch {
	case shared*10 < len(own):
		return all, pattern(all, parts)
	case float64(alone) >= 0.9*float64(work):
		return own, profile.DealtByOwner
	}
	return nil, ""
}

// pattern is how pieces in the order of the work are dealt.
func pattern(all []mine, parts int) profile.DealtBy {
	changes, turns := 0, 0
	for i := range all {
		if i > 0 && all[i].part != all[i-1].part {
			changes++
		}
		if i >= parts && all[i].part == all[i-parts].part && all[i].part != all[i-1].part {
			turns++
		}
	}
	switch {
	case changes < parts:
		return profile.DealtInBlocks
	case turns*10 >= (len(all)-parts)*9:
		return profile.DealtInTurns
	}
	return profile.DealtOtherly
}
