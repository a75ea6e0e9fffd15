package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// pool is a script of threads that a runtime has execute tasks.
type pool struct{ *script }

func newPool(threads int) *pool {
	s := &pool{newScript(1 << 20)}
	s.born(0, -1)
	for id := 1; id < threads; id++ {
		s.born(profile.ThreadID(id), 0)
	}
	return s
}

func (s *pool) rec(id profile.ThreadID, kind uint32, site, work uint64) {
	r := record.Record{Kind: kind, TSC: s.tick(), Site: site, Whole: true}
	if work > 0 {
		r.Delta = []record.Delta{{Counter: 0, N: work}}
	}
	s.Record(id, r)
}

func (s *pool) awaits(id profile.ThreadID, site, before uint64) {
	s.rec(id, hookOf(tbbAwaits[0]).Arrive, site, before)
}
func (s *pool) goesOn(id profile.ThreadID, work uint64) {
	s.rec(id, hookOf(tbbAwaits[0]).Leave, 0, work)
}
func (s *pool) task(id profile.ThreadID, before uint64) {
	s.rec(id, hookOf(record.Task).Arrive, 16, before)
}

// TestTasks: a part is what a thread did from its first task in a region to its first
// in another one, or its end; who had none has an empty one; what was done outside of
// regions is of none.
func TestTasks(t *testing.T) {
	s := newPool(3)
	s.awaits(0, 160, 1000)
	s.task(1, 0)
	s.task(2, 0)
	s.goesOn(0, 10)
	s.awaits(0, 160, 2000)
	s.task(2, 12) // of the region before
	s.task(2, 20) // told again: something else has begun
	s.goesOn(0, 30)
	s.dies(1, 11)
	s.dies(2, 22)
	got := s.Finish()
	expect(t, got, "join 160 [[10 11 12] [30 0 42]]")
	if got[0].Instances[0].Parts[1].Timed {
		t.Error("how long tasks took is not known")
	}
	if len(got[0].Warnings) != 1 || got[0].Warnings[0].Code != selfScheduled {
		t.Errorf("warnings %v: who takes tasks is chance", got[0].Warnings)
	}
}

// TestLateCrew: a thread that was there and had no task until later has empty parts; one
// that was not there yet has none.
func TestLateCrew(t *testing.T) {
	s := newPool(2)
	for k := uint64(1); k <= 3; k++ {
		s.awaits(0, 160, 0)
		if k == 2 {
			s.born(2, 1)
		}
		if k == 3 {
			s.task(1, 0)
			s.task(2, 0)
		}
		s.goesOn(0, k)
	}
	s.dies(1, 11)
	s.dies(2, 12)
	expect(t, s.Finish(), "join 160 [[1 0] [2 0 0] [3 11 12]]")
}

// TestSpawned: a region begins where the first task is made, and stands where it is
// waited for; of who only waits it has no part.
func TestSpawned(t *testing.T) {
	s := newPool(3)
	before := [][2]uint64{{0, 0}, {40, 9}} // of the region before
	for k := range before {
		s.rec(0, hookOf(record.Spawn).Arrive, 320, 1000)
		s.task(1, before[k][0])
		s.rec(0, hookOf(record.AwaitAll).Arrive, 160, 5)
		s.task(2, before[k][1])
		s.rec(0, hookOf(record.AwaitAll).Leave, 0, 1)
	}
	s.dies(1, 7)
	s.dies(2, 22)
	expect(t, s.Finish(), "join 160 [[40 9] [7 22]]")
}

// TestAdoptedOfGenerations: a thread turns out to execute tasks when its creator has
// waited already, as for threads that nobody joins.
func TestAdoptedOfGenerations(t *testing.T) {
	a, b := newThread(1, nil, 0), newThread(2, nil, 0)
	g := &group{created: 2, workers: []*thread{a, b}, generations: []generation{{workers: 1}, {workers: 2}}}
	rule := &joinRule{of: map[*thread]*group{a: g, b: g}}
	rule.adopted(a)
	if len(g.workers) != 1 || g.created != 1 || g.generations[0].workers != 0 || g.generations[1].workers != 1 {
		t.Errorf("%d workers of %d, generations %+v", len(g.workers), g.created, g.generations)
	}
}

// TestSharedTasks: whose tasks threads execute is not known where two wait at once.
func TestSharedTasks(t *testing.T) {
	s := newPool(4)
	s.awaits(0, 160, 0)
	s.awaits(3, 320, 0)
	s.task(1, 0)
	s.task(2, 0)
	s.goesOn(0, 10)
	s.goesOn(3, 10)
	s.dies(1, 11)
	s.dies(2, 12)
	expect(t, s.Finish(), "threads 0 [[0 0]]")
	if d := s.Doubts(); len(d) != 1 || d[0].Code != "shared-tasks" {
		t.Errorf("doubts %v", d)
	}
}
