package words

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/report"
)

func TestSystemHeadersAreFolded(t *testing.T) {
	got := Paths{}.Inlined([]report.Place{
		{File: "/src/a.cc", Line: 1}, {File: "/usr/include/c++/12/bits/invoke.h", Line: 2}, {File: "/usr/include/c++/12/thread", Line: 3}, {File: "/src/a.cc", Line: 4},
	})
	if want := "inlined at /src/a.cc:1|inlined through 2 lines of system headers|inlined at /src/a.cc:4"; strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
}

func TestPaths(t *testing.T) {
	place := report.Place{File: "/src/a/b.c", Line: 3, Column: 5, Function: "f<int>"}
	for _, c := range []struct {
		dir  string
		at   report.Place
		want string
	}{
		{"", place, "/src/a/b.c:3:5 f<int>"},
		{"/src", place, "a/b.c:3:5 f<int>"},
		{"/src/a/c", place, "/src/a/b.c:3:5 f<int>"}, // not below it
		{"", report.Place{File: "/a\x1b.c", Line: 3}, "/a\ufffd.c:3"},
		{"", report.Place{Function: "f", Offset: "0x1f"}, "f+0x1f"},
		{"", report.Place{Library: "/lib/a.so", Address: "0x10"}, "a.so+0x10"},
	} {
		if got := (Paths{c.dir}).Place(c.at); got != c.want {
			t.Errorf("below %q: %q, want %q", c.dir, got, c.want)
		}
	}
}

func TestSectionNames(t *testing.T) {
	at := &report.Location{Place: report.Place{File: "/src/a.c", Line: 3, Function: "work"}}
	for _, c := range []struct {
		want string
		s    report.Section
	}{
		{"a.c:3 work", report.Section{ID: "a.c:3", Location: at}},
		{"a.c:3#2 work", report.Section{ID: "a.c:3#2", Location: at}},
		{"threads", report.Section{ID: "threads"}},
		{"0x\ufffd", report.Section{ID: "0x\x1b", Location: &report.Location{}}},
	} {
		if got := (Paths{"/src"}).Section(&c.s); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestCallers(t *testing.T) {
	if Callers(nil) != nil || Callers(&report.Path{Thread: 2}) != nil {
		t.Error("want nothing where nothing calls it")
	}
	p := &report.Path{Thread: 2, Calls: make([]report.Place, 9)}
	for i := range p.Calls {
		p.Calls[i] = report.Place{File: "/src/a.c", Line: i + 1, Function: "f"}
	}
	want := "thread 2 comes from: a.c:1 f, a.c:2 f, a.c:3 f, a.c:4 f, a.c:5 f, a.c:6 f, 3 more"
	if got := strings.Join(Callers(p), ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func f(x float64) *float64 { return &x }

func TestRun(t *testing.T) {
	for _, c := range []struct {
		want string
		r    report.Report
	}{
		{"1 thread, native backend, measured in busy time", report.Report{Run: report.Run{Threads: 1, Backend: "native", Response: "busy-time"}}},
		{"8 threads on 1 core, x backend, measured in instructions, 844 ms, 1.04× a plain run, exit status 7, counted 1 of 2 functions (>99.9 % of the code)",
			report.Report{Run: report.Run{Threads: 8, Cores: 1, Backend: "x", Response: "instructions", WallS: f(.844), Slowdown: f(1.04), ExitCode: 7},
				Coverage: report.Coverage{Functions: 1, FunctionsTotal: 2, InstructionsPct: f(99.99)}}},
		{"2 threads, x backend, measured in instructions, counted 1 of 1 function (100 % of the code)",
			report.Report{Run: report.Run{Threads: 2, Backend: "x", Response: "instructions", ExitCode: 7, Signal: "SIGSEGV"},
				Coverage: report.Coverage{Functions: 1, FunctionsTotal: 1, InstructionsPct: f(100)}}},
	} {
		if got := strings.Join(Run(&c.r), ", "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	r := &report.Report{Program: report.Program{Path: "/src/a", Args: []string{"1", "\x1b"}}}
	if got := (Paths{"/src"}).Command(r); got != "a 1 \ufffd" {
		t.Errorf("command %q", got)
	}
}

func TestVerdicts(t *testing.T) {
	doubt := []report.Warning{{Code: "x", Message: "y"}}
	for _, c := range []struct {
		want   string
		brief  bool
		doubts int
		s      report.Section
	}{
		{"never completed", true, 1, report.Section{Warnings: doubt}},
		{"balanced", true, 1, report.Section{Imbalance: f(0), Balanced: true, Negligible: true, Warnings: doubt}},
		{"imbalance 40 %, too short to matter", true, 0, report.Section{Imbalance: f(.4), Negligible: true, Warnings: doubt}},
		{"", false, 1, report.Section{Imbalance: f(.4), Warnings: doubt}},
	} {
		if Brief(&c.s) != c.brief || len(Warnings(&c.s)) != c.doubts || c.brief && Verdict(&c.s) != c.want {
			t.Errorf("%q, brief %v, %d doubts, want %q, %v, %d", Verdict(&c.s), Brief(&c.s), len(Warnings(&c.s)), c.want, c.brief, c.doubts)
		}
	}
}

func TestGainAndKinds(t *testing.T) {
	for _, c := range []struct {
		want string
		time *float64
		g    report.Gain
	}{
		{"36 %", nil, report.Gain{Fraction: .36, Seconds: f(.1)}},
		{"36 %", f(1), report.Gain{Fraction: .36}},
		{"0.36 s (36 %)", f(1), report.Gain{Fraction: .36, Seconds: f(.36)}},
	} {
		if got := Gain(&report.Section{TimeS: c.time}, &c.g); got != c.want {
			t.Errorf("gain %q, want %q", got, c.want)
		}
	}
	for leader, want := range map[string]string{"branch": "taken", "loop": "rounds", "recursion": "calls", "start": "begins", "": "counts"} {
		if got := Counted(&report.Cause{Leader: leader}); got != want {
			t.Errorf("counts of a %s are %q, want %q", leader, got, want)
		}
	}
	if a, b := Kind(&report.Cause{Kind: "control-flow", Leader: "loop"}), Kind(&report.Cause{Kind: "page\x1bfault"}); a != "loop" || b != "page\ufffdfault" {
		t.Errorf("kinds %q and %q", a, b)
	}
	miss := report.Cause{Kind: "cache-miss", Level: "l1d", Miss: "coherence", Sharing: "false"}
	if a, b := Kind(&miss), Counted(&miss); a != "L1 misses (false sharing)" || b != "misses" {
		t.Errorf("%q, which are %q", a, b)
	}
	if miss.Sharing, miss.Miss = "", "capacity"; Kind(&miss) != "L1 misses (capacity)" {
		t.Errorf("%q", Kind(&miss))
	}
}
