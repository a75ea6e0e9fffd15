package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// Where some of the caches' sets stand for all, each event of theirs says how much it
// is doubted over the run (rule 25). Of a line these add up, since what it accesses lies in
// the same sets; of many lines their squares do. Of a section's part of an event there
// is as much more doubt as there is less of it: by the square root.

// happened is how often each event happened in the run; nil if none is doubted.
func (b *builder) happened() []uint64 {
	if !slices.ContainsFunc(b.p.Events, func(e profile.Event) bool { return e.Doubt > 0 }) {
		return nil
	}
	n := make([]uint64, len(b.p.Events))
	for i := range b.p.Threads {
		c := b.p.Threads[i].Totals
		for k, e := range c.Event {
			n[e] += c.N[k]
		}
	}
	return n
}

// doubt adds that of an event which happened so often to its line's.
func (m *memory) doubt(e profile.EventID, times uint64) {
	ev := &m.b.p.Events[e]
	level := slices.Index(levels, strings.TrimSuffix(ev.Name, "-miss"))
	if m.inRun == nil || level < 0 {
		return
	}
	l, all := m.line(ev.Addr), max(times, m.inRun[e])
	for i := range level + 1 { // who missed this one has missed the nearer ones
		l.doubt[i] += ev.Doubt * math.Sqrt(float64(times)*float64(all))
	}
}

// sumDoubts makes all lines' doubts that of the whole.
func (m *memory) sumDoubts() {
	for i := range m.all.doubt {
		sum := 0.0
		for _, k := range slices.Sorted(maps.Keys(m.at)) {
			sum += m.at[k].doubt[i] * m.at[k].doubt[i]
		}
		m.all.doubt[i] = math.Sqrt(sum)
	}
}

// doubted is the doubt of a level's misses as a part of them; nil where there is none.
func (l *memoryLine) doubted(level int, misses uint64) *float64 {
	if l.doubt[level] == 0 || misses == 0 {
		return nil
	}
	return known(l.doubt[level] / float64(misses))
}

// unsure is the doubt of a line from which on a cause of its misses may be chance.
const unsure = 0.5

// doubtCauses warns of causes that are misses of which too few were sampled.
func doubtCauses(s *Section) {
	for i := range s.Causes {
		c := &s.Causes[i]
		l := s.Memory.OfLine(c.Location.Place)
		if l == nil || c.Level == "" {
			continue
		}
		for _, x := range l.Levels {
			if x.Doubt != nil && x.Level == c.Level && *x.Doubt >= unsure {
				s.Warnings = append(s.Warnings, Warning{Code: "sampled-sets", Message: fmt.Sprintf(
					"the misses at %s, cause %d, are of few lines, %s as far as the sampled sets tell: simulate more sets to know", c.Location.Short(), c.Rank, x.Missed())})
			}
		}
	}
}
