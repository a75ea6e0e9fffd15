package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Kinds of records of teams.
var (
	gompFork = hookOf("GOMP_parallel")
	kmpcFork = hookOf("__kmpc_fork_call")
	teamMeet = hookOf("GOMP_barrier")
)

// TestTeamKinds: the code that a team begins by adds 2 and 3 to the kind of its fork.
func TestTeamKinds(t *testing.T) {
	for fork, begun := range map[string]string{"GOMP_parallel": begunGomp, "GOMP_parallel_reductions": begunReduce,
		"__kmpc_fork_call": begunKmpc, "__kmpc_fork_teams": begunKmpc, "__kmpc_fork_call_if": begunDecide} {
		f, b := hookOf(fork), hookOf(begun)
		if f.Leave != f.Arrive+1 || b.Arrive != f.Arrive+2 || b.Leave != f.Arrive+3 {
			t.Errorf("%s has kinds %d and %d, what its team begins %d and %d", fork, f.Arrive, f.Leave, b.Arrive, b.Leave)
		}
		if f.Team == record.NoTeam || !OfTeam(b.Arrive) || !OfTeam(b.Leave) || OfTeam(f.Arrive) || !ArgIsFunction(b.Arrive) {
			t.Errorf("%s: %+v, %+v", fork, f, b)
		}
	}
	if !Outlines("GOMP_parallel") || !Outlines("GOMP_parallel_reductions") || Outlines("__kmpc_fork_call") || Outlines("puts") {
		t.Error("only libgomp's regions stand where the functions do that the compiler outlined")
	}
	if !teamMeet.Inside {
		t.Error("tasks are executed in barriers")
	}
}

// region is a script of teams of libgomp.
type region struct {
	*script
	hook record.Hook
}

func (s *region) rec(id profile.ThreadID, kind uint32, token, fn uint64, work ...uint64) {
	r := record.Record{Kind: kind, TSC: s.tick(), Arg1: token, Arg3: fn, Site: fn + 1}
	for c, n := range work {
		if n > 0 {
			r.Delta = append(r.Delta, record.Delta{Counter: int32(c), N: n})
		}
	}
	s.Record(id, r)
}

func (s *region) forks(id profile.ThreadID, token, fn uint64) {
	s.rec(id, s.hook.Arrive, token, fn, 1000)
}
func (s *region) joined(id profile.ThreadID, work ...uint64)   { s.rec(id, s.hook.Leave, 0, 0, work...) }
func (s *region) begins(id profile.ThreadID, token, fn uint64) { s.rec(id, s.hook.Arrive+2, token, fn) }
func (s *region) ends(id profile.ThreadID, token, fn uint64, work ...uint64) {
	s.rec(id, s.hook.Arrive+3, token, fn, work...)
}
func (s *region) meets(site uint64, work map[profile.ThreadID]uint64, tasks map[profile.ThreadID]uint64) {
	for id := profile.ThreadID(0); int(id) < len(work); id++ {
		s.at(id, teamMeet.Arrive, 0, site, work[id])
	}
	for id := profile.ThreadID(0); int(id) < len(work); id++ {
		s.at(id, teamMeet.Leave, 0, site, tasks[id])
	}
}

func newRegion(threads int) *region {
	s := &region{newScript(1 << 20), gompFork}
	s.born(0, -1)
	for id := 1; id < threads; id++ {
		s.born(profile.ThreadID(id), 0)
	}
	return s
}

// TestRegions: the parts are what threads did between the region's beginning and its
// end, the one that forks among them; what it did alone is of no section.
func TestRegions(t *testing.T) {
	for _, hook := range []record.Hook{gompFork, kmpcFork} {
		s := newRegion(3)
		s.hook = hook
		for k := uint64(1); k <= 2; k++ {
			s.forks(0, 7, 160)
			for id := profile.ThreadID(2); id >= 0; id-- {
				s.begins(id, 7, 160)
			}
			for id := profile.ThreadID(0); id <= 2; id++ {
				s.ends(id, 7, 160, k*uint64(10+id))
			}
			s.joined(0)
		}
		expect(t, s.Finish(), map[bool]string{true: "omp 160 [[10 11 12] [20 22 24]]", false: "omp 161 [[10 11 12] [20 22 24]]"}[hook == gompFork])
	}
}

