package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
)

// Places of the profiles below.
const (
	meetAt  profile.Addr = 0x10
	lockAt  profile.Addr = 0x20
	lockToo profile.Addr = 0x28 // a copy of the same line
	sleepAt profile.Addr = 0x30 // in a header, inlined
	ms                   = int64(1e6)
)

// part is one of a thread that worked for some time, waited, and then waited for the last.
func part(id profile.ThreadID, busy, end int64, ws ...profile.Wait) profile.Part {
	return profile.Part{Thread: id, Site: meetAt, Timed: true, BusyNS: busy * ms, WaitNS: end * ms, Waits: profile.SumWaits(ws)}
}

func waited(k profile.WaitKind, at profile.Addr, n int64) profile.Wait {
	return profile.Wait{Kind: k, Site: at, NS: n * ms, N: 1}
}

// waitingProfile is of one barrier whose instances have these parts.
func waitingProfile(span int64, instances ...[]profile.Part) *profile.Profile {
	p := &profile.Profile{
		Program: profile.Program{Path: "/bin/x"}, Run: profile.Run{Backend: "native", WallNS: 1e9},
		Locations: []profile.Location{
			{Address: meetAt, Frame: profile.Frame{File: "/src/x.c", Line: 10, Function: "run"}},
			{Address: lockAt, Frame: profile.Frame{File: "/src/x.c", Line: 20, Function: "put"}},
			{Address: lockToo, Frame: profile.Frame{File: "/src/x.c", Line: 20, Function: "put"}},
			{Address: sleepAt, Frame: profile.Frame{File: "/usr/include/c++/12/bits/this_thread_sleep.h", Line: 80},
				InlinedAt: []profile.Frame{{File: "/src/x.c", Line: 30, Function: "run"}}},
		},
	}
	s := profile.Section{Kind: profile.Barrier, Site: meetAt}
	for _, parts := range instances {
		s.Instances = append(s.Instances, profile.Instance{Folded: 1, SpanNS: span * ms, Parts: parts})
	}
	for i := range instances[0] {
		p.Threads = append(p.Threads, profile.Thread{ID: instances[0][i].Thread})
	}
	p.Sections = []profile.Section{s}
	return p
}

// balancedWork finds all work equal.
func balancedWork(s *profile.Section, _ lime.Options) (*lime.Result, error) {
	res := &lime.Result{Response: profile.Instructions, Instances: len(s.Instances), Balanced: true}
	for _, q := range s.PartsByThread() {
		res.Threads = append(res.Threads, lime.ThreadTotal{Thread: q.Thread, Instructions: 1000, BusyNS: q.BusyNS, WaitNS: q.WaitNS, Timed: q.Timed})
	}
	return res, nil
}

func reportOf(t *testing.T, p *profile.Profile) *Section {
	t.Helper()
	r, err := New(p, Options{Analyse: balancedWork})
	if err != nil {
		t.Fatal(err)
	}
	return &r.Sections[0]
}

// TestLittleFaults: page faults that took next to nothing are not shown.
func TestLittleFaults(t *testing.T) {
	p := waitingProfile(300, []profile.Part{
		part(1, 200, 100, waited(profile.WaitFault, lockAt, 5), profile.Wait{Kind: profile.WaitFault, NS: 400_000, N: 90}),
		part(2, 300, 0, profile.Wait{Kind: profile.WaitSleep, Site: sleepAt, NS: 400_000, N: 1}),
	})
	got := []string{}
	for _, w := range reportOf(t, p).Waits {
		got = append(got, w.Kind)
	}
	if want := []string{"barrier", "fault", "sleep"}; !slices.Equal(got, want) {
		t.Errorf("waits by %v, want %v", got, want)
	}
}

// TestIdleOfSome: where it is not known of all threads how long they waited, it is not known
// how long they did together.
func TestIdleOfSome(t *testing.T) {
	tasks := part(1, 0, 0)
	tasks.Timed = false
	if s := reportOf(t, waitingProfile(6, []profile.Part{tasks, part(2, 2, 4)})); s.IdleS != nil || s.Threads[1].WaitS == nil {
		t.Errorf("waited %v in all, the second one %v", s.IdleS, s.Threads[1].WaitS)
	}
}

