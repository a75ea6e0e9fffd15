package section

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

var unitIn, unitOut = hookOf(record.Unit).Arrive, hookOf(record.Unit).Leave

// dealer is a script in which threads go round in loops: number 1 deals, 0 goes round
// with the barrier in it.
func dealer(t *testing.T, loop Loop, n int) *script {
	t.Helper()
	s := newScript(1 << 20)
	s.c.Loop = func(number int32) Loop {
		if number == 1 {
			return loop
		}
		return Loop{At: 9, Index: true}
	}
	s.out.c.Loop = s.c.Loop
	threads(s, n)
	return s
}

func (s *script) passesLoop(id profile.ThreadID, kind uint32, loop, index, skip, work uint64) {
	r := record.Record{Kind: kind, TSC: s.tick(), Arg1: index, Arg3: loop, Site: skip}
	if work > 0 {
		r.Delta = []record.Delta{{Counter: int32(id), N: work}}
	}
	s.Record(id, r)
}

// works lets a thread do units of some work, with indices.
func (s *script) works(id profile.ThreadID, index, work []uint64) {
	before := uint64(1)
	for i := range index {
		s.passesLoop(id, unitIn, 1, index[i], 0, before)
		before = work[i]
	}
	s.passesLoop(id, unitOut, 1, 0, 0, before)
}

func unitsOf(t *testing.T, list []profile.Section) *profile.Units {
	t.Helper()
	for i := range list {
		if list[i].Kind == profile.Barrier {
			return list[i].Units
		}
	}
	t.Fatal("no section")
	return nil
}

// TestDealt: how units were dealt shows in who did which, whatever the order in which
// threads ran.
func TestDealt(t *testing.T) {
	const n, each = 4, 8
	cost := func(i uint64) uint64 { return 10_000 * (i + 1) }
	for _, c := range []struct {
		name string
		loop Loop
		of   func(id, k uint64) (index, work uint64)
		each uint64
		want profile.DealtBy
	}{
		{"blocks", Loop{At: 5, Index: true}, func(id, k uint64) (uint64, uint64) { i := id*each + k; return i, cost(i) }, each, profile.DealtInBlocks},
		{"turns", Loop{At: 5, Index: true}, func(id, k uint64) (uint64, uint64) { i := k*n + id; return i, cost(i) }, each, profile.DealtInTurns},
		{"downwards", Loop{At: 5, Index: true}, func(id, k uint64) (uint64, uint64) { i := id*each + each - 1 - k; return i, cost(i) }, each, profile.DealtInBlocks},
		{"owner", Loop{At: 5, Index: true}, func(id, k uint64) (uint64, uint64) {
			if k%n == id {
				return k, cost(k)
			}
			return k, 9
		}, n * each, profile.DealtByOwner},
		{"all do all", Loop{At: 5, Index: true}, func(id, k uint64) (uint64, uint64) { return k, cost(k) }, each, ""},
		{"counts something else", Loop{At: 5, Index: true}, func(id, k uint64) (uint64, uint64) { i := id*each + k; return i * i * i, cost(i) }, each, ""},
		{"nobody knows", Loop{At: 5}, func(id, k uint64) (uint64, uint64) { i := id*each + k; return i, cost(i) }, each, ""},
		{"takes", Loop{At: 5, Takes: true}, func(id, k uint64) (uint64, uint64) { return 0, cost(k) }, each, profile.DealtOnDemand},
		{"locks, but takes nothing", Loop{At: 5, Takes: true}, func(id, k uint64) (uint64, uint64) { return 0, cost(k) }, each, ""},
		{"one does all", Loop{At: 5, Index: true}, func(id, k uint64) (uint64, uint64) {
			if id > 0 {
				return k, 0
			}
			return k, cost(k)
		}, each, ""},
	} {
		s := dealer(t, c.loop, n)
		r := rand.New(rand.NewPCG(1, 2))
		for round := range uint64(3) {
			for _, id := range r.Perm(n) {
				s.passesLoop(profile.ThreadID(id+1), unitIn, 0, round, 0, 0)
				var index, work []uint64
				for k := range c.each {
					if c.name == "one does all" && id > 0 || c.name == "takes" && id == 1 && k == 0 {
						break
					}
					i, w := c.of(uint64(id), k)
					index, work = append(index, i), append(work, w)
				}
				if len(index) > 0 {
					s.works(profile.ThreadID(id+1), index, work)
				}
				s.at(profile.ThreadID(id+1), barrierWait, 7, 160)
			}
			for id := range n {
				s.at(profile.ThreadID(id+1), barrierLeft, 7, 160)
			}
		}
		u := unitsOf(t, s.Finish())
		if c.want == "" || u == nil {
			if u != nil || c.want != "" {
				t.Errorf("%s: %+v", c.name, u)
			}
			continue
		}
		if u.Dealt != c.want || u.Loop != 5 || len(u.Rounds) != 2 { // nobody comes again to show that the third is over
			t.Errorf("%s: dealt by %q at %#x, %d instances", c.name, u.Dealt, u.Loop, len(u.Rounds))
		}
		for _, y := range u.Rounds {
			if c.name == "takes" && len(y.Units) == (n-1)*each {
				continue
			}
			if len(y.Units) != n*each {
				t.Errorf("%s: %d units", c.name, len(y.Units))
				continue
			}
			for i, x := range y.Units {
				if c.want != profile.DealtOnDemand && x.Cost != cost(uint64(i)) {
					t.Errorf("%s: unit %d costs %d", c.name, i, x.Cost)
				}
			}
		}
	}
}

