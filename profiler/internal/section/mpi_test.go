package section

import (
	"fmt"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// rankScript feeds a tracker with one rank's calls, as Open MPI's C names handles.
type rankScript struct{ *script }

const (
	world = 0x7f00_0000_1000
	self  = 0x7f00_0000_2000
)

func newRank() rankScript {
	s := newScript(1 << 20)
	s.c.MPI = MPI{World: world, Self: self, FortranSelf: 1, Host: "a"}
	s.born(0, -1)
	r := rankScript{s}
	r.call("MPI_Init", 0, 0, 16, 1000, 0)
	return r
}

// call makes a call, before which it has executed so much of event 0; made is what Leave
// tells.
func (s rankScript) call(name string, comm, other uint64, site, work uint64, made uint64, inside ...func()) {
	h := hookOf(name)
	r := record.Record{Kind: h.Arrive, TSC: s.tick(), Arg1: comm, Arg3: other, Site: site}
	if work > 0 {
		r.Delta = []record.Delta{{Counter: 0, N: work}}
	}
	s.Record(0, r)
	for _, do := range inside {
		do()
	}
	s.Record(0, record.Record{Kind: h.Leave, TSC: s.tick(), Arg1: made, Site: site})
}

// calls are what was filed, by line: communicator, number, instructions.
func calls(list []profile.Section) (out []string) {
	for _, s := range list {
		if s.Kind != profile.MPI {
			continue
		}
		for i, in := range s.Instances {
			out = append(out, fmt.Sprintf("%d: %s %d+%d %d", s.Site/16, in.Call.Comm, in.Call.First, in.Call.N, work(s)[i][0]))
		}
	}
	return out
}

func expectCalls(t *testing.T, s rankScript, want ...string) []profile.Section {
	t.Helper()
	list := s.Finish()
	if got := calls(list); !slices.Equal(got, want) {
		t.Errorf("calls\n%q\nwant\n%q", got, want)
	}
	return list
}

// TestCollectiveCalls: each ends a part; what MPI calls itself does not, nor what is
// done before it begins.
func TestCollectiveCalls(t *testing.T) {
	s := newRank()
	s.call("MPI_Allreduce", world, 0, 32, 5, 0, func() { s.call("PMPI_Bcast", world, 0, 0, 1, 0) })
	s.call("MPI_Barrier", world, 0, 48, 7, 0)
	s.call("mpi_barrier_", 0, 0, 48, 8, 0)
	s.call("MPI_Allreduce", self, 0, 32, 100, 0)
	s.call("MPI_Finalize", 0, 0, 64, 9, 0)
	list := expectCalls(t, s, "2: world 0+1 5", "3: world 1+1 7", "3: world 2+1 8", "4: world 3+1 109")
	if q := list[0].Instances[0].Parts[0]; q.ArriveNS == 0 || q.Site != 32 {
		t.Errorf("%+v", q)
	}
}

// TestCommunicators: each is known by how it came to be, whatever its handle.
func TestCommunicators(t *testing.T) {
	s := newRank()
	s.call("MPI_Comm_split", world, 3, 16, 1, 0x10)
	s.call("MPI_Barrier", 0x10, 0, 32, 2, 0)
	s.call("MPI_Comm_dup", 0x10, 0, 16, 3, 0x20)
	s.call("MPI_Barrier", 0x20, 0, 32, 4, 0)
	s.call("MPI_Comm_split_type", world, 0, 16, 5, 0x10) // the handle once more
	s.call("MPI_Barrier", 0x10, 0, 32, 6, 0)
	s.call("MPI_Comm_split", world, 0xffff_ffff_ffff_8002, 16, 7, 0x30) // MPI_UNDEFINED
	s.call("MPI_Win_create", world, 0, 16, 8, 0x40)
	s.call("MPI_Win_fence", 0x40, 0, 48, 9, 0)
	expectCalls(t, s, "1: world 0+1 1", "1: world/0:3 1+1 3", "1: world 1+1 5", "1: world 2+1 7", "1: world 3+1 8",
		"2: world/0:3 0+1 2", "2: world/0:3/1 0+1 4", "2: world/1@a 0+1 6", "3: world/3 0+1 9")
	if d := s.Doubts(); len(d) > 0 {
		t.Errorf("doubts %v", d)
	}
}

// TestUnknownCommunicators: nothing is filed of what cannot be told, and it is said;
// what was done goes on.
func TestUnknownCommunicators(t *testing.T) {
	for name, make := range map[string]func(s rankScript){
		"strange": func(s rankScript) { s.call("MPI_Barrier", 0x99, 0, 32, 2, 0) },
		"by group": func(s rankScript) {
			s.call("MPI_Comm_create", world, 0, 16, 1, 0x10)
			s.call("MPI_Barrier", 0x10, 0, 32, 2, 0)
		},
		"other kind": func(s rankScript) {
			s.call("MPI_Comm_split_type", world, 7, 16, 1, 0x10)
			s.call("MPI_Barrier", 0x10, 0, 32, 2, 0)
		},
		"of unknown": func(s rankScript) {
			s.call("MPI_Comm_create", world, 0, 16, 1, 0x10)
			s.call("MPI_Comm_dup", 0x10, 0, 16, 0, 0x20)
			s.call("MPI_Barrier", 0x20, 0, 32, 2, 0)
		},
	} {
		s := newRank()
		make(s)
		s.call("MPI_Barrier", world, 0, 64, 3, 0)
		list := calls(s.Finish())
		if last := list[len(list)-1]; last[len(last)-2:] != " 5" || slices.ContainsFunc(list, func(c string) bool { return c[0] == '2' }) {
			t.Errorf("%s: %q", name, list)
		}
		if d := s.Doubts(); len(d) != 1 || d[0].Code != "mpi-communicators" {
			t.Errorf("%s: doubts %v", name, d)
		}
	}
}

// TestHandlesOfMPICH are numbers of 32 bits: what else is in a register does not matter.
func TestHandlesOfMPICH(t *testing.T) {
	s := newRank()
	s.c.MPI = MPI{Numbers: true, World: 0x44000000, Self: 0x44000001, FortranWorld: 0x44000000, FortranSelf: 0x44000001, Shared: 1}
	s.call("MPI_Barrier", 0xdead_0000_4400_0000, 0, 16, 1, 0)
	s.call("mpi_comm_dup_", 0x44000000, 0, 16, 2, 0xbeef_8400_0003)
	s.call("mpi_barrier_f08_", 0x8400_0003, 0, 16, 3, 0)
	expectCalls(t, s, "1: world 0+1 1", "1: world 1+1 2", "1: world/1 0+1 3")
}

// TestWaitsForRanks: calls that take long are waits, for whom they name.
func TestWaitsForRanks(t *testing.T) {
	s := newRank()
	long := func() { s.now += 30000 }
	s.call("MPI_Barrier", world, 0, 16, 0, 0)
	s.call("MPI_Recv", world, 2, 32, 1, 0, long)
	s.call("MPI_Recv", world, 2, 32, 1, 0, long)
	s.call("MPI_Recv", world, 3, 32, 0, 0) // short
	s.call("MPI_Recv", world, 0xffff_ffff, 48, 0, 0, long)
	s.call("MPI_Send", world, 1, 64, 0, 0, long)
	s.call("MPI_Irecv", world, 5, 80, 0, 0x1)
	s.call("MPI_Wait", 0x1, 0, 96, 0, 0, long)
	s.call("MPI_Isend", world, 6, 80, 0, 0x2)
	s.call("MPI_Isend", world, 6, 80, 0, 0x3)
	s.call("MPI_Waitall", 0, 0, 112, 0, 0, long)
	s.call("MPI_Irecv", world, 6, 80, 0, 0x2)
	s.call("MPI_Isend", world, 6, 80, 0, 0x3)
	s.call("MPI_Waitall", 0, 0, 128, 0, 0, long)
	s.call("MPI_Barrier", world, 0, 16, 0, 0)
	list := s.Finish()
	q := list[0].Instances[1].Parts[0]
	var got []string
	for _, m := range q.Messages {
		got = append(got, fmt.Sprintf("%d: %d %v %d", m.Site/16, m.Partner-1, m.Sends, m.N))
	}
	want := []string{"2: 2 false 2", "3: -1 false 1", "4: 1 true 1", "6: 5 false 1", "7: 6 true 1"}
	if !slices.Equal(got, want) {
		t.Errorf("messages %q, want %q", got, want)
	}
	if len(q.Waits) != 6 || q.Waits[0].Kind != profile.WaitMessage || q.Waits[0].N != 2 || q.WaitedNS() < 7*30000 {
		t.Errorf("waits %+v", q.Waits)
	}
}

// TestLongestPartCounts: a rank is as late as its slowest thread makes it.
func TestLongestPartCounts(t *testing.T) {
	s := newRank()
	s.call("MPI_Barrier", world, 0, 16, 100, 0)
	for i := range profile.ThreadID(2) {
		s.creates(0, 64)
		s.born(i+1, 0)
	}
	// The workers meet first, then all do: 50 and then 20, of others than did most before.
	s.at(1, barrierInit, 7, 0)
	s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7, Arg3: 2})
	s.at(1, barrierWait, 7, 32, 50)
	s.at(2, barrierWait, 7, 32, 5)
	s.at(1, barrierLeft, 7, 32)
	s.at(2, barrierLeft, 7, 32)
	s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 8, Arg3: 3})
	s.at(1, barrierWait, 8, 48, 1)
	s.at(2, barrierWait, 8, 48, 20)
	s.at(0, barrierWait, 8, 48, 3)
	for i := range profile.ThreadID(3) {
		s.at(i, barrierLeft, 8, 48)
	}
	s.call("MPI_Barrier", world, 0, 16, 1000, 0)
	list := calls(s.Finish())
	if want := []string{"1: world 0+1 100", "1: world 1+1 1070"}; !slices.Equal(list, want) {
		t.Errorf("%q, want %q", list, want)
	}
}

