package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// perfProfile is a run of eight threads that met once, of which only counters are known:
// the k-th took k more cycles of a hundred, by misses at one instruction.
func perfProfile(names ...string) *profile.Profile {
	p := &profile.Profile{Run: profile.Run{Backend: "perf", WallNS: 1e9}}
	at := map[string]profile.EventID{}
	add := func(name string, addr profile.Addr) {
		at[name] = profile.EventID(len(p.Events))
		p.Events = append(p.Events, profile.Event{Kind: profile.Hardware, Block: profile.NoBlock, Edge: -1, Name: name, Addr: addr, Superior: profile.NoEvent})
	}
	for _, n := range names {
		add(n, 0)
	}
	add(profile.CacheMiss, 0x1000)
	in := profile.Instance{SpanNS: 1e9, Folded: 1}
	for k := range 8 {
		var c profile.Counts
		for i := range names {
			n := map[string]uint64{"cycles": 100e6 + uint64(k*k)*1e6, "instructions": 50e6, "task-clock": 30e6 + uint64(k*k)*1e6}[names[i]]
			c.Event, c.N = append(c.Event, profile.EventID(i)), append(c.N, n)
		}
		c.Event, c.N = append(c.Event, at[profile.CacheMiss]), append(c.N, 2003*uint64(1+k*k))
		p.Threads = append(p.Threads, profile.Thread{ID: profile.ThreadID(k), EndNS: 1e9, Totals: c})
		in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(k), Counts: c, BeginNS: 1, ArriveNS: 2})
	}
	p.Sections = []profile.Section{{Kind: profile.Barrier, Site: 0x2000, Instances: []profile.Instance{in}}}
	return p
}

// TestPerfReport: the response is what the processor counts, or else the kernel, and the
// report says which; what was not counted is not there; misses are the cause.
func TestPerfReport(t *testing.T) {
	for _, c := range []struct {
		counters []string
		response string
	}{
		{[]string{"task-clock", "cycles", "instructions"}, "cycles"},
		{[]string{"task-clock"}, "task-clock"},
	} {
		r, err := New(perfProfile(c.counters...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := &r.Sections[0]
		if r.Run.Response != c.response || s.Imbalance == nil || *s.Imbalance < 0.1 || s.Balanced {
			t.Errorf("%v: %+v, imbalance %v", c.counters, r.Run, s.Imbalance)
		}
		if len(s.Causes) != 1 || s.Causes[0].Kind != "cache-miss" || s.Causes[0].Location.Address != "0x1000" || s.Causes[0].Level != "" || s.Causes[0].Share < 0.9 {
			t.Errorf("%v: causes %+v", c.counters, s.Causes)
		}
		h := s.Hardware
		if (h.Cycles != nil) != (c.response == "cycles") || (h.IPC != nil) != (c.response == "cycles") || h.CPUS == nil || h.CacheMisses != nil || h.Migrations != nil {
			t.Errorf("%v: %+v", c.counters, h)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Threads {
			if !s.Threads[i].Uncounted() {
				t.Errorf("%v: thread %d was counted", c.counters, i)
			}
		}
		threads := string(b[strings.Index(string(b), `"threads":[`):])
		threads = threads[:strings.Index(threads, "]")]
		if strings.Count(threads, `"slot"`) != 8 || strings.Contains(threads, `"instructions":0`) || strings.Contains(threads, `"cycles"`) != (c.response == "cycles") {
			t.Errorf("%v: %s", c.counters, threads)
		}
	}
}

// TestPerfReportOfNothing: where nothing is known of a section, it has no imbalance, and is
// not called balanced.
func TestPerfReportOfNothing(t *testing.T) {
	r, err := New(perfProfile(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &r.Sections[0]
	if s.Imbalance != nil || s.Balanced || len(s.Warnings) != 1 || s.Warnings[0].Code != "not-measured" || s.Hardware != nil {
		t.Errorf("%+v", s)
	}
	if _, err := New(perfProfile(), Options{}); err != nil {
		t.Error(err)
	}
}

// TestPerfReportWithoutInstructions: they are not known, and nobody is told that all did as
// many.
func TestPerfReportWithoutInstructions(t *testing.T) {
	opt := Options{}
	opt.Lime.Response = profile.Instructions
	if _, err := New(perfProfile("task-clock", "cycles", "instructions"), opt); err == nil || !strings.Contains(err.Error(), "not known") {
		t.Errorf("got %v", err)
	}
}