// TestRoundsLeftOut: of short rounds some are left out between two that are told, and
// are one unit with the one before, up to the end of the loop.
func TestRoundsLeftOut(t *testing.T) {
	x := rounds{}
	tell := func(kind uint32, tsc, work, skip uint64) {
		x.work += work
		x.mark(tsc)
		r := record.Record{Kind: kind, TSC: tsc, Arg3: 3, Site: skip}
		if kind == unitIn {
			x.begin(r)
		} else {
			x.leave(r)
		}
	}
	tell(unitIn, 10, 5, 3)
	tell(unitIn, 20, 400, 3)
	tell(unitOut, 30, 300, 1) // two of three were left out, and one was told
	x.work += 7
	x.mark(40)
	s := x.between(5, 40)[3]
	if got := fmt.Sprint(s.units); got != "[{10 1 0 400 4} {20 1 0 300 3}]" || s.times != 1 {
		t.Error(got, s.times)
	}
	x.forget(25)
	if s := x.between(25, 40)[3]; fmt.Sprint(s.units) != fmt.Sprintf("[{25 1 %d 300 1}]", int64(noIndex)) {
		t.Error("what began before is", s.units)
	}
}

// TestDealtInTasks: of tasks the pieces are in the order of what their loop counts by,
// whoever executed them when, and whichever copy of the loop it was; where it counts by
// nothing that is known, in the order of time.
func TestDealtInTasks(t *testing.T) {
	var d dealt
	for part := range 3 {
		shares := map[int32]*share{}
		for i := range 12 {
			if (i*7)%3 == part {
				loop := int32(1 + i%2)
				if shares[loop] == nil {
					shares[loop] = &share{}
				}
				s := shares[loop]
				s.times++
				s.units = append(s.units, piece{tsc: uint64(100 - i), time: s.times, index: int64(10 * i), cost: uint64(1000 * (i + 1)), n: 1})
			}
		}
		d.parts, d.work = append(d.parts, shares), append(d.work, 50_000)
	}
	for _, index := range []bool{true, false} {
		y, how := roundOf(d, []int32{1, 2}, Loop{Index: index}, true)
		if how != profile.DealtInTasks || len(y.Units) != 12 {
			t.Fatalf("%q, %d units", how, len(y.Units))
		}
		for i, u := range y.Units {
			want := uint64(1000 * (i + 1))
			if !index {
				want = uint64(1000 * (12 - i))
			}
			if u.Cost != want {
				t.Errorf("index %v: unit %d costs %d, want %d", index, i, u.Cost, want)
			}
		}
	}
}

// TestCopiesOfLoops: what stands on one line and is not one in the other is one loop.
func TestCopiesOfLoops(t *testing.T) {
	c := &collector{c: Config{Loop: func(n int32) Loop { return Loop{At: profile.Addr(n)} }, Line: func(a profile.Addr) string { return fmt.Sprint(a / 10) }}}
	list := c.joined([]*dealing{{loop: 11, copies: []int32{11}, work: 50, units: 3}, {loop: 12, copies: []int32{12}, work: 40, units: 4}, {loop: 13, copies: []int32{13}, work: 60, units: 9}, {loop: 21, copies: []int32{21}, work: 5}}, 100)
	if len(list) != 3 || list[0].work != 90 || list[0].units != 7 || len(list[0].copies) != 2 || list[1].loop != 13 || list[2].loop != 21 {
		t.Errorf("%+v", list)
	}
}
