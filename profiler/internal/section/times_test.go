package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// timing is a script of which only times are of interest: records bear CPU clocks.
func timing(times bool) *script {
	s := newScript(1 << 20)
	s.c.Times, s.out.c.Times = times, times
	return s
}

func (s *script) clocked(id profile.ThreadID, kind uint32, arg uint64, cpu int64) {
	s.Record(id, record.Record{Kind: kind, TSC: s.tick(), Arg1: arg, Arg3: arg, Site: 320, CPUNS: cpu})
}

// Where only times are of interest a lone thread meets nobody, and that is an instance.
func TestTimesOfALoneThread(t *testing.T) {
	for _, times := range []bool{false, true} {
		s := timing(times)
		s.born(0, -1)
		s.clocked(0, barrierInit, 1, 1)
		for k := range int64(3) {
			s.clocked(0, barrierWait, 1, 10*k+5)
			s.clocked(0, barrierLeft, 1, 10*k+6)
		}
		got := s.Finish()
		if met := len(got) == 1 && got[0].Kind == profile.Barrier && len(got[0].Instances) == 3; met != times {
			t.Errorf("times %v: %+v", times, got)
		}
	}
}

// Who creates threads and joins them takes part if it worked for a good part of their
// lives in between; not if they hardly worked either, or it waits.
func TestTimesOfACreator(t *testing.T) {
	for parts, busy := range map[int]int64{2: 1, 3: 9} {
		s := timing(true)
		s.born(0, -1)
		for i := range profile.ThreadID(2) {
			s.clocked(0, create, 64, 10)
			s.born(i+1, 0)
		}
		s.clocked(0, join, 1, 10+busy)
		for range 5 {
			s.tick()
		}
		s.Died(1, s.tick(), 1, nil, 0)
		s.clocked(0, join, 2, 11+busy)
		s.Died(2, s.tick(), 1, nil, 0)
		got := s.Finish()
		if len(got) != 1 || got[0].Kind != profile.Join || len(got[0].Instances) != 1 || len(got[0].Instances[0].Parts) != parts {
			t.Errorf("busy for %d: %+v, want %d parts", busy, got, parts)
		}
	}
}
