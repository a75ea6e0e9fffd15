package scaling

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
)

// Caches is what simulated caches say of the inflation at a point (rule 29).
type Caches struct {
	P       int     `json:"p"`
	Machine string  `json:"machine"`
	LinesS  float64 `json:"lines_s"`  // more since others take lines away, or must be told of writes
	SharedS float64 `json:"shared_s"` // more since the last cache has less room for each
	CyclesP uint64  `json:"cycles"`   // modelled, on P cores,
	Cycles1 uint64  `json:"cycles_1"` // and on one
}

// Missed is the modelled cycles of a run, or of a section in it.
type Missed struct {
	All    uint64 // an instruction takes one, and a miss more
	Lines  uint64 // misses of lines that others had taken away, and writes that others were told of
	Shared uint64 // misses of the last level for want of room
}

const (
	howLines     = "work that takes longer beside others, as much of it as simulated caches have more misses for lines that others take away, than on one core: an estimate"
	howShared    = "likewise, for misses of the last cache for want of room"
	howNotCaches = "the rest: memory's bandwidth, spinning, and what simulated caches do not know"
)

// missed adds up what threads missed in simulated caches.
func missed(p *profile.Profile, of []profile.Counts) (m Missed) {
	for _, c := range of {
		m.All += p.Instructions(c)
		for i, e := range c.Event {
			ev := &p.Events[e]
			if ev.Kind != profile.Hardware || ev.Cycles == 0 || p.Spins(ev) {
				continue
			}
			cycles := c.N[i] * uint64(ev.Cycles)
			m.All += cycles
			switch {
			case strings.HasSuffix(ev.Reason, "-sharing") || ev.Name == "upgrade":
				m.Lines += cycles
			case ev.Name == "l3-miss" && (ev.Reason == "capacity" || ev.Reason == "conflict"):
				m.Shared += cycles
			}
		}
	}
	return m
}

// more is by how many seconds work is longer at P for a kind of misses: as many cycles
// more than on one core, each as long as one takes there.
func more(one, many Missed, of func(Missed) uint64, work1 float64) float64 {
	if one.All == 0 {
		return 0
	}
	return max(0, float64(of(many))-float64(of(one))) * work1 / float64(one.All)
}

// Simulated is a run with simulated caches.
type Simulated struct {
	Profile *profile.Profile
	Report  *report.Report
}

// Simulate divides inflation by what two runs with simulated caches missed, one on one
// core and one on p. It reports false where they do not tell.
func (r *Report) Simulate(one, many Simulated, p int) bool {
	at, first := r.at(p), r.at(1)
	if at == nil || first == nil || first.WorkS == nil || many.Profile.Run.Machine == "" {
		return false
	}
	whole := func(s Simulated) Missed {
		var all []profile.Counts
		for i := range s.Profile.Threads {
			all = append(all, s.Profile.Threads[i].Totals)
		}
		return missed(s.Profile, all)
	}
	a, b := whole(one), whole(many)
	if a.All == 0 || b.All == 0 {
		return false
	}
	r.Caches = &Caches{P: p, Machine: many.Profile.Run.Machine, CyclesP: b.All, Cycles1: a.All}
	at.Stack = divided(at.Stack, p, a, b, *first.WorkS, r.Caches)
	before, after := bySection(one), bySection(many)
	for i := range r.Sections {
		s := &r.Sections[i]
		k := slices.IndexFunc(s.Points, func(x SectionPoint) bool { return x.P == p })
		if k < 0 || s.Points[0].P != 1 || s.Points[0].WorkS == nil {
			continue
		}
		key := keyOf(&report.Section{ID: s.ID, Kind: s.Kind, Location: s.Location}).plain()
		if x, y := before[key], after[key]; x.All > 0 && y.All > 0 {
			s.Points[k].Stack = divided(s.Points[k].Stack, p, x, y, *s.Points[0].WorkS, nil)
		}
	}
	return true
}

// bySection is what each section missed; those that share a line are left out.
func bySection(s Simulated) map[sectionKey]Missed {
	of, err := s.Report.SectionsOf(s.Profile)
	if err != nil {
		return nil
	}
	out, seen := map[sectionKey]Missed{}, map[sectionKey]bool{}
	for i := range of {
		k := keyOf(&s.Report.Sections[i]).plain()
		if seen[k] {
			delete(out, k)
			continue
		}
		seen[k] = true
		var all []profile.Counts
		for _, q := range of[i].PartsBySlot() {
			all = append(all, q.Counts)
		}
		out[k] = missed(s.Profile, all)
	}
	return out
}

// divided divides a stack's work that takes longer beside others, or all inflation where
// that is not told apart; nothing else changes.
func divided(stack []Component, p int, one, many Missed, work1 float64, to *Caches) []Component {
	lines := more(one, many, func(m Missed) uint64 { return m.Lines }, work1)
	shared := more(one, many, func(m Missed) uint64 { return m.Shared }, work1)
	k := slices.IndexFunc(stack, func(c Component) bool { return c.Name == "inflation-beside" || c.Name == "inflation" })
	if to != nil {
		to.LinesS, to.SharedS = lines, shared
	}
	if k < 0 || stack[k].CoreS <= 0 || lines+shared <= 0 {
		return stack
	}
	if sum := lines + shared; sum > stack[k].CoreS { // caches are not that slow here
		lines, shared = lines*stack[k].CoreS/sum, shared*stack[k].CoreS/sum
	}
	rest := stack[k].CoreS - lines - shared
	stack = slices.Replace(slices.Clone(stack), k, k+1, Component{"inflation-lines", lines, 0, howLines}, Component{"inflation-shared", shared, 0, howShared},
		Component{"inflation-rest", rest, 0, howNotCaches})
	stack = slices.DeleteFunc(stack, func(c Component) bool {
		return strings.HasPrefix(c.Name, "inflation-") && c.Name != "inflation-threads" && c.CoreS == 0
	})
	heights(stack, p)
	return stack
}