// TestTasksInBarriers: what a thread executes while it waits is of its part, the last
// barrier's too, of which it is known when the thread is next heard of.
func TestTasksInBarriers(t *testing.T) {
	s := newRegion(2)
	s.forks(0, 7, 160)
	s.begins(1, 7, 160)
	s.begins(0, 7, 160)
	s.meets(320, map[profile.ThreadID]uint64{0: 5, 1: 6}, map[profile.ThreadID]uint64{1: 100})
	s.meets(480, map[profile.ThreadID]uint64{0: 1, 1: 2}, nil)
	s.ends(0, 7, 160, 3)
	s.ends(1, 7, 160, 4)
	s.joined(0, 50)
	s.dies(1, 60)
	got := s.Finish()
	expect(t, got, "omp 320 [[5 106]]", "omp 480 [[1 2]]", "omp 160 [[53 64]]")
	if p := got[0].Instances[0].Parts; p[1].Timed {
		t.Error("how long tasks took in a barrier is not known")
	}
}

// TestSpanOfTasks: a section lasts until the tasks are done that its threads execute while
// they wait, in a barrier and behind the region's end.
func TestSpanOfTasks(t *testing.T) {
	spans := map[uint64][]int64{}
	for _, tasks := range []uint64{0, 70} {
		s := newRegion(2)
		s.forks(0, 7, 160)
		s.begins(0, 7, 160)
		s.begins(1, 7, 160)
		s.meets(800, map[profile.ThreadID]uint64{0: 10, 1: 20}, map[profile.ThreadID]uint64{1: tasks})
		s.ends(0, 7, 160, 30)
		s.ends(1, 7, 160, 40)
		s.joined(0, tasks)
		for _, o := range s.Finish() {
			spans[tasks] = append(spans[tasks], o.Instances[0].SpanNS)
		}
	}
	if a, b := spans[0], spans[70]; len(a) != 2 || len(b) != 2 || a[0] >= b[0] || a[1] >= b[1] {
		t.Errorf("without tasks %v, with them %v", a, b)
	}
}

// TestTeamsWithinTeams: who forks within a region has waited for the longest part there,
// or did alone what was done alone. Threads that are created anew have their places.
func TestTeamsWithinTeams(t *testing.T) {
	s := newRegion(2)
	next := profile.ThreadID(2)
	for range 2 {
		s.forks(0, 7, 160)
		s.begins(0, 7, 160)
		s.begins(1, 7, 160)
		for _, id := range []profile.ThreadID{0, 1} { // serial, then of two threads
			s.rec(id, gompFork.Arrive, 9, 640, 1)
			s.begins(id, 9, 640)
			s.at(id, teamMeet.Arrive, 0, 800, 30) // nobody to meet
			s.at(id, teamMeet.Leave, 0, 800)
			s.ends(id, 9, 640, 10)
			s.joined(id)
		}
		s.rec(1, gompFork.Arrive, 11, 320, 2)
		s.born(next, 1)
		s.begins(next, 11, 320)
		s.begins(1, 11, 320)
		s.ends(1, 11, 320, 5)
		s.ends(next, 11, 320, 70)
		s.joined(1)
		s.dies(next)
		s.ends(0, 7, 160, 100)
		s.ends(1, 7, 160, 200)
		s.joined(0)
		next++
	}
	got := s.Finish()
	expect(t, got, "omp 320 [[5 70] [5 70]]", "omp 160 [[141 243] [141 243]]")
	outer := got[1].Instances[0].Parts[1]
	if n := outer.Inner.N; len(n) != 1 || n[0] != 70 {
		t.Errorf("within its part the second thread waited for %v", n)
	}
	for i := range got[0].Instances {
		if p := got[0].Instances[i].Parts; p[1].Slot != got[0].Instances[0].Parts[1].Slot || p[0].Slot == p[1].Slot {
			t.Errorf("instance %d: slots %d and %d", i, p[0].Slot, p[1].Slot)
		}
	}
}

// TestPlacesInTeams: libgomp lets threads end that a smaller team has no need of, when they
// come to it; those that it creates for the next one have their places.
func TestPlacesInTeams(t *testing.T) {
	s := newRegion(1)
	team := func(born, last profile.ThreadID, others ...profile.ThreadID) {
		s.forks(0, 7, 160)
		for ; born <= last; born++ {
			s.born(born, 0)
		}
		all := append([]profile.ThreadID{0}, others...)
		for _, id := range all {
			s.begins(id, 7, 160)
		}
		for _, id := range all {
			s.ends(id, 7, 160, 10)
		}
		s.joined(0)
	}
	team(1, 3, 1, 2, 3)
	team(4, 3, 1)
	team(4, 5, 1, 4, 5)
	s.dies(2)
	s.dies(3)
	in := s.Finish()[0].Instances
	for k := range in[0].Parts {
		if first, third := in[0].Parts[k].Slot, in[2].Parts[k].Slot; first != third || first == 0 {
			t.Errorf("the %d-th has slot %d, and %d when there are as many again", k, first, third)
		}
	}
}

