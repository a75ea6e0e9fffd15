package text

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/internal/golden"
	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/reporttest"
	"github.com/skewlens/skewlens/report/internal/words"
)

func made(t *testing.T, f func() (*profile.Profile, reporttest.Analyse)) *report.Report {
	t.Helper()
	p, a := f()
	r, err := report.New(p, report.Options{Analyse: a})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGoldenText(t *testing.T) {
	for _, c := range []struct {
		name  string
		scene func() (*profile.Profile, reporttest.Analyse)
		opt   Options
	}{
		{"owner.txt", reporttest.Owner, Options{Dir: "/src", Source: reporttest.Sources}},
		{"dealt.txt", reporttest.Dealt, Options{Dir: "/src", Source: reporttest.Sources}},
		{"owner-narrow-color.txt", reporttest.Owner, Options{Dir: "/src", Source: reporttest.Sources, Width: 44, Color: true}},
		{"forked.txt", reporttest.Forked, Options{Dir: "/src", Source: reporttest.Sources}},
		{"missed.txt", reporttest.Missed, Options{Dir: "/src", Source: reporttest.Sources}},
		{"sized.txt", reporttest.Sized, Options{Dir: "/src", Source: reporttest.Sources}},
		{"mixed.txt", reporttest.Mixed, Options{Source: reporttest.Sources, Width: 80}},
	} {
		var b bytes.Buffer
		if err := Write(&b, made(t, c.scene), c.opt); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, c.name, b.Bytes())
	}
}

func TestWidths(t *testing.T) {
	if got := words.Cut("所有者 decides", 8); width(got) > 8 || !strings.HasSuffix(got, "…") {
		t.Errorf("cut to 8 columns: %q takes %d", got, width(got))
	}
	if n := width("\x1b[1m#1\x1b[0m"); n != 2 {
		t.Errorf("a coloured #1 is %d wide, want 2", n)
	}
	if got := wrap([]string{"a", "bb", "cccccccccc", "d"}, " · ", 6, 6); strings.Join(got, "|") != "a · bb|cccccccccc|d" {
		t.Errorf("wrap: %q", got)
	}
	if got := units.Printable("a\tb\x1b]0;title\x07"); strings.ContainsAny(got, "\x1b\x07\t") {
		t.Errorf("Printable left a control character: %q", got)
	}
	for _, line := range sparkline(make([]uint64, 100), 0, 30) {
		if n := width(line); n > 30 {
			t.Errorf("a row of bars is %d wide, want at most 30", n)
		}
	}
}

func TestExcerptsShowTheColumn(t *testing.T) {
	long := "\tfirst(); second(); third(); fourth(); fifth(); sixth();"
	for _, c := range []struct {
		line         string
		column, room int
		want         string
	}{
		{"\t  if (x)", 4, 40, "if (x)"},
		{"\t  if (x)", 0, 40, "if (x)"},
		{"\t  if (x)", 99, 40, "if (x)"},
		{"a b c", 3, 40, "a b c"},
		{long, 2, 20, "first(); second(); …"},
		{long, 41, 20, "…ourth(); fifth(); …"},
	} {
		got := words.Cut(around(c.line, c.column, c.room), c.room)
		if got != c.want {
			t.Errorf("around(%q, %d, %d) = %q, want %q", c.line, c.column, c.room, got, c.want)
		}
	}
}

// How the slow thread came to a cause is told, as far as it is short.
func TestCallers(t *testing.T) {
	r := made(t, reporttest.Owner)
	c := &r.Sections[0].Causes[0]
	c.Path = &report.Path{Thread: 2}
	for i := 1; i <= 8; i++ {
		c.Path.Calls = append(c.Path.Calls, report.Place{File: "/src/deep\x1b.c", Line: i, Function: "f<int>"})
	}
	c.Path.Calls[1] = report.Place{Address: "0x1234"}
	const want = "thread 2 comes from: deep�.c:1 f<int> · 0x1234 · deep�.c:3 f<int> · deep�.c:4 f<int> · deep�.c:5 f<int> · deep�.c:6 f<int> · 2 more"
	var b strings.Builder
	if err := Write(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	words := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, "·", "")), " ") }
	if !strings.Contains(words(b.String()), words(want)) { // lines end without the dot
		t.Errorf("the text does not say %q:\n%s", want, b.String())
	}
}

// However many threads there are, a report of them is short.
func TestManyThreadsAreSummedUp(t *testing.T) {
	n := make([]uint64, 300)
	for i := range n {
		n[i] = uint64(1000 + i)
	}
	p := reporttest.Scene()
	p.Threads = nil
	for i := range n {
		p.Threads = append(p.Threads, profile.Thread{ID: profile.ThreadID(i)})
	}
	p.Sections = []profile.Section{reporttest.Section(profile.Join, 0x1400, 1e6, n...)}
	r, err := report.New(p, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "and 236 more, from 1,064 to 1,299") || strings.Count(got, "\n") > 20 {
		t.Errorf("got\n%s", got)
	}
}
