package words

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/report"
)

func TestWaited(t *testing.T) {
	imbalance, idle := .25, 2.0
	if s := (&report.Section{Imbalance: &imbalance}); Imbalance(s) != "imbalance 25 %" || Waited(s) != "" {
		t.Errorf("%q, %q", Imbalance(s), Waited(s))
	}
	s := &report.Section{Imbalance: &imbalance, Balanced: true, IdleS: &idle}
	if Imbalance(s) != "work is balanced" || Waited(s) != "threads waited 2.00 s in all" {
		t.Errorf("%q, %q", Imbalance(s), Waited(s))
	}
	at := &report.Location{Place: report.Place{File: "/a/b.c", Line: 7}}
	for kind, want := range map[string]string{
		"lock": "for the lock at b.c:7", "sleep": "asleep at b.c:7", "io": "for input or output at b.c:7", "fault": "for memory at b.c:7", "join": "at b.c:7 (join)",
	} {
		s.Waits = []report.Wait{{Kind: kind, Location: at, Seconds: 1}, {Kind: "barrier", Seconds: .5}, {Kind: "lock"}, {Kind: "io"}}
		if got := Waited(s); !strings.Contains(got, want) || !strings.Contains(got, "at an unknown place (barrier)") || !strings.HasSuffix(got, "1 more") {
			t.Errorf("%s: %q", kind, got)
		}
	}
	s.Waits[0].Kind = "join"
	s.Waits[0].Waker = &report.Waker{Location: at, Share: 1, Threads: 2}
	if got := Waited(s); !strings.Contains(got, "(ended by 2 threads at b.c:7)") {
		t.Error(got)
	}
}

func TestVirtualCycles(t *testing.T) {
	for want, v := range map[string]*report.Virtual{
		"": nil,
		"12.0 M cycles on 8 virtual cores, 3,000 waited in all": {Cores: 8, Span: 12e6, Wait: 3000},
		"7 cycles on 1 virtual core, 0 waited in all":           {Cores: 1, Span: 7},
	} {
		if got := Virtual(&report.Section{Virtual: v}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