// TestThreadsOfMPI: those that are created in a call of MPI are in no group that the
// program joins.
func TestThreadsOfMPI(t *testing.T) {
	s := newRank()
	s.call("MPI_Barrier", world, 0, 16, 0, 0, func() {
		s.creates(0, 0)
		s.born(1, 0)
	})
	for i := range profile.ThreadID(2) {
		s.creates(0, 64)
		s.born(i+2, 0)
	}
	for i := range profile.ThreadID(2) {
		s.dies(i+2, 10)
		s.at(0, join, 0, 96)
	}
	s.dies(1)
	for _, x := range s.Finish() {
		if x.Kind == profile.Join && len(x.Instances[0].Parts) != 2 {
			t.Errorf("%d parts", len(x.Instances[0].Parts))
		}
	}
}

// TestThreadsTakeTurns: what a thread did is not known where another one called since.
func TestThreadsTakeTurns(t *testing.T) {
	s := newRank()
	s.call("MPI_Barrier", world, 0, 16, 1, 0)
	s.creates(0, 64)
	s.born(1, 0)
	h := hookOf("MPI_Barrier")
	for range 2 {
		s.Record(1, record.Record{Kind: h.Arrive, TSC: s.tick(), Arg1: world, Site: 16, Delta: []record.Delta{{Counter: 0, N: 5}}})
		s.Record(1, record.Record{Kind: h.Leave, TSC: s.tick()})
	}
	s.call("MPI_Barrier", world, 0, 16, 7, 0)
	s.call("MPI_Barrier", world, 0, 16, 8, 0)
	expectCalls(t, s, "1: world 0+1 1", "1: world 2+1 5", "1: world 4+1 8")
	if d := s.Doubts(); len(d) != 1 || d[0].Code != "mpi-threads" {
		t.Errorf("doubts %v", d)
	}
}

