package section

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// round creates n threads from one, lets them work, and joins them.
func (s *script) round(creator, first profile.ThreadID, n int, site uint64, work func(i int) uint64) {
	for i := range n {
		s.creates(creator, 64)
		s.born(first+profile.ThreadID(i), creator)
	}
	for i := range n {
		s.dies(first+profile.ThreadID(i), work(i))
	}
	for range n {
		s.at(creator, join, 0, site)
	}
}

// slots are those of each part of each instance.
func slots(s profile.Section) (all [][]profile.SlotID) {
	for _, in := range s.Instances {
		row := []profile.SlotID{}
		for _, q := range in.Parts {
			row = append(row, q.Slot)
		}
		all = append(all, row)
	}
	return all
}

// Threads of one round take the places of those of the round before; wider
// rounds have more.
func TestSlotsOfRounds(t *testing.T) {
	s := newScript(1 << 20)
	s.born(0, -1)
	s.round(0, 1, 2, 320, func(i int) uint64 { return 100 + uint64(i) })
	s.round(0, 3, 4, 320, func(i int) uint64 { return 200 + uint64(i) })
	s.round(0, 7, 3, 320, func(i int) uint64 { return 300 + uint64(i) })
	got := s.Finish()
	expect(t, got, "join 320 [[100 101] [200 201 202 203] [300 301 302]]")
	if have, want := slots(got[0]), [][]profile.SlotID{{1, 2}, {1, 2, 3, 4}, {1, 2, 3}}; !reflect.DeepEqual(have, want) {
		t.Errorf("slots %v, want %v", have, want)
	}
	if sums := got[0].PartsBySlot(); len(sums) != 4 || !sums[0].Several || sums[3].Several || sums[3].Thread != 6 {
		t.Errorf("sums by slot %+v", sums)
	}
}

// Barriers within a round know their threads by the places that these have in it.
func TestSlotsAtBarriersOfRounds(t *testing.T) {
	s := newScript(1 << 20)
	s.born(0, -1)
	s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7, Arg3: 2})
	for round := range 3 {
		first := profile.ThreadID(1 + 2*round)
		for i := range 2 {
			s.creates(0, 64)
			s.born(first+profile.ThreadID(i), 0)
		}
		for i := range 2 {
			s.at(first+profile.ThreadID(1-i), barrierWait, 7, 160, 5)
		}
		for i := range 2 {
			s.dies(first+profile.ThreadID(i), 100)
		}
		s.at(0, join, 0, 320)
		s.at(0, join, 0, 320)
	}
	for _, sec := range s.Finish() {
		if have, want := slots(sec), [][]profile.SlotID{{1, 2}, {1, 2}, {1, 2}}; !reflect.DeepEqual(have, want) {
			t.Errorf("%s: slots %v, want %v", sec.Kind, have, want)
		}
	}
}

// Threads that live on are slots of their own, and nothing is said of them.
func TestNoSlotsWhereThreadsLiveOn(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	for range 3 {
		s.at(1, barrierWait, 7, 160, 5)
		s.at(2, barrierWait, 7, 160, 6)
	}
	if have, want := slots(s.Finish()[0]), [][]profile.SlotID{{0, 0}, {0, 0}}; !reflect.DeepEqual(have, want) {
		t.Errorf("slots %v", have)
	}
}

// With little memory the totals are by slot, however many threads there were.
func TestTotalsBySlot(t *testing.T) {
	s := newScript(4000)
	s.born(0, -1)
	for round := range 200 {
		s.round(0, profile.ThreadID(1+3*round), 3, 320, func(i int) uint64 { return uint64(10 * (i + 1)) })
		s.Advance(s.now)
	}
	got := s.Finish()[0]
	if len(got.Instances) > 150 || len(got.Totals) != 3 {
		t.Fatalf("%d instances, %d totals", len(got.Instances), len(got.Totals))
	}
	for i, q := range got.PartsBySlot() {
		if q.Slot != profile.SlotID(i+1) || !q.Several || q.Thread != profile.ThreadID(i+1) || q.Counts.Of(0) != uint64(2000*(i+1)) {
			t.Errorf("total %d: %+v", i, q)
		}
	}
	span := int64(0)
	for _, in := range got.Instances {
		span += in.SpanNS
	}
	if got.Time() != span {
		t.Errorf("rounds that follow each other lasted %d ns, their spans %d", got.Time(), span)
	}
}

// Where nobody meets, threads of several rounds are all there at once.
func TestPlacesAreDistinct(t *testing.T) {
	s := newScript(1 << 20)
	s.born(0, -1)
	for i := range 3 {
		s.round(0, profile.ThreadID(1+i), 1, 320, func(int) uint64 { return 900 })
	}
	expect(t, s.Finish(), "threads 0 [[900 900 900]]")
}

// The union of spans against a table of moments.
func TestCovered(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		var c covered
		moments, end := map[uint64]bool{}, uint64(0)
		for range r.IntN(20) {
			end += uint64(r.IntN(12))
			to := end - min(end, uint64(r.IntN(3))) // nearly in order
			from := to - min(to, uint64(r.IntN(30)))
			c.add(from, to)
			for at := from; at < to; at++ {
				moments[at] = true
			}
		}
		if c.length() != uint64(len(moments)) {
			t.Fatalf("%v: %d, want %d", c.spans, c.length(), len(moments))
		}
	}
	var many covered
	for i := range uint64(3 * manySpans) {
		many.add(10*i, 10*i+5)
	}
	many.add(0, 30*manySpans)
	if n := many.length(); len(many.spans) > manySpans || n > 30*manySpans || n < 15*manySpans {
		t.Errorf("%d spans, %d long", len(many.spans), n)
	}
}

