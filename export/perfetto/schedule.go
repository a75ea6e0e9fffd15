package perfetto

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/export"
	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
)

// scheduled is when which thread did what, for a trace.
type scheduled struct {
	spans    map[profile.ThreadID][]span // in order of time, properly nested
	counters []counter
	times    string // where the times come from
	measured bool   // they are measured
}

const (
	kindPart = "part"
	kindWait = "wait"
)

// span is a part of a thread, or the wait at its end.
type span struct {
	from, to     int64 // ns since the run's start
	kind, name   string
	section      string
	instance     int // from 1
	instructions uint64
	part         *profile.Part
}

// counter is the imbalance of a section over time.
type counter struct {
	name   string
	values []value
}

type value struct {
	ns      int64
	percent float64
}

// schedule takes the times from the profile where every part has them. Where
// one has not, none are taken: invented times beside measured ones would be
// believed. The instances then follow each other, section by section.
func schedule(p *profile.Profile, sections []export.Section) *scheduled {
	s := &scheduled{spans: map[profile.ThreadID][]span{}, times: "times as measured"}
	measured, folded := true, 0
	for _, sec := range sections {
		ins, first := sec.Unfolded()
		folded += first
		for _, in := range ins {
			measured = measured && in.Placed()
		}
	}
	if !measured {
		s.times = "times are not measured: the instances are laid out one after the other"
	}
	if folded > 0 {
		s.times += fmt.Sprintf("; %s instances that were added up during the run are left out", units.Count(uint64(folded)))
	}
	s.measured = measured
	at := int64(0)
	for _, sec := range sections {
		at = s.section(p, sec, measured, at)
	}
	for id := range s.spans {
		s.spans[id] = nested(s.spans[id])
	}
	return s
}

// section adds its instances, and returns where the next may begin when times
// are not measured.
func (s *scheduled) section(p *profile.Profile, sec export.Section, measured bool, at int64) int64 {
	ins, before := sec.Unfolded() // those that were added up came first
	if len(ins) == 0 {
		return at
	}
	c := counter{name: sec.Name}
	for k, in := range ins {
		load := p.Load(in)
		from, to := at, at
		if measured {
			from, to = extent(in)
		} else {
			to += length(in, load.Most)
			at = to
		}
		for i := range in.Parts {
			q := &in.Parts[i]
			begin, arrive := q.BeginNS, q.ArriveNS
			if !measured {
				begin, arrive = from, from+int64(float64(to-from)*ratio(load.Each[i], load.Most))
			}
			s.add(q.Thread, span{begin, arrive, kindPart, sec.Name, sec.Name, before + k + 1, load.Each[i], q})
			s.add(q.Thread, span{arrive, to, kindWait, "wait", sec.Name, before + k + 1, 0, q})
		}
		c.values = append(c.values, value{from, 100 * load.Imbalance()}, value{to, 0})
	}
	s.counters = append(s.counters, c)
	return at
}

// extent is when the first part of an instance began and the last one arrived.
func extent(in *profile.Instance) (from, to int64) {
	from, to = in.Parts[0].BeginNS, in.Parts[0].ArriveNS
	for i := range in.Parts {
		from, to = min(from, in.Parts[i].BeginNS), max(to, in.Parts[i].ArriveNS)
	}
	return from, to
}

func (s *scheduled) add(id profile.ThreadID, p span) {
	if p.to > p.from {
		s.spans[id] = append(s.spans[id], p)
	}
}

// length of an instance whose times are not known: its span, or a nanosecond
// for each instruction.
func length(in *profile.Instance, most uint64) int64 {
	if in.SpanNS > 0 {
		return in.SpanNS
	}
	return max(int64(most), 1)
}

func ratio(n, of uint64) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// nested sorts the spans of a thread, and cuts what a track cannot show: two
// that overlap without one being inside the other. Clocks are read apart, so a
// wait may seem to last a little into the next part; else the later is cut.
func nested(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	next := int64(-1) // the part that begins after this span
	for i := len(spans) - 1; i >= 0; i-- {
		if s := &spans[i]; s.kind == kindWait && next >= 0 {
			s.to = min(s.to, max(next, s.from))
		} else if s.kind == kindPart {
			next = s.from
		}
	}
	out, ends := spans[:0], []int64{}
	for _, s := range spans {
		for len(ends) > 0 && ends[len(ends)-1] <= s.from {
			ends = ends[:len(ends)-1]
		}
		if len(ends) > 0 {
			s.to = min(s.to, ends[len(ends)-1])
		}
		if s.to > s.from {
			out, ends = append(out, s), append(ends, s.to)
		}
	}
	return out
}
