package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestFutures: a creator that waits for futures and goes on has joined those
// that were as good as done.
func TestFutures(t *testing.T) {
	await := hookOf(futureWaits[0]).Arrive
	if !Awaits(await) || Awaits(join) {
		t.Fatal("which records are of threads that wait for futures?")
	}
	for _, c := range []struct {
		name string
		seen uint64 // of 100,000 instructions, when the creator went on
		want []string
	}{
		{"done", 100000, []string{"join 320 [[100000 100000]]", "join 320 [[100000 100000]]"}},
		{"as good as done", 95000, []string{"join 320 [[100000 100000]]", "join 320 [[100000 100000]]"}},
		{"nobody looked", 0, []string{"join 320 [[100000 100000]]", "join 320 [[100000 100000]]"}},
		{"half done", 50000, []string{"join 320 [[100000 100000]]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(1 << 20)
			s.born(0, -1)
			s.at(0, await, 5, 320) // of nobody
			for round := range profile.ThreadID(2) {
				for k := range profile.ThreadID(2) {
					s.creates(0, 64)
					if round == 1 && k == 0 && c.seen > 0 {
						s.Seen(1, s.tick(), c.seen)
						s.Seen(2, s.tick(), c.seen)
					}
					s.born(2*round+k+1, 0)
				}
				s.at(0, await, 5, 320)
				s.at(0, await, 6, 320)
			}
			for id := range profile.ThreadID(4) {
				s.Died(id+1, s.tick(), 0, []record.Delta{{Counter: 0, N: 100000}}, 100000)
			}
			s.dies(0)
			var got []profile.Section
			for _, x := range s.Finish() {
				for _, in := range x.Instances {
					got = append(got, profile.Section{Kind: x.Kind, Site: x.Site, Instances: []profile.Instance{in}})
				}
			}
			expect(t, got, c.want...)
		})
	}
}

// TestFuturesOfThreadsThatAreJoined: where threads are joined after all, that is
// the end.
func TestFuturesOfThreadsThatAreJoined(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	s.at(0, hookOf(futureWaits[1]).Arrive, 5, 320)
	s.dies(1, 700)
	s.dies(2, 900)
	s.at(0, join, 1, 336)
	s.at(0, join, 2, 336)
	expect(t, s.Finish(), "join 320 [[700 900]]")
}

// TestFuturesThatWereThere: once it has waited, a creator may find all results.
func TestFuturesThatWereThere(t *testing.T) {
	await := hookOf(futureWaits[0]).Arrive
	s := newScript(1 << 20)
	s.born(0, -1)
	for round := range profile.ThreadID(3) {
		for k := range profile.ThreadID(2) {
			s.creates(0, 64)
			s.born(2*round+k+1, 0)
		}
		if round == 0 {
			s.at(0, await, 5, 320)
		}
		for k := range profile.ThreadID(2) {
			s.Died(2*round+k+1, s.tick(), 0, []record.Delta{{Counter: 0, N: 100}}, 100)
		}
	}
	s.dies(0)
	sections := s.Finish()
	if len(sections) != 1 || sections[0].Site != 320 || len(sections[0].Instances) != 3 {
		t.Fatalf("%+v", sections)
	}
	for _, in := range sections[0].Instances {
		if len(in.Parts) != 2 {
			t.Errorf("%d parts", len(in.Parts))
		}
	}
}
