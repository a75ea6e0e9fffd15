package perfetto

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/skewlens/skewlens/export"
	"github.com/skewlens/skewlens/export/internal/exporttest"
	"github.com/skewlens/skewlens/internal/golden"
	"github.com/skewlens/skewlens/profile"
)

// fields reads a message back without knowing what it means.
func fields(t *testing.T, b []byte) map[protowire.Number][]any {
	t.Helper()
	out := map[protowire.Number][]any{}
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var v any
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			var bits uint64
			bits, n = protowire.ConsumeFixed64(b)
			v = math.Float64frombits(bits)
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d has type %d", field, kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		out[field], b = append(out[field], v), b[n:]
	}
	return out
}

// readTrace puts a trace into words, as a viewer would understand it.
func readTrace(t *testing.T, trace []byte) string {
	t.Helper()
	var out strings.Builder
	names, open, last := map[uint64]string{}, map[uint64][]string{}, map[uint64]uint64{}
	text := func(v any) string { return string(v.([]byte)) }
	for _, raw := range fields(t, trace)[1] {
		p := fields(t, raw.([]byte))
		if p[10][0] != uint64(1) {
			t.Error("a packet without its sequence")
		}
		if d := p[60]; d != nil {
			f := fields(t, d[0].([]byte))
			id := f[1][0].(uint64)
			switch {
			case f[3] != nil:
				q := fields(t, f[3][0].([]byte))
				names[id] = fmt.Sprintf("process %d %q (%s)", q[1][0], text(q[6][0]), text(q[8][0]))
			case f[4] != nil:
				q := fields(t, f[4][0].([]byte))
				names[id] = fmt.Sprintf("thread %d/%d %q", q[1][0], q[2][0], text(q[5][0]))
			case f[8] != nil:
				names[id] = fmt.Sprintf("counter %q in %s", text(f[2][0]), text(fields(t, f[8][0].([]byte))[6][0]))
			default:
				names[id] = fmt.Sprintf("%q", text(f[2][0]))
			}
			if f[5] != nil && names[f[5][0].(uint64)] == "" {
				t.Errorf("%s has an unknown parent", names[id])
			}
			fmt.Fprintf(&out, "track %s\n", names[id])
			continue
		}
		e := fields(t, p[11][0].([]byte))
		track, at := e[11][0].(uint64), p[8][0].(uint64)
		if names[track] == "" || at < last[track] {
			t.Errorf("an event at %d on track %q, after %d", at, names[track], last[track])
		}
		last[track] = at
		args := []string{}
		for _, a := range e[4] {
			q := fields(t, a.([]byte))
			v := any(nil)
			if q[3] != nil {
				v = q[3][0]
			} else {
				v = text(q[6][0])
			}
			args = append(args, fmt.Sprintf("%s=%v", text(q[10][0]), v))
		}
		for field, what := range map[protowire.Number]string{47: "flow %d begins", 48: "flow %d ends"} {
			for _, v := range e[field] {
				args = append(args, fmt.Sprintf(what, math.Float64bits(v.(float64))))
			}
		}
		slices.Sort(args[len(e[4]):])
		switch e[9][0] {
		case uint64(1):
			fmt.Fprintf(&out, "%6d begin %s %v\n", at, text(e[23][0]), args)
			open[track] = append(open[track], text(e[23][0]))
		case uint64(2):
			n := len(open[track]) - 1
			if n < 0 {
				t.Fatalf("%s: an end at %d without a begin", names[track], at)
			}
			fmt.Fprintf(&out, "%6d end   %s\n", at, open[track][n])
			open[track] = open[track][:n]
		case uint64(3):
			fmt.Fprintf(&out, "%6d %s %v\n", at, text(e[23][0]), args)
		case uint64(4):
			fmt.Fprintf(&out, "%6d %.1f\n", at, e[44][0])
		}
	}
	for track, o := range open {
		if len(o) > 0 {
			t.Errorf("%s: %v never ends", names[track], o)
		}
	}
	return out.String()
}

func traceOf(t *testing.T, p *profile.Profile, sections []export.Section, doubts ...profile.Warning) string {
	t.Helper()
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, p, sections, nil, doubts); err != nil {
		t.Fatal(err)
	}
	return readTrace(t, b.Bytes())
}

