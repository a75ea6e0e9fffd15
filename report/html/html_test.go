package html

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/internal/golden"
	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/reporttest"
)

func written(t *testing.T, r *report.Report, opt Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r, opt); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func made(t *testing.T, f func() (*profile.Profile, reporttest.Analyse)) *report.Report {
	t.Helper()
	p, a := f()
	r, err := report.New(p, report.Options{Analyse: a})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGoldenHTML(t *testing.T) {
	for name, f := range reporttest.Scenes() {
		p, analyse := f()
		r, err := report.New(p, report.Options{Analyse: analyse})
		if err != nil {
			t.Fatal(err)
		}
		page := written(t, r, Options{Dir: "/src", Source: reporttest.Sources, Profile: p})
		golden.Check(t, name+".html", page)
		wellFormed(t, page)
		standsAlone(t, page)
	}
}

// wellFormed: the page is written so that a strict reader of XML can read it too.
func wellFormed(t *testing.T, page []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	ids, refs := map[string]bool{}, []string{}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			switch {
			case a.Name.Local == "id" && ids[a.Value]:
				t.Errorf("two elements have the id %s", a.Value)
			case a.Name.Local == "id":
				ids[a.Value] = true
			case a.Name.Local == "aria-labelledby":
				refs = append(refs, a.Value)
			case a.Name.Local == "href":
				refs = append(refs, strings.TrimPrefix(a.Value, "#"))
			}
		}
		if e.Name.Local == "svg" && !strings.Contains(fmt.Sprint(e.Attr), "aria-label") {
			t.Error("a plot has no label")
		}
	}
	for _, r := range refs {
		if !ids[r] {
			t.Errorf("nothing has the id %s", r)
		}
	}
}

var (
	elsewhere = regexp.MustCompile(`(?i)\b(src|action|poster|srcset|data)\s*=|href\s*=\s*"[^#]|url\(|@import|https?:|<(script|iframe|object|embed|link|img|base|form)\b`)
	handlers  = regexp.MustCompile(`(?i)<[^>]*\son[a-z]+\s*=`)
)

func standsAlone(t *testing.T, page []byte) {
	t.Helper()
	if found := elsewhere.FindAll(page, -1); found != nil {
		t.Errorf("the page refers to something else, or runs something: %q", found)
	}
	if found := handlers.FindAll(page, -1); found != nil {
		t.Errorf("the page has event handlers: %q", found)
	}
}

const hostile = "</style></title><script>alert(1)</script><img src=x onerror=\"alert(2)\">\x1b[31m'`{{.}}"

type hostileSource struct{}

func (hostileSource) Line(string, int) (string, bool, bool) {
	return hostile + "\x00\ufffe", true, true
}

