package html

import (
	"maps"
	"slices"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

// timeline is when the threads of a section worked and waited.
type timeline struct {
	ids      []string // of the rows
	more     int      // threads without a row
	bars     []bar
	path     []bar // where the critical path leads through them
	from, to float64
	axis     string
	show     func(float64) string
	left     int // executions that were added up during the run: when each was is not known
	times    int // so much wider than the page
	together int // so many instances share one bar, where there are too many to draw
}

// A profile says when each part began and arrived, or only how long the
// instances took, or nothing but counts. The rows are drawn from the best of
// these, or virtual from the counts; the axis says which.
//
// It is as many times as wide as the page, which is how many times as many bars it
// can have.
func newTimeline(p *profile.Profile, s *profile.Section, virtual bool, track []report.PathTrack, times int) *timeline {
	if p == nil || s == nil {
		return nil
	}
	ins, left := s.Unfolded()
	if len(ins) == 0 {
		return nil
	}
	t := &timeline{left: left, times: times}
	rows := t.rows(ins)
	place := t.layout(p, ins, virtual)
	// A bar that is narrower than a hair says nothing, and too many of them are slow.
	columns := min(max(3000/len(t.ids), 20), 160)
	columns = min(times*columns, max(columns, 6000/len(t.ids)))
	t.together = (len(ins) + columns - 1) / columns
	for i := 0; i < len(ins); i += t.together {
		t.column(rows, place[i:min(i+t.together, len(place))])
	}
	t.from, t.to = place[0].from, place[0].to
	for _, l := range place {
		t.from, t.to = min(t.from, l.from), max(t.to, l.to)
	}
	if t.show == nil {
		t.follow(track, ins, rows)
		t.show = func(s float64) string { return units.SecondsOf(s, t.to-t.from) }
	}
	return t
}

// rows gives each slot of the section a row, as far as they are drawn.
func (t *timeline) rows(ins []*profile.Instance) map[int32]int {
	of := map[int32]*profile.Part{}
	shared := map[int32]bool{}
	for _, in := range ins {
		for i := range in.Parts {
			q := &in.Parts[i]
			at := q.Place()
			if first := of[at]; first == nil {
				of[at] = q
			} else if first.Thread != q.Thread {
				shared[at] = true
			}
		}
	}
	rows := map[int32]int{}
	for i, at := range slices.Sorted(maps.Keys(of)) {
		if i >= words.Shown(len(of)) {
			t.more++
			continue
		}
		row := report.Thread{Slot: int(at)}
		if id := int(of[at].Thread); !shared[at] {
			row.ID = &id
		}
		rows[at] = i
		t.ids = append(t.ids, row.Number())
	}
	return rows
}

// interval is one instance on the axis.
type interval struct {
	from, to float64
	parts    []worked
}

// worked is when a thread worked in it; then it waited to the interval's end.
type worked struct {
	place    int32 // profile.Part.Place
	from, to float64
}

// layout puts the instances on the axis: where they were, or one after the other.
func (t *timeline) layout(p *profile.Profile, ins []*profile.Instance, virtual bool) []interval {
	out := make([]interval, 0, len(ins))
	if !virtual && placed(ins) {
		t.axis = "time since the first instance began"
		for _, in := range ins {
			l := interval{from: float64(in.Parts[0].BeginNS) / 1e9}
			for i := range in.Parts {
				q := &in.Parts[i]
				part := worked{q.Place(), float64(q.BeginNS) / 1e9, float64(q.ArriveNS) / 1e9}
				l.from, l.to = min(l.from, part.from), max(l.to, part.to)
				l.parts = append(l.parts, part)
			}
			out = append(out, l)
		}
		return out
	}
	t.axis = "instructions of the busiest thread, one instance after the other"
	if virtual {
		t.axis = "virtual cycles on a core for each thread, one instance after the other"
	}
	t.show = func(x float64) string { return units.Compact(uint64(x)) }
	at := 0.0
	for _, in := range ins {
		load := p.Load(in)
		l := interval{from: at, to: at + float64(load.Most)}
		for i, n := range load.Each {
			l.parts = append(l.parts, worked{in.Parts[i].Place(), at, at + float64(n)})
		}
		at = l.to
		out = append(out, l)
	}
	return out
}

// placed: every part says when it was.
func placed(ins []*profile.Instance) bool {
	for _, in := range ins {
		if !in.Placed() {
			return false
		}
	}
	return true
}

// column draws some instances as one: each thread's bar is full as far as it
// worked on average.
func (t *timeline) column(rows map[int32]int, instances []interval) {
	from, to := instances[0].from, instances[0].to
	for _, l := range instances {
		from, to = min(from, l.from), max(to, l.to)
	}
	if len(instances) == 1 {
		for _, q := range instances[0].parts {
			if row, drawn := rows[q.place]; drawn {
				t.bars = append(t.bars, bar{row, q.from, q.to, to})
			}
		}
		return
	}
	busy, whole := make([]float64, len(t.ids)), make([]float64, len(t.ids))
	for _, l := range instances {
		for _, q := range l.parts {
			if row, drawn := rows[q.place]; drawn {
				busy[row] += q.to - q.from
				whole[row] += l.to - q.from
			}
		}
	}
	for row := range busy {
		if whole[row] > 0 {
			t.bars = append(t.bars, bar{row, from, from + (to-from)*busy[row]/whole[row], to})
		}
	}
}
