package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// reusedProfile is of two threads that access 1,000 and 500 times, on two lines.
func reusedProfile() *profile.Profile {
	p := cachedProfile()
	p.Run.Machine = ""
	p.Events = p.Events[:3]
	reuse := func(a profile.Addr, all bool, reason string) {
		p.Events = append(p.Events, profile.Event{Kind: profile.Hardware, Block: 0, Addr: a, Name: profile.Reuse(all), Reason: reason, Superior: 0, Edge: -1})
	}
	reuse(0x10, false, "16384")                // 3
	reuse(0x10, false, "131072")               // 4
	reuse(0x14, false, profile.ReuseFirst)     // 5
	reuse(0x14, false, profile.ReuseLost)      // 6
	reuse(0x14, false, profile.ReuseFromOther) // 7
	reuse(0x10, true, "65536")                 // 8
	reuse(0x14, true, profile.ReuseFirst)      // 9
	reuse(0x28, false, "33554432")             // 10: a call, of which accesses are not known
	p.Threads = []profile.Thread{
		{ID: 0, Totals: profile.Counts{Event: []profile.EventID{0, 3, 4, 5, 8, 9, 10}, N: []uint64{100, 40, 20, 5, 30, 5, 7}}},
		{ID: 1, Totals: profile.Counts{Event: []profile.EventID{0, 4, 6, 7}, N: []uint64{100, 10, 2, 3}}},
	}
	return p
}

// TestCacheSizes: a cache misses what comes from farther than it is large, and whatever
// no size would have held.
func TestCacheSizes(t *testing.T) {
	p := reusedProfile()
	b := &builder{p: p}
	var of []profile.Counts
	for i := range p.Threads {
		of = append(of, p.Threads[i].Totals)
	}
	s := b.sizesOf(of)
	if s == nil || len(s.Bytes) != 12 || s.Accesses != 600 {
		t.Fatalf("%+v", s)
	}
	always := uint64(5 + 2 + 3 + 7)
	own := []uint64{40 + 30 + always, 30 + always, 30 + always, 30 + always, always, always, always, always, always, always, always, always}
	shared := []uint64{35, 35, 35, 5, 5, 5, 5, 5, 5, 5, 5, 5}
	if !slices.Equal(s.Misses, own) || !slices.Equal(s.Shared, shared) {
		t.Errorf("%v, %v; want %v, %v", s.Misses, s.Shared, own, shared)
	}
	if s.Rate[0] != (40.+30+10)/600 || s.Cycles[11] != 200*5+200*always || *s.CommFactor != float64(*known(5. / 600)) {
		t.Errorf("rate %v, cycles %v, communication %v", s.Rate[0], s.Cycles[11], *s.CommFactor)
	}
	if s.Knee == nil || *s.Knee != 256<<10 {
		t.Errorf("working set %v", s.Knee)
	}
	if len(s.Threads) != 2 || s.Threads[1].Misses[0] != 15 || s.Threads[0].Shared[0] != 35 {
		t.Errorf("%+v", s.Threads)
	}
	if len(s.Lines) != 3 || s.Lines[0].Location.Line != 7 || s.Lines[0].Misses[0] != 70 || s.Lines[1].Location.Line != 8 || s.Lines[1].Cycles[11] != 2000 {
		t.Errorf("%+v", s.Lines)
	}
	if got := strings.Join(s.Words(), "; "); got != "16K misses 13.3 % of the accesses; 32M 1.67 %; working set 256K; communication factor <0.01" {
		t.Error(got)
	}
	b.opt.Sizes = []int64{32 << 10, 1 << 20}
	if s := b.sizesOf(of); !slices.Equal(s.Bytes, b.opt.Sizes) || !slices.Equal(s.Misses, []uint64{own[1], own[6]}) {
		t.Errorf("of two sizes %+v", s)
	}
	if s := (&builder{p: cachedProfile()}).runSizes(); s != nil {
		t.Errorf("of a machine: %+v", s)
	}
}

// TestKnee: where sizes make no difference there is none.
func TestKnee(t *testing.T) {
	sizes := []int64{1, 2, 4, 8}
	for want, misses := range map[int64][]uint64{0: {1000, 999, 999, 995}, 2: {1000, 190, 110, 100}, 4: {1000, 200, 190, 100}, 8: {1000, 1000, 1000, 100}} {
		if k := knee(sizes, misses); (k == nil) != (want == 0) || k != nil && *k != want {
			t.Errorf("%v: %v, want %d", misses, k, want)
		}
	}
	if k := knee(sizes, make([]uint64, 4)); k != nil {
		t.Errorf("of no misses: %d", *k)
	}
}

// TestLoses: the thread that loses most by sharing, where it matters.
func TestLoses(t *testing.T) {
	s := &CacheSizes{Bytes: []int64{1 << 14, 1 << 15}, Accesses: 10000, Threads: []ThreadSizes{
		{Misses: []uint64{100, 10}, Shared: []uint64{150, 12}}, {Misses: []uint64{100, 0}, Shared: []uint64{300, 90}},
	}}
	if size, times := s.loses(); size != 1<<14 || times != 3 {
		t.Errorf("%d %v", size, times)
	}
}