// TestThreadsOfTeamsAreNotJoined: a runtime's threads are not those that the program
// joins, and those that are may have teams of their own.
func TestThreadsOfTeamsAreNotJoined(t *testing.T) {
	s := newRegion(1)
	s.forks(0, 7, 160)
	s.born(1, 0)
	s.begins(1, 7, 160)
	s.begins(0, 7, 160)
	s.ends(0, 7, 160, 3)
	s.ends(1, 7, 160, 4)
	s.joined(0)
	for id := profile.ThreadID(2); id <= 3; id++ {
		s.creates(0, 32)
		s.born(id, 0)
	}
	s.rec(2, gompFork.Arrive, 9, 320, 10)
	s.born(4, 2)
	s.begins(4, 9, 320)
	s.begins(2, 9, 320)
	s.ends(2, 9, 320, 6)
	s.ends(4, 9, 320, 8)
	s.joined(2)
	s.dies(2, 20)
	s.dies(3, 25)
	s.at(0, join, 0, 480)
	s.at(0, join, 0, 480)
	expect(t, s.Finish(), "join 480 [[30 25]]", "omp 160 [[3 4]]", "omp 320 [[6 8]]")
}

// TestBarriersWithinBarriers: libomp has a barrier for code that gcc compiled, which calls
// its own by the same table as the program does; that is one barrier.
func TestBarriersWithinBarriers(t *testing.T) {
	s := newRegion(2)
	own := hookOf("__kmpc_barrier")
	s.forks(0, 7, 160)
	s.begins(0, 7, 160)
	s.begins(1, 7, 160)
	for round := uint64(0); round < 2; round++ {
		for id := profile.ThreadID(0); id < 2; id++ {
			s.at(id, teamMeet.Arrive, 0, 320, 10*round+uint64(id)+1)
			s.at(id, own.Arrive, 0, 0)
		}
		for id := profile.ThreadID(0); id < 2; id++ {
			s.at(id, own.Leave, 0, 0)
			s.at(id, teamMeet.Leave, 0, 320, 100)
		}
	}
	s.ends(0, 7, 160, 3)
	s.ends(1, 7, 160, 4)
	s.joined(0)
	expect(t, s.Finish(), "omp 320 [[101 102] [111 112]]", "omp 160 [[3 4]]")
}

// TestCancelledBarriers: who leaves before all have come has met nobody; what all had
// come to when the program ended was a meeting.
func TestCancelledBarriers(t *testing.T) {
	s := newRegion(2)
	s.forks(0, 7, 160)
	s.begins(0, 7, 160)
	s.begins(1, 7, 160)
	s.at(0, teamMeet.Arrive, 0, 320, 5)
	s.at(0, teamMeet.Leave, 0, 320)
	s.at(1, teamMeet.Arrive, 0, 320, 6)
	s.at(1, teamMeet.Leave, 0, 320)
	s.at(0, teamMeet.Arrive, 0, 480, 7)
	s.at(1, teamMeet.Arrive, 0, 480, 8)
	s.at(1, teamMeet.Leave, 0, 480)
	expect(t, s.Finish(), "omp 480 [[7 8]]")
}

// TestStrayRecords: what belongs to no team is let be.
func TestStrayRecords(t *testing.T) {
	s := newRegion(2)
	s.begins(1, 99, 160)
	s.ends(1, 99, 160)
	s.joined(0)
	s.at(1, teamMeet.Arrive, 0, 320, 5)
	s.at(1, teamMeet.Leave, 0, 320)
	expect(t, s.Finish())
}

// TestWorkOfTeamsWithinThreads: what a thread had a team do is its work, also where it is
// asked whether who created it did any beside it.
func TestWorkOfTeamsWithinThreads(t *testing.T) {
	s := newRegion(1)
	s.creates(0, 64)
	s.born(1, 0)
	s.rec(1, gompFork.Arrive, 7, 160, 2)
	s.born(2, 1)
	for id := profile.ThreadID(1); id <= 2; id++ {
		s.begins(id, 7, 160)
		s.ends(id, 7, 160, 1000)
	}
	s.joined(1)
	s.at(0, join, 1, 320, 5)
	s.dies(1, 3)
	expect(t, s.Finish(), "omp 160 [[1000 1000]]")
}
