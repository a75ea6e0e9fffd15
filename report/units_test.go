package report

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report/internal/reporttest"
)

// TestAdvice names what is worth it, the simplest first.
func TestAdvice(t *testing.T) {
	d := func(how string, chunk int, saving float64) Dealing { return Dealing{how, chunk, saving, ""} }
	for _, c := range []struct {
		name string
		ds   []Dealing
		want string
	}{
		{"nothing", []Dealing{d("turns", 0, .004), d("demand", 1, .009), d("longest-first", 0, .009)}, ""},
		{"turns will do", []Dealing{d("longest-first", 0, .424), d("demand", 1, .423), d("turns", 0, .42), d("blocks", 0, -.1)}, "in turns"},
		{"as many at a time as will do", []Dealing{d("demand", 1, .42), d("demand", 4, .415), d("demand", 16, .3), d("turns", 0, .2)}, "in turns, on demand, 4 at a time"},
		{"the longest first", []Dealing{d("longest-first", 0, .5), d("demand", 1, .4), d("turns", 0, -.2)}, "on demand, 1 at a time, longest first"},
		{"others are not named", []Dealing{d("stealing", 0, .5), d("guided", 0, .4)}, ""},
	} {
		var got []string
		for _, d := range advice(c.ds) {
			got = append(got, d.Words())
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestUnitsInWords: what is said of units, and where nothing is.
func TestUnitsInWords(t *testing.T) {
	with := func(change func(*profile.Units)) *Section {
		p, a := reporttest.Dealt()
		change(p.Sections[1].Units)
		r, err := New(p, Options{Analyse: a})
		if err != nil {
			t.Fatal(err)
		}
		return &r.Sections[0]
	}
	for _, c := range []struct {
		name   string
		change func(*profile.Units)
		want   string // "": nothing is said
	}{
		{"as they are", func(*profile.Units) {}, "20 units (rounds of owner.c:33), dealt in blocks; in turns: −36 %; longest first: −44 %; at best −45 %; beyond 7 threads the largest unit (15 % of all) limits"},
		{"one huge", func(u *profile.Units) { u.Rounds[0].Units[0].Cost = 5e9; u.Dealt = profile.DealtByOwner }, "20 units (rounds of owner.c:33), each done by its owner; on demand, 1 at a time: −2 %; at best −2 %; beyond 2 threads the largest unit (86 % of all) limits"},
		{"in several instances", func(u *profile.Units) { u.Rounds = append(u.Rounds, u.Rounds[0]) }, "40 units in 2 instances (rounds of owner.c:33), dealt in blocks; in turns: −36 %; longest first: −44 %; at best −45 %; beyond 7 threads the largest unit (15 % of all) limits"},
		{"on demand, as well as can be", func(u *profile.Units) {
			u.Dealt = profile.DealtOnDemand
			for i := range u.Rounds[0].Units {
				u.Rounds[0].Units[i].Cost = 1e6
			}
			u.Rounds[0].Rest = []uint64{0, 0, 0, 0}
		}, "20 units (rounds of owner.c:33), dealt on demand; no other dealing saves as much as 1 %; beyond 20 threads the largest unit (5 % of all) limits"},
		{"in tasks", func(u *profile.Units) { u.Dealt = profile.DealtInTasks }, "20 units (rounds of owner.c:33), dealt in tasks; blocked_range(…, 1), simple_partitioner: −36 %; longest first: −44 %; at best −45 %; beyond 7 threads the largest unit (15 % of all) limits"},
		{"of nothing", func(u *profile.Units) { u.Rounds[0].Units = nil }, ""},
	} {
		s := with(c.change)
		switch {
		case s.Units == nil && c.want != "":
			t.Errorf("%s: nothing", c.name)
		case s.Units != nil && s.Units.Message != c.want:
			t.Errorf("%s: %q,\nwant %q", c.name, s.Units.Message, c.want)
		}
	}
}
