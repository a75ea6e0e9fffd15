package report

import (
	"slices"
	"testing"

	"github.com/skewlens/skewlens/report/internal/reporttest"
)

// TestMend: what the first decision says of dealings is what its section says, and no
// dealing does better than the bound, at any number of threads.
func TestMend(t *testing.T) {
	r := made(t, reporttest.Scenes()["dealt"])
	i := slices.IndexFunc(r.Sections, func(s Section) bool { return s.Units != nil })
	s := &r.Sections[i]
	c := &s.Causes[0]
	if c.Units == nil || c.Units.Count != s.Units.Count || c.Units.Max != s.Units.Largest || c.Units.Mean != s.Units.Mean || c.Units.Location != s.Units.Location || c.Units.Measure != "instructions" {
		t.Fatalf("units %+v, of the section %+v", c.Units, s.Units)
	}
	names := map[string]string{"turns": "cyclic", "demand": "dynamic"}
	for k, d := range s.Dealings {
		kind := d.How
		if n := names[kind]; n != "" {
			kind = n
		}
		if x := c.Dealings[k]; x.Kind != kind || x.Chunk != d.Chunk || x.Gain != d.Saving || x.Threads != len(s.Threads) {
			t.Errorf("%+v, of the section %+v", x, d)
		}
	}
	bound, threads := uint64(0), map[int]bool{}
	for k := len(c.Dealings) - 1; k >= 0; k-- {
		d := &c.Dealings[k]
		if threads[d.Threads] = true; d.Kind == "bound" {
			bound = d.Span
		} else if d.Span < bound {
			t.Errorf("%+v does with less than %d", d, bound)
		}
	}
	if len(threads) != len(s.Forecast) {
		t.Errorf("at %v threads, and forecast %+v", threads, s.Forecast)
	}
	for _, c := range s.Causes[1:] {
		if c.Units != nil {
			t.Errorf("cause %d has units, too", c.Rank)
		}
	}
}