// File, function and argument names, source lines and warnings are not ours.
func TestHostileNamesAreEscaped(t *testing.T) {
	p, analyse := reporttest.Mixed()
	p.Program.Path, p.Program.Args = "/"+hostile, []string{hostile}
	for i := range p.Locations {
		p.Locations[i].File, p.Locations[i].Line, p.Locations[i].SymbolOffset = "/"+hostile, 3, 0
		p.Locations[i].Function = hostile
		p.Locations[i].InlinedAt = []profile.Frame{{File: hostile, Line: 1, Function: hostile}}
	}
	p.Coverage.Skipped = []profile.Skipped{{Function: hostile, Reason: hostile}}
	p.Warnings = []profile.Warning{{Code: "x", Message: hostile}}
	p.Run.Backend = hostile
	r, err := report.New(p, report.Options{Analyse: func(s *profile.Section, o lime.Options) (*lime.Result, error) {
		r, err := analyse(s, o)
		for i := range r.Causes {
			r.Causes[i].Kind = hostile
			r.Causes[i].Members = []lime.Member{{Kind: hostile, Addr: 0x1100, Corr: 1}}
		}
		return r, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	page := written(t, r, Options{Source: hostileSource{}, Profile: p})
	wellFormed(t, page)
	for _, bad := range []string{"<script", "<img", "\x1b", "\x00"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if n := bytes.Count(page, []byte("&lt;script&gt;")); n < 10 {
		t.Errorf("only %d of the hostile names are shown", n)
	}
}

// A report that was kept as JSON may have no profile beside it any more.
func TestHTMLWithoutProfile(t *testing.T) {
	r := made(t, reporttest.Owner)
	page := written(t, r, Options{})
	wellFormed(t, page)
	if bytes.Contains(page, []byte("timeline")) || !bytes.Contains(page, []byte("owner.c:36")) {
		t.Error("want everything but the timeline")
	}
	var b bytes.Buffer
	if err := Write(&b, r, Options{Profile: phases(1, true)}); err == nil || !strings.Contains(err.Error(), "the profile that the report was made of") {
		t.Errorf("with the profile of another run: %v, want an error that says so", err)
	}
}

// phases is a section of n instances of two threads; the second works twice as long.
func phases(n int, times bool) *profile.Profile {
	p := reporttest.Scene(reporttest.At(0x1300, "/src/owner.c", 36, 9, "factor"))
	s := reporttest.Section(profile.Barrier, 0x1300, 2e6, 100, 200)
	part := s.Instances[0].Parts
	s.Instances = nil
	for i := range n {
		a, b := part[0], part[1]
		if times {
			begin := 1 + int64(i)*2e6
			a.BeginNS, a.ArriveNS, b.BeginNS, b.ArriveNS = begin, begin+1e6, begin, begin+2e6
		}
		s.Instances = append(s.Instances, profile.Instance{Folded: 1, SpanNS: 2e6, Parts: []profile.Part{a, b}})
	}
	p.Sections = []profile.Section{s}
	return p
}

func TestTimeline(t *testing.T) {
	for _, c := range []struct {
		n             int
		times         bool
		bars, grouped int
		length        float64
	}{
		{1, true, 2, 1, 2e-3}, {160, true, 320, 1, 0.32}, {161, true, 2 * 81, 2, 0.322},
		{3, false, 6, 1, 600}, {10000, false, 2 * 159, 63, 2e6},
	} {
		p := phases(c.n, c.times)
		got := newTimeline(p, &p.Sections[0], false, nil, 1)
		if len(got.bars) != c.bars || got.together != c.grouped || got.to-got.from < 0.99*c.length || got.to-got.from > 1.01*c.length {
			t.Errorf("%+v: %d bars of %d, length %g", c, len(got.bars), got.together, got.to-got.from)
		}
		for _, b := range got.bars {
			if worked := (b.to - b.from) / (b.waited - b.from); b.row == 0 && (worked < .4 || worked > .6) || b.row == 1 && worked < .99 {
				t.Fatalf("%+v: row %d worked %g of its time", c, b.row, worked)
			}
		}
	}
}

// Zoomed, fewer instances share a bar, but no page is made of more bars than can be drawn.
func TestTimelineZoomed(t *testing.T) {
	for _, n := range []int{100, 10000} {
		p := phases(n, false)
		one, wide := newTimeline(p, &p.Sections[0], false, nil, 1), newTimeline(p, &p.Sections[0], false, nil, zoom)
		if want := (n + 1279) / 1280; wide.together != want || one.from != wide.from || one.to != wide.to {
			t.Errorf("%d instances: %d to a bar, want %d; of %g to %g", n, wide.together, want, wide.from, wide.to)
		}
	}
}

func TestTimelineLeavesOutWhatWasAddedUp(t *testing.T) {
	p := phases(3, true)
	s := &p.Sections[0]
	s.Instances[0].Folded, s.Totals = 7, s.Instances[0].Parts
	got := newTimeline(p, s, false, nil, 1)
	if got.left != 7 || len(got.bars) != 4 || !strings.Contains(got.caption(), "first 7") {
		t.Errorf("%d left out, %d bars, %q", got.left, len(got.bars), got.caption())
	}
	s.Instances = s.Instances[:1]
	if got := newTimeline(p, s, false, nil, 1); got != nil {
		t.Errorf("a timeline of what was added up: %+v", got)
	}
}

func TestTicksAreRound(t *testing.T) {
	for most, want := range map[float64]string{10: "0 2.5 5 7.5 10", 7: "0 2 4 6", 1: "0 0.25 0.5 0.75 1", 2.9: "0 0.5 1 1.5 2 2.5", 560e6: "0 1e+08 2e+08 3e+08 4e+08 5e+08"} {
		got := []string{}
		for _, tick := range niceTicks(most, func(x float64) string { return fmt.Sprint(x) }) {
			got = append(got, tick.label)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("up to %g: %s, want %s", most, s, want)
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
	if page := string(written(t, r, Options{})); !strings.Contains(page, template.HTMLEscapeString(want)) {
		t.Errorf("the page does not say %q", want)
	}
}

// The correlation of a row is its weakest event's, also where it is tiny.
func TestMembersShowTheWeakest(t *testing.T) {
	corr := func(x float64) *float64 { return &x }
	at := report.Place{File: "a.c", Line: 3}
	m := maker{}
	rows := m.members(&report.Cause{Members: []report.Member{
		{Kind: "control-flow", Place: at, Corr: corr(.5)}, {Kind: "control-flow", Place: at, Corr: corr(.00002)}, {Kind: "control-flow", Place: at, Corr: corr(.3)},
		{Kind: "page-fault", Place: at},
	}})
	if len(rows) != 2 || rows[0].Corr != "2e-05" || rows[0].Events != 3 || rows[1].Corr != "" {
		t.Errorf("%+v", rows)
	}
}

// New threads in each round are one lane, as many as there is room for.
func TestTimelineBySlot(t *testing.T) {
	p := phases(3, true)
	for i := range p.Sections[0].Instances {
		for k := range p.Sections[0].Instances[i].Parts {
			q := &p.Sections[0].Instances[i].Parts[k]
			q.Slot, q.Thread = profile.SlotID(k+1), profile.ThreadID(10*i+k)
		}
	}
	got := newTimeline(p, &p.Sections[0], false, nil, 1)
	if strings.Join(got.ids, " ") != "#1 #2" || len(got.bars) != 6 || got.more != 0 {
		t.Errorf("lanes %q, %d bars, %d more", got.ids, len(got.bars), got.more)
	}
	in := &p.Sections[0].Instances[0]
	in.Parts = nil
	for k := range 100 {
		in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(k), Slot: profile.SlotID(k + 1), ArriveNS: 5})
	}
	if got := newTimeline(p, &p.Sections[0], false, nil, 1); len(got.ids) != 64 || got.more != 36 || !strings.Contains(got.caption(), "36 more threads") {
		t.Errorf("%d lanes, %d more, %q", len(got.ids), got.more, got.caption())
	}
}

// TestRanks: a page on a thousand ranks is drawn of few paths, and its rows are ranks.
func TestRanks(t *testing.T) {
	r := made(t, reporttest.Scenes()["owner"])
	r.Ranks = &report.Ranks{Count: 1000, Hosts: 2, Message: "10 % is lost"}
	for i := range 1000 {
		x := report.RankRow{Rank: i, Host: "<a>"}
		for k := range 8 {
			x.Threads = append(x.Threads, report.RankThread{ID: k, Instructions: uint64(i * k)})
		}
		r.Ranks.Rows = append(r.Ranks.Rows, x)
	}
	page := written(t, r, Options{})
	wellFormed(t, page)
	standsAlone(t, page)
	if n := bytes.Count(page, []byte(`<path class="heat`)); n != 10 || len(page) > 1<<20 {
		t.Errorf("%d paths, %d bytes", n, len(page))
	}
	for _, want := range []string{"10 % is lost.", ">960</text>", "984 more ranks executed less", "&lt;a&gt;"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("%q is not in the page", want)
		}
	}
}