func TestGoldenPerfetto(t *testing.T) {
	p, sections := exporttest.Called(t)
	golden.Check(t, "called.perfetto.txt", []byte(traceOf(t, p, sections)))
	p, sections = exporttest.Mixed(t)
	golden.Check(t, "mixed.perfetto.txt", []byte(traceOf(t, p, sections,
		profile.Warning{Code: "fork", Message: "the program forked: children were not counted"},
		profile.Warning{Code: "ended-by-signal", Message: "the program was ended by SIGSEGV: the report covers the run up to there"},
		profile.Warning{Code: "low-coverage", Message: "only 90 % of the program's code was counted (left alone: a, b, c and 1 more): a cause in the rest cannot be seen"},
		profile.Warning{Code: "shared-cores", Message: "4 threads shared 2 cores: seconds are this run's, and would differ with a core for each thread"})))
}

// Where one part has no times, all are laid out, and the trace says so.
func TestPerfettoSaysWhereTimesComeFrom(t *testing.T) {
	p, sections := exporttest.Called(t)
	if got := traceOf(t, p, sections); !strings.Contains(got, "times as measured") || !strings.Contains(got, "  3500 end   called.c:23") {
		t.Errorf("measured times:\n%s", got)
	}
	p.Sections[0].Instances[0].Parts[1].ArriveNS = 0
	got := traceOf(t, p, sections)
	for _, want := range []string{"times are not measured", "     0 begin called.c:23", "  3000 end   wait"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}

// TestPerfettoFollowsThePath: each step of the critical path is a slice, and a flow
// leads from each to the next. Where times are not measured there are none.
func TestPerfettoFollowsThePath(t *testing.T) {
	p, sections := exporttest.Called(t)
	path := []export.Step{{Thread: 0, FromNS: 100, ToNS: 500}, {Thread: 1, FromNS: 600, ToNS: 900}, {Thread: 0, FromNS: 900, ToNS: 1000}}
	trace := func() string {
		var b bytes.Buffer
		if err := Write(&b, p, sections, path, nil); err != nil {
			t.Fatal(err)
		}
		return readTrace(t, b.Bytes())
	}
	got := trace()
	for _, want := range []string{`track "critical path on thread 1"`, "   100 begin critical path [flow 1 begins]\n   500 end   critical path\n",
		"   600 begin critical path [flow 1 ends flow 2 begins]\n", "   900 begin critical path [flow 2 ends]\n  1000 end   critical path\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	p.Sections[0].Instances[0].Parts[1].ArriveNS = 0
	if got := trace(); strings.Contains(got, "critical path") {
		t.Errorf("a path without times:\n%s", got)
	}
}

// TestPerfettoDrawsTheTaskGraph: who created and joined whom, who waited for whom, and
// what let those go on who met, as flows between moments; not where times are unknown.
func TestPerfettoDrawsTheTaskGraph(t *testing.T) {
	p, sections := exporttest.Called(t)
	p.Threads[1].Creator, p.Threads[1].CreatedNS, p.Threads[1].BeginNS, p.Threads[1].EndNS = 1, 500, 900, 3600
	p.Threads[1].Joiner, p.Threads[1].JoinedNS = 1, 3700
	p.Sections[0].Kind = profile.Barrier
	q := &p.Sections[0].Instances[0].Parts[1]
	q.Syncs = []profile.Sync{{Kind: profile.WaitLock, BeginNS: 1200, EndNS: 1500, Thread: 0, WakeNS: 1400}}
	got := traceOf(t, p, sections)
	for _, want := range []string{`track "task graph of thread 0"`, `track "task graph of thread 1"`,
		"   500 create [flow 4294967296 begins]", "   900 create [flow 4294967296 ends]", "  1400 lock [flow 4294967297 begins]", "  1500 lock [flow 4294967297 ends]",
		"  3500 barrier [flow 4294967298 begins]", "  3500 barrier [flow 4294967298 ends]", "  3600 join [flow 4294967299 begins]", "  3700 join [flow 4294967299 ends]"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	p.Sections[0].Instances[0].Parts[1].ArriveNS = 0
	if got := traceOf(t, p, sections); strings.Contains(got, "task graph") {
		t.Errorf("a graph without times:\n%s", got)
	}
}

// TestPerfettoLeavesOutManyDependences: and says how many.
func TestPerfettoLeavesOutManyDependences(t *testing.T) {
	p, sections := exporttest.Called(t)
	q := &p.Sections[0].Instances[0].Parts[1]
	for i := range int64(mostTies + 6) {
		q.Syncs = append(q.Syncs, profile.Sync{Kind: profile.WaitLock, BeginNS: 1000 + i, EndNS: 1000 + i, Thread: 0, WakeNS: 1000 + i})
	}
	all, left := ties(p)
	if got := traceOf(t, p, sections); left < 6 || len(all) != mostTies || !strings.Contains(got, "dependences more") {
		t.Errorf("%d left of %d", left, len(all))
	}
}

// often is the program called, whose section was executed three times more, the
// first of which stands for a thousand executions that were added up.
func often(t *testing.T) (*profile.Profile, []export.Section) {
	t.Helper()
	p, sections := exporttest.Called(t)
	s := &p.Sections[0]
	first := s.Instances[0]
	s.Instances, s.Totals = []profile.Instance{{Folded: 1000, SpanNS: first.SpanNS, Parts: first.Parts}}, first.Parts
	for i := range int64(2) {
		in := profile.Instance{Folded: 1, SpanNS: first.SpanNS}
		for _, q := range first.Parts {
			q.BeginNS, q.ArriveNS = q.BeginNS+(i+1)*3000, q.ArriveNS+(i+1)*3000
			in.Parts = append(in.Parts, q)
		}
		s.Instances = append(s.Instances, in)
	}
	return p, sections
}

func TestPerfettoLeavesOutWhatWasAddedUp(t *testing.T) {
	p, sections := often(t)
	got := traceOf(t, p, sections)
	for _, want := range []string{"1,000 instances that were added up during the run are left out", "instance=1001 ", "instance=1002 "} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "instance=1 ") {
		t.Errorf("an instance that was added up is shown:\n%s", got)
	}
	p.Sections[0].Instances = p.Sections[0].Instances[:1]
	if got := traceOf(t, p, sections); strings.Contains(got, "begin") || strings.Contains(got, "counter") {
		t.Errorf("a section of which nothing is left is shown:\n%s", got)
	}
}

// A track shows slices that nest or follow each other, nothing else.
func TestNested(t *testing.T) {
	part := func(from, to int64) span { return span{from: from, to: to, kind: kindPart} }
	wait := func(from, to int64) span { return span{from: from, to: to, kind: kindWait} }
	for _, c := range []struct {
		name     string
		in, want []span
	}{
		{"in a row", []span{part(0, 5), wait(5, 8), part(8, 9)}, []span{part(0, 5), wait(5, 8), part(8, 9)}},
		{"a wait into the next part", []span{part(0, 5), wait(5, 10), part(8, 12)}, []span{part(0, 5), wait(5, 8), part(8, 12)}},
		{"one inside the other", []span{part(2, 4), part(0, 10)}, []span{part(0, 10), part(2, 4)}},
		{"crossing", []span{part(0, 10), part(5, 15)}, []span{part(0, 10), part(5, 10)}},
		{"a wait that is all overlap", []span{part(0, 5), wait(5, 9), part(5, 9)}, []span{part(0, 5), part(5, 9)}},
	} {
		got := nested(append([]span{}, c.in...))
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Names from the program are text, whatever they hold.
func TestPerfettoNames(t *testing.T) {
	p, sections := exporttest.Called(t)
	p.Program.Path = "/bin/\xff\x1b[31m"
	for i := range p.Locations {
		p.Locations[i].Function = "\xfe<b>"
	}
	got := traceOf(t, p, sections)
	if !utf8.ValidString(got) || strings.Contains(got, "\x1b") || !strings.Contains(got, `thread 1/2 "thread 1 `) {
		t.Errorf("names are not clean:\n%q", got)
	}
}

// full is a disk with no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestPerfettoSaysWhatFailed(t *testing.T) {
	p, sections := exporttest.Called(t)
	if err := Write(full{}, p, sections, nil, nil); err == nil || err.Error() != "write perfetto: no space left" {
		t.Errorf("%v, want that there is no space left", err)
	}
}
