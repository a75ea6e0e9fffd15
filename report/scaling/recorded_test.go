package scaling

import (
	"math"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// meetings is a recorded run of p threads that meet twice at a barrier: the k-th works for
// (k+1)/10 s, waits for a file for 10 ms in the first round, and for a lock for 20 ms.
func meetings(p int) *profile.Profile {
	out := &profile.Profile{Program: profile.Program{Path: "/src/solver"}, Run: profile.Run{Backend: "native"}}
	out.Locations = []profile.Location{
		{Address: 0x1000, Frame: profile.Frame{File: "/src/owner.c", Line: 70, Function: "work"}},
		{Address: 0x2000, Frame: profile.Frame{File: "/src/owner.c", Line: 60, Function: "work"}},
	}
	out.Threads = append(out.Threads, profile.Thread{EndNS: 1, CPUNS: 1})
	s := profile.Section{Kind: profile.Barrier, Site: 0x1000}
	at := int64(50e6)
	for range 2 {
		in := profile.Instance{Folded: 1}
		last := at + int64(p)*100e6 + 30e6
		for k := range p {
			busy := int64(k+1) * 100e6
			q := profile.Part{Thread: profile.ThreadID(k + 1), Slot: profile.SlotID(k + 1), Site: 0x1000, Timed: true, BusyNS: busy, BeginNS: at, ArriveNS: at + busy + 30e6}
			q.Waits = []profile.Wait{{Kind: profile.WaitLock, Site: 0x2000, NS: 20e6, N: 2}, {Kind: profile.WaitIO, NS: 10e6, N: 1}}
			q.WaitNS = last - q.ArriveNS
			in.Parts = append(in.Parts, q)
		}
		in.SpanNS = last - at
		s.Instances = append(s.Instances, in)
		at = last
	}
	out.Sections = []profile.Section{s}
	for k := range p {
		out.Threads = append(out.Threads, profile.Thread{ID: profile.ThreadID(k + 1), BeginNS: 50e6, EndNS: at, CPUNS: int64(k+1) * 200e6, Creator: 1})
	}
	out.Run.WallNS = at + 50e6
	out.Threads[0].EndNS = out.Run.WallNS
	return out
}

// recorded is the run of meetings on as many cores as it has threads.
func recorded(t *testing.T, p int) *Recorded {
	t.Helper()
	cpu := 0.08 // outside of the section
	for k := range p {
		cpu += float64(k+1) * .2
	}
	x, err := NewRecorded(meetings(p), p, cpu, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func about(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// What a section takes is taken from the profile: its time, the work of its threads, what
// the slowest needs, and what is left of the run outside of it.
func TestRecordedSections(t *testing.T) {
	x := recorded(t, 4)
	if len(x.sections) != 2 {
		t.Fatalf("%+v", x.sections)
	}
	s := x.sections[0]
	if !s.timed || !about(float64(s.run.Wall), .86) || !about(float64(*s.run.CPU), 2) || !about(float64(*s.run.Queue), 0) || s.slowest.Threads != 4 || !about(float64(s.slowest.Needs), .82) || !about(float64(s.slowest.Own), .08) {
		t.Errorf("%+v, CPU %v, queue %v", s, *s.run.CPU, *s.run.Queue)
	}
	busy, err := NewRecorded(meetings(4), 4, 2.08, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if o := busy.sections[1]; !about(float64(*o.run.Queue), .02) {
		t.Errorf("outside, on a machine that others use: %v", *o.run.Queue)
	}
	o := x.sections[1]
	if o.key.kind != Outside || !about(float64(o.run.Wall), .1) || !about(float64(*o.run.CPU), .08) || o.slowest.Threads != 1 {
		t.Errorf("outside: %+v", o)
	}
}

// Time in which a thread neither works nor waits for what is known is waiting for a core,
// but no more than the kernel says.
func TestRecordedQueue(t *testing.T) {
	p := meetings(2)
	for i := range p.Sections[0].Instances {
		p.Sections[0].Instances[i].Parts[1].BusyNS -= 50e6
	}
	for want, seen := range map[float64]float64{.1: .5, .06: .9} {
		x, err := NewRecorded(p, 2, .6, .054, seen)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(*x.sections[0].run.Queue); !about(got, want) {
			t.Errorf("%v of the CPU time was seen: queue %v, want %v", seen, got, want)
		}
	}
}

// Sections that hold others, or of which the CPU time is not known, say nothing.
func TestRecordedUnknown(t *testing.T) {
	inner, untimed := meetings(2), meetings(2)
	inner.Sections[0].Instances[0].Parts[0].InnerBusyNS = 100e6
	q := &untimed.Sections[0].Instances[0].Parts[0]
	q.Timed, q.BusyNS, q.WaitNS = false, 0, 0
	for _, p := range []*profile.Profile{inner, untimed} {
		x, err := NewRecorded(p, 2, .6, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(x.sections) != 1 || x.sections[0].timed {
			t.Errorf("%+v", x.sections)
		}
		r := New(study(t))
		if r.AddSections([]*Recorded{x}); len(r.Sections) != 0 || len(r.Recorded) != 1 {
			t.Errorf("%+v", r.Sections)
		}
	}
	// Goroutines' busy time is that of a clock on the wall.
	p := meetings(2)
	p.Sections[0].Kind = profile.Goroutines
	for queue, want := range map[float64]bool{.001: true, .3: false} {
		x, err := NewRecorded(p, 2, .6, queue, 1)
		if err != nil {
			t.Fatal(err)
		}
		r := New(study(t))
		if r.AddSections([]*Recorded{x}); x.sections[0].timed != want || (r.Recorded[0].Slowdown != nil) != want {
			t.Errorf("queue %v: %+v, %+v", queue, x.sections, r.Recorded)
		}
	}
	if _, err := NewRecorded(nil, 2, 1, 0, 1); err == nil {
		t.Error("a run without a profile")
	}
}
