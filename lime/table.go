package lime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// table holds the counts of one instance, dense: a row for each event that
// happened, a column for each part. Where instances are pooled (rule 8) their
// columns stand side by side, one group each.
type table struct {
	groups
	parts  []profile.Part    // by column
	events []profile.EventID // by row, increasing
	row    []int32           // by event: its row, or −1
	dense  []float64         // len(events) × len(parts), row by row
	zeros  []float64         // the row of events that did not happen
	room   *room
}

// groups say which columns belong to which instance.
type groups []group

// group is the columns [from, to) of one instance that stands for folded
// executions.
type group struct{ from, to, folded int }

// table lays out the counts of the given instances, for the next analysis in the room;
// events is how many the profile has.
func (r *room) table(events int, instances ...*instance) *table {
	r.again()
	r.row = unknown(r.row, events)
	t := &table{row: r.row, parts: r.parts, events: r.events, room: r}
	for _, in := range instances {
		from := len(t.parts)
		t.parts = append(t.parts, in.parts...)
		t.groups = append(t.groups, group{from, len(t.parts), in.folded})
	}
	for i := range t.parts {
		for _, e := range t.parts[i].Counts.Event {
			if t.row[e] < 0 {
				t.row[e] = 0
				t.events = append(t.events, e)
			}
		}
	}
	slices.Sort(t.events)
	n := len(t.parts)
	for r, e := range t.events {
		t.row[e] = int32(r)
	}
	r.parts, r.events = t.parts, t.events
	r.dense = slices.Grow(r.dense[:0], len(t.events)*n)[:len(t.events)*n]
	clear(r.dense)
	t.dense, t.zeros = r.dense, t.vector()
	for c := range t.parts {
		counted := &t.parts[c].Counts
		for i, e := range counted.Event {
			t.dense[int(t.row[e])*n+c] = float64(counted.N[i])
		}
	}
	return t
}

// cols returns how many parts there are.
func (t *table) cols() int { return len(t.parts) }

// who is whose part each is.
func (t *table) who() []profile.ThreadID {
	list := make([]profile.ThreadID, len(t.parts))
	for i := range t.parts {
		list[i] = t.parts[i].Thread
	}
	return list
}

// vector is a zero for each part. It is there until the analysis is over, as is what
// counts, centre and unit return.
func (t *table) vector() []float64 { return t.room.vector(t.cols()) }

// counts returns an event's counts by part; nil when they are unknown. The
// caller must not write to them.
func (t *table) counts(e profile.EventID) []float64 {
	if e < 0 {
		return nil
	}
	r := t.row[e]
	if r < 0 {
		return t.zeros
	}
	n := t.cols()
	return t.dense[int(r)*n : int(r)*n+n]
}

// centre returns v less its mean, group by group; a group whose values differ
// by rounding alone becomes exactly zero, so that noise of the last bit is
// never taken for a difference.
func (gs groups) centre(v []float64) []float64 {
	c := make([]float64, len(v))
	gs.centreAll(c, v)
	return c
}

func (gs groups) centreAll(dst, v []float64) {
	for _, g := range gs {
		centreInto(dst[g.from:g.to], v[g.from:g.to])
	}
}

func centreInto(dst, v []float64) {
	m, flat := mean(v)
	if flat {
		clear(dst)
		return
	}
	for i, x := range v {
		dst[i] = x - m
	}
}

// mean returns that of v, and whether its values differ by rounding alone.
func mean(v []float64) (m float64, flat bool) {
	m = floats.Sum(v) / float64(len(v))
	largest, deviation := 0.0, 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(x))
		deviation = max(deviation, math.Abs(x-m))
	}
	return m, deviation <= 1e-12*largest
}

// along returns the length of v centred, and how much of that lies in the
// direction of u. It asks for no memory: most of the search for leaders is
// this.
func (gs groups) along(v, u []float64) (length, part float64) {
	squares := 0.0
	for _, g := range gs {
		m, flat := mean(v[g.from:g.to])
		if flat {
			continue
		}
		for i := g.from; i < g.to; i++ {
			d := v[i] - m
			squares += d * d
			part += d * u[i]
		}
	}
	return math.Sqrt(squares), part
}

// corr is Pearson's r of v and what was standardised to u; of a constant 0.
func (gs groups) corr(v, u []float64) float64 {
	length, part := gs.along(v, u)
	if length == 0 {
		return 0
	}
	return part / length
}

// deviation is the length of v centred.
func (gs groups) deviation(v []float64) float64 {
	length, _ := gs.along(v, v)
	return length
}

// centre is the groups' in room of the analysis.
func (t *table) centre(v []float64) []float64 {
	c := t.vector()
	t.centreAll(c, v)
	return c
}

// unit is the groups' in room of the analysis.
func (t *table) unit(v []float64) []float64 {
	c := t.centre(v)
	normalise(c)
	return c
}

// unit returns v centred and scaled to length 1, so that the dot product of
// two of them is Pearson's r. A constant gives zeros: it correlates with
// nothing.
func (gs groups) unit(v []float64) []float64 {
	c := gs.centre(v)
	normalise(c)
	return c
}

func normalise(v []float64) {
	if n := floats.Norm(v, 2); n > 0 {
		floats.Scale(1/n, v)
	}
}

// accountsFor is the least part of what varies that its origin must account for.
const accountsFor = 0.1

// accounts reports whether the variation of a can be where that of b comes
// from: whether it accounts for some of it at b's mean rate. Correlation alone
// does not ask: 48 and 51 arrivals go with 100 and 1000 repetitions perfectly,
// and with two threads everything does.
func (gs groups) accounts(a, b []float64) bool {
	all := floats.Sum(a)
	return all > 0 && gs.deviation(a)*floats.Sum(b)/all >= accountsFor*gs.deviation(b)
}

// varies reports whether v differs between the threads of a group.
func (gs groups) varies(v []float64) bool {
	for _, g := range gs {
		for c := g.from + 1; c < g.to; c++ {
			if v[c] != v[g.from] {
				return true
			}
		}
	}
	return false
}

// happened reports whether any count of v is not zero.
func happened(v []float64) bool {
	for _, x := range v {
		if x != 0 {
			return true
		}
	}
	return false
}
