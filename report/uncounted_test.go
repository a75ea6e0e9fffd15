package report

import (
	"math"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
)

// libraryProfile is of threads that took so long for 2000 instructions each,
// with so many calls of a library that was not counted.
func libraryProfile(busyUS []int64, calls []uint64) *profile.Profile {
	parts := []profile.Part{}
	for i := range busyUS {
		q := part(profile.ThreadID(i), 0, 0)
		q.BusyNS = busyUS[i] * 1000
		q.Counts = profile.Counts{Event: []profile.EventID{0}, N: []uint64{100}}
		if calls[i] > 0 {
			q.Counts = profile.Counts{Event: []profile.EventID{0, 1}, N: []uint64{100, calls[i]}}
		}
		parts = append(parts, q)
	}
	p := waitingProfile(6, parts)
	p.Program.Uncounted, p.Program.LibraryCalls = []string{"/opt/libgrind.so.1"}, []profile.Addr{0x204}
	p.Graph.Functions = []profile.Function{{Name: "work", Entry: 0x100, End: 0x300, N: 2}}
	p.Graph.Blocks = []profile.Block{
		{Start: 0x100, End: 0x200, Last: 0x1ff, Instructions: 20, Count: 0},
		{Start: 0x200, End: 0x300, Last: 0x2ff, Instructions: 1, Count: 1},
	}
	p.Events = []profile.Event{{Kind: profile.BlockEntered, Block: 0, Addr: 0x100, Superior: profile.NoEvent}, {Kind: profile.BlockEntered, Block: 1, Addr: 0x200, Superior: profile.NoEvent}}
	return p
}

func branchOn(counts ...uint64) Analyse {
	return func(s *profile.Section, o lime.Options) (*lime.Result, error) {
		res, _ := balancedWork(s, o)
		res.Balanced, res.Imbalance = false, 0.2
		res.Causes = []lime.Cause{{Kind: "control-flow", Leader: lime.Branch, Share: 1, Gain: 0.1, Addr: lockAt, Counts: counts}}
		return res, nil
	}
}

// TestLibraryNotCounted: where threads take long in a library that was not
// counted, that is said, and gains are by busy time, if that follows the
// cause (rule 20).
func TestLibraryNotCounted(t *testing.T) {
	busy, calls := []int64{2000, 2000, 2000, 8000}, []uint64{1, 1, 1, 5}
	for _, c := range []struct {
		name   string
		counts []uint64
		gain   float64 // NaN: unknown
	}{
		{"follows", []uint64{0, 0, 0, 4}, 1 - 3500.0/8000},
		{"does not follow", []uint64{4, 0, 4, 0}, math.NaN()},
	} {
		r, err := New(libraryProfile(busy, calls), Options{Analyse: branchOn(c.counts...)})
		if err != nil {
			t.Fatal(err)
		}
		s := &r.Sections[0]
		if s.BusyCounted == nil || *s.BusyCounted > 0.01 {
			t.Errorf("%s: busy counted %v", c.name, s.BusyCounted)
		}
		g := s.Causes[0].Gain
		if known := !math.IsNaN(c.gain); known != (g != nil) || known && math.Abs(g.Fraction-c.gain) > 1e-5 || s.JointGain != nil {
			t.Errorf("%s: gain %+v, want %v", c.name, g, c.gain)
		}
		found := false
		for _, w := range s.Warnings {
			found = found || w.Code == "library-not-counted" && strings.Contains(w.Message, "libgrind.so.1") && strings.Contains(w.Message, "--lib /opt/libgrind.so.1")
		}
		if !found {
			t.Errorf("%s: warnings %v", c.name, s.Warnings)
		}
	}
}

// TestLibraryCalled: a part that calls a library and is as fast as the others
// was counted; without such a library nothing is known.
func TestLibraryCalled(t *testing.T) {
	p := libraryProfile([]int64{2, 2, 2, 3}, []uint64{0, 1, 0, 5})
	r, err := New(p, Options{Analyse: branchOn(0, 0, 0, 4)})
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Sections[0]; s.BusyCounted == nil || *s.BusyCounted != 1 || s.Causes[0].Gain == nil || s.Causes[0].Gain.Fraction != 0.1 || len(s.Warnings) != 0 {
		t.Errorf("busy counted %v, cause %+v, warnings %v", s.BusyCounted, s.Causes[0], s.Warnings)
	}
	p.Program.Uncounted, p.Program.LibraryCalls = nil, nil
	if r, err = New(p, Options{Analyse: branchOn(0, 0, 0, 4)}); err != nil || r.Sections[0].BusyCounted != nil {
		t.Errorf("busy counted %v, %v", r.Sections[0].BusyCounted, err)
	}
}