// TestSleeper: one thread sleeps, the others wait for it. All waiting comes
// from that, and without it the section would be as much shorter (rule 18).
func TestSleeper(t *testing.T) {
	in := []profile.Part{part(1, 2, 0, waited(profile.WaitSleep, sleepAt, 4)), part(2, 2, 4), part(3, 2, 4)}
	s := reportOf(t, waitingProfile(6, in, in))
	if len(s.Causes) != 1 {
		t.Fatalf("causes %+v", s.Causes)
	}
	c := s.Causes[0]
	if c.Kind != "sleep" || c.Leader != "" || c.Location.Short() != "x.c:30" || c.Share != 1 || *c.Gain.Seconds != 0.008 || c.Rank != 1 {
		t.Errorf("cause %+v, gain %v", c, *c.Gain.Seconds)
	}
	if c.Counts[0] != 2 || c.Counts[1] != 0 || !strings.Contains(c.Message, "thread 1 slept here, 8.00 ms in all") {
		t.Errorf("counts %v: %s", c.Counts, c.Message)
	}
	if s.Negligible || !s.Balanced {
		t.Error("the work is balanced, and the section matters all the same")
	}
	if len(s.Waits) != 2 || s.Waits[0].Kind != "barrier" || s.Waits[0].Seconds != 0.016 || s.Waits[0].Threads != 2 || s.Waits[1].Kind != "sleep" {
		t.Errorf("waits %+v", s.Waits)
	}
}

// TestInputOnFewCores: where threads share cores, a cause that is input or output is
// doubted; sleep is none, and on cores enough nothing is.
func TestInputOnFewCores(t *testing.T) {
	for _, c := range []struct {
		kind  profile.WaitKind
		cores int
		doubt bool
	}{{profile.WaitIO, 2, true}, {profile.WaitIO, 3, false}, {profile.WaitIO, 0, false}, {profile.WaitSleep, 2, false}} {
		p := waitingProfile(6, []profile.Part{part(1, 2, 0, waited(c.kind, lockAt, 4)), part(2, 2, 4), part(3, 2, 4)})
		p.Run.Cores = c.cores
		s := reportOf(t, p)
		if len(s.Causes) != 1 {
			t.Fatalf("%+v: causes %+v", c, s.Causes)
		}
		if got := slices.ContainsFunc(s.Warnings, func(w Warning) bool { return w.Code == "io-cores" }); got != c.doubt {
			t.Errorf("%+v: warnings %+v", c, s.Warnings)
		}
	}
}

// TestLock: threads that do the same one after the other. Copies of a line are
// one place.
func TestLock(t *testing.T) {
	in := []profile.Part{part(1, 2, 4), part(2, 2, 2, waited(profile.WaitLock, lockAt, 2)), part(3, 2, 0, waited(profile.WaitLock, lockToo, 4))}
	s := reportOf(t, waitingProfile(6, in))
	if len(s.Causes) != 1 || s.Causes[0].Kind != "lock" || s.Causes[0].Share != 1 || s.Causes[0].Location.Line != 20 {
		t.Fatalf("causes %+v", s.Causes)
	}
	if w := s.Waits; len(w) != 2 || w[0].Seconds != 0.006 || w[1].Seconds != 0.006 || w[1].Kind != "barrier" && w[0].Kind != "barrier" {
		t.Errorf("waits %+v", w)
	}
}

// TestWaitsThatMatterNot: a wait that does not hold the others up is no cause,
// nor is one of a kind that is only how threads meet.
func TestWaitsThatMatterNot(t *testing.T) {
	for name, in := range map[string][]profile.Part{
		"short":           {part(1, 100, 0, waited(profile.WaitSleep, sleepAt, 1)), part(2, 100, 1)},
		"of the early":    {part(1, 2, 5, waited(profile.WaitSleep, sleepAt, 4)), part(2, 11, 0)},
		"condition":       {part(1, 2, 0, waited(profile.WaitCondition, lockAt, 4)), part(2, 2, 4)},
		"without a place": {part(1, 2, 0, waited(profile.WaitIO, 0, 4)), part(2, 2, 4)},
		"none":            {part(1, 2, 0), part(2, 2, 4)},
	} {
		if s := reportOf(t, waitingProfile(12, in)); len(s.Causes) != 0 {
			t.Errorf("%s: causes %+v", name, s.Causes)
		}
	}
}

// TestNegligibleInJSON: who reads the JSON is told what --fail-above passes over.
func TestNegligibleInJSON(t *testing.T) {
	p := waitingProfile(6, []profile.Part{part(1, 2, 0), part(2, 2, 0)})
	r, err := New(p, Options{Analyse: balancedWork})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"negligible": true`) || !strings.Contains(b.String(), `"waits": []`) {
		t.Error(b.String())
	}
}