// divide is a recursion that forks one half and does the other: thread by
// thread, each with its own work, all joined at one line.
func (s *script) divide(x profile.ThreadID, n int, next *profile.ThreadID, site uint64, work func() uint64) {
	if n == 1 {
		s.at(x, barrierLeft+1000, 0, 0, work()) // a record of no rule: it worked
		return
	}
	left := *next
	*next++
	s.at(x, create, 0, 0, 1) // a step of its own before each fork
	s.born(left, x)
	s.divide(left, n/2, next, site, work)
	s.divide(x, n-n/2, next, site, work)
	s.dies(left)
	s.at(x, join, 0, site)
}

// TestRecursion: however deep it forks, a recursion is one instance with a part
// for each thread, and so again in the next round.
func TestRecursion(t *testing.T) {
	s := newScript(1 << 20)
	s.born(0, -1)
	next, leaf := profile.ThreadID(1), uint64(0)
	for range 2 {
		leaf = 0
		s.divide(0, 4, &next, 320, func() uint64 { leaf += 100; return leaf })
	}
	got := s.Finish()
	// Thread 0 forks 1, which forks 2; then 0 forks 3. The leaves are those of
	// 2, 1, 3 and 0. What 0 did before its first fork is not part of it.
	expect(t, got, "join 320 [[401 201 100 300] [401 201 100 300]]")
	if have, want := slots(got[0]), [][]profile.SlotID{{1, 2, 3, 4}, {1, 2, 3, 4}}; !reflect.DeepEqual(have, want) {
		t.Errorf("slots %v, want %v", have, want)
	}
	for i, in := range got[0].Instances {
		if in.Parts[1].Begin != 0 || in.Parts[0].ArriveNS == 0 {
			t.Errorf("instance %d: %+v", i, in.Parts)
		}
	}
}

// TestForksInside: workers that fork and join threads of their own, elsewhere in
// the code, have waited for the longest of these; all that they did themselves
// is theirs.
func TestForksInside(t *testing.T) {
	for _, rounds := range []int{1, 2} {
		s := newScript(1 << 20)
		s.born(0, -1)
		for i := range 2 {
			s.creates(0, 64)
			s.born(profile.ThreadID(1+i), 0)
		}
		id := profile.ThreadID(3)
		for x := range profile.ThreadID(2) {
			for range rounds {
				s.at(1+x, barrierLeft+1000, 0, 0, 3)
				s.round(1+x, id, 2, 160, func(i int) uint64 { return uint64(100*(i+1)) * uint64(x+1) })
				id += 2
			}
		}
		s.dies(1, 500)
		s.dies(2, 501)
		s.at(0, join, 0, 320)
		s.at(0, join, 0, 320)
		all := map[string]profile.Section{}
		for _, sec := range s.Finish() {
			all[fmt.Sprint(sec.Site)] = sec
		}
		if inner := all["160"]; len(inner.Instances) != 2*rounds {
			t.Errorf("%d rounds: inner %v", rounds, work(inner))
		}
		outer := all["320"]
		if len(outer.Instances) != 1 {
			t.Fatalf("%d rounds: outer %v", rounds, work(outer))
		}
		for i, q := range outer.Instances[0].Parts {
			own, waited := uint64(3*rounds+500+i), uint64(200*(i+1)*rounds)
			if w := q.Whole(); q.Counts.Of(0) != own || q.Inner.Of(0) != waited || w.Counts.Of(0) != own+waited {
				t.Errorf("%d rounds, thread %d: did %d and waited for %d, want %d and %d", rounds, q.Thread, q.Counts.Of(0), q.Inner.Of(0), own, waited)
			}
		}
	}
}

// What was joined inside a group that nobody joins is an instance all the same.
func TestForksInsideWhatIsNeverJoined(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 1)
	s.round(1, 2, 2, 160, func(i int) uint64 { return uint64(700 + i) })
	expect(t, s.Finish(), "join 160 [[700 701]]")
}

// TestDistinct: of two parts in one place the one that the place is named by stays there,
// whichever comes first.
func TestDistinct(t *testing.T) {
	parts := []part{{place: 3}, {place: 4}, {place: 3}, {place: 4}, {place: 7}, {place: 7}}
	for i, id := range []profile.ThreadID{1, 2, 3, 4, 8, 9} {
		parts[i].Thread = id
	}
	distinct(parts)
	for i, want := range []profile.ThreadID{1, 2, 3, 4, 7, 9} {
		if parts[i].place != want {
			t.Errorf("thread %d is in place %d, want %d", parts[i].Thread, parts[i].place, want)
		}
	}
}

// Where goroutines were seated as they were made, who finds its place taken may find its own
// taken too: each stands alone all the same, wherever the others do.
func TestDistinctWhereOthersStand(t *testing.T) {
	parts := []part{{place: 2}, {place: 5}, {place: 2}, {place: 2}}
	for i, id := range []profile.ThreadID{1, 4, 5, 6} {
		parts[i].Thread = id
	}
	distinct(parts)
	seen := map[profile.ThreadID]bool{}
	for _, p := range parts {
		if seen[p.place] {
			t.Errorf("place %d is taken twice: %+v", p.place, parts)
		}
		seen[p.place] = true
	}
}