// TestManyCalls: beyond some, groups are added up, the same ones by all ranks.
func TestManyCalls(t *testing.T) {
	s := newRank()
	const n = 5000
	for range n {
		s.call("MPI_Barrier", world, 0, 16, 2, 0)
	}
	list := s.Finish()
	if k := len(list[0].Instances); k > singleCalls+3*singleCalls/2 {
		t.Errorf("%d instances are kept", k)
	}
	sum, next := uint64(0), uint64(0)
	for _, in := range list[0].Instances {
		if in.Call.First != next {
			t.Fatalf("after %d calls comes one that is the %d-th", next, in.Call.First)
		}
		next += uint64(in.Call.N)
		for _, x := range in.Parts[0].Counts.N {
			sum += x
		}
	}
	if next != n || sum != 2*n {
		t.Errorf("%d calls with %d instructions, want %d with %d", next, sum, n, 2*n)
	}
}

// TestCutOff: a rank that is killed in a call has come to it, and it is not known for
// how long it waited.
func TestCutOff(t *testing.T) {
	s := newRank()
	s.call("MPI_Barrier", world, 0, 16, 1, 0)
	s.Record(0, record.Record{Kind: hookOf("MPI_Barrier").Arrive, TSC: s.tick(), Arg1: world, Site: 16, Delta: []record.Delta{{Counter: 0, N: 5}}})
	list := expectCalls(t, s, "1: world 0+1 1", "1: world 1+1 5")
	if q := list[0].Instances[1].Parts[0]; q.Timed || q.WaitNS != 0 {
		t.Errorf("%+v", q)
	}
}
