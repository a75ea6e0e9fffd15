package dealing

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// units are those of one round; parts have nothing to do besides.
func units(by profile.DealtBy, parts int, owner func(i int) int, costs ...uint64) *profile.Units {
	y := profile.UnitRound{Rest: make([]uint64, parts)}
	for i, c := range costs {
		y.Units = append(y.Units, profile.Unit{Cost: c, N: 1, Part: int32(owner(i))})
	}
	return &profile.Units{Dealt: by, Rounds: []profile.UnitRound{y}}
}

func most(t *testing.T, o *Outlook, k Kind, chunk int) uint64 {
	t.Helper()
	i := slices.IndexFunc(o.Dealings, func(d Dealing) bool { return d.Kind == k && d.Chunk == chunk })
	if i < 0 {
		t.Fatalf("%s %d is not among %v", k, chunk, o.Dealings)
	}
	return o.Dealings[i].Most
}

// TestByHand: eight units that grow, on two parts.
func TestByHand(t *testing.T) {
	o := Of(units(profile.DealtInBlocks, 2, func(i int) int { return i / 4 }, 1, 2, 3, 4, 5, 6, 7, 8))
	if o.Today != 26 || o.Bound != 18 || o.Units != 8 || o.Largest != 8 || o.Mean != 4.5 || o.Limit != 5 || o.Parts != 2 {
		t.Errorf("%+v", o)
	}
	for _, c := range []struct {
		k     Kind
		chunk int
		want  uint64
	}{
		{Blocks, 0, 26},
		{Turns, 0, 20},        // 2 4 6 8
		{Demand, 1, 20},       // 1 3 5 7 and 2 4 6 8
		{Demand, 4, 26},       // as in blocks
		{LongestFirst, 0, 18}, // 8 5 4 1 and 7 6 3 2
		{Guided, 0, 19},       // 1 2 3 4, then 7; 5 6, then 8
		{Stealing, 0, 18},     // 1 2 3 4 and the last of the other, 8; 5 6 7
	} {
		if got := most(t, o, c.k, c.chunk); got != c.want {
			t.Errorf("%s %d: %d, want %d", c.k, c.chunk, got, c.want)
		}
	}
	if f := o.Forecast[1]; f.Threads != 4 || f.Today != 36.0/15 || f.Best != 36.0/9 {
		t.Errorf("%+v", f)
	}
}

// TestNoDealingBeatsTheBound, nor is the longest first worse than it by a third, nor
// do parts do other work than there is.
func TestNoDealingBeatsTheBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		parts := 1 + r.IntN(9)
		costs := make([]uint64, 1+r.IntN(200))
		for i := range costs {
			costs[i] = r.Uint64N(1 + r.Uint64N(100_000))
		}
		u := units(profile.DealtByOwner, parts, func(int) int { return r.IntN(parts) }, costs...)
		if r.IntN(2) == 0 {
			for k := range parts {
				u.Rounds[0].Rest[k] = r.Uint64N(50_000)
			}
		}
		o := Of(u)
		if o.Bound > o.Today {
			t.Fatalf("the bound is %d, and %d was done", o.Bound, o.Today)
		}
		for _, d := range o.Dealings {
			if d.Most < o.Bound {
				t.Fatalf("%s %d: %d, less than the bound %d", d.Kind, d.Chunk, d.Most, o.Bound)
			}
			if d.Kind == LongestFirst && slices.Max(u.Rounds[0].Rest) == 0 && 3*d.Most > 4*o.Bound+3 {
				t.Fatalf("longest first: %d, of a bound of %d", d.Most, o.Bound)
			}
		}
		if !slices.IsSortedFunc(o.Dealings, func(a, b Dealing) int { return int(int64(a.Most) - int64(b.Most)) }) {
			t.Fatal("the best is not first")
		}
		alone := round{costs: costs, rest: []uint64{0}}
		total := uint64(0)
		for _, c := range costs {
			total += c
		}
		for _, k := range []Kind{Blocks, Turns, Guided, Stealing} {
			if got := alone.deal(k, 0, 1); got != total {
				t.Fatalf("%s on one part: %d of %d", k, got, total)
			}
		}
	}
}

// TestUnitsThatStandForMany are taken apart.
func TestUnitsThatStandForMany(t *testing.T) {
	u := units(profile.DealtInBlocks, 2, func(i int) int { return i }, 400, 100)
	u.Rounds[0].Units[0].N, u.Rounds[0].Units[1].N = 4, 4
	o := Of(u)
	if o.Units != 8 || o.Largest != 100 || o.Today != 400 || most(t, o, Turns, 0) != 250 {
		t.Errorf("%+v", o)
	}
}

// TestOnDemand: what is dealt on demand is compared as it is with a core for each
// thread, not with who happened to run.
func TestOnDemand(t *testing.T) {
	o := Of(units(profile.DealtOnDemand, 4, func(int) int { return 0 }, 5, 5, 5, 5, 5, 5, 5, 5))
	if o.Today != 10 || o.Bound != 10 {
		t.Errorf("%+v", o)
	}
}

// TestMuchBesides: how more threads would share what is no unit is not known.
func TestMuchBesides(t *testing.T) {
	u := units(profile.DealtInTurns, 2, func(i int) int { return i % 2 }, 5, 5, 5, 5)
	u.Rounds[0].Rest = []uint64{3, 3}
	if o := Of(u); o.Forecast != nil || len(o.Dealings) == 0 || o.Today != 13 {
		t.Errorf("%+v", o)
	}
	if Of(nil) != nil || Of(&profile.Units{Rounds: []profile.UnitRound{{Rest: []uint64{1, 2}}}}) != nil {
		t.Error("an outlook of nothing")
	}
}
