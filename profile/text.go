package profile

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The text twin of a profile file says the same, one fact a line:
//
//	skewlens profile as text 1
//	program /bin/owner
//	function work 0x1000-0x1040 entry=work.0
//	block work.0 0x1000-0x1010 in=work last=0x100e instructions=4 count=work.0
//	edge work.0 work.1 taken site=0x100e count=work.0>work.1
//	event work.0 block at=0x1000
//	event work.0>work.1 edge at=0x100e
//	thread 1
//	section barrier site=0x1030
//	  instance span=120ns
//	    part 1 begin=0x1000 site=0x1030 busy=100ns wait=20ns
//	      count work.0 15
//	location 0x1000 file=/src/owner.c line=28 function=work
//	end
//
// What is left out is zero or unknown; a part is timed when it has busy= or
// wait=. Indentation, empty lines and lines that begin with # say nothing to
// the reader. It is for tests and for looking at, not for storing runs.
const (
	textMagic  = "skewlens profile as text "
	textFormat = 1
	maxLine    = 1 << 20
)

// WriteText writes a profile that CheckValid accepts as text.
func WriteText(w io.Writer, p *Profile) error {
	if err := p.CheckValid(); err != nil {
		return err
	}
	t := &textWriter{w: bufio.NewWriter(w), p: p, l: p.labels()}
	t.line("%s%d", textMagic, textFormat)
	t.run()
	t.graph()
	t.sections()
	t.locations()
	t.line("end")
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("write profile as text: %w", err)
	}
	return nil
}

// textWriter leaves errors to bufio, where the first sticks.
type textWriter struct {
	w *bufio.Writer
	p *Profile
	l labels
}

func (t *textWriter) line(f string, args ...any) {
	fmt.Fprintf(t.w, f, args...)
	t.w.WriteByte('\n')
}

// The pieces of a line: nothing for what is zero.

// float is a pair of a number, or nothing for 0.
func float(name string, v float64) string {
	if v == 0 {
		return ""
	}
	return " " + name + "=" + strconv.FormatFloat(v, 'g', -1, 64)
}

func pair(key, value string) string {
	if value == "" {
		return ""
	}
	return " " + key + "=" + word(value)
}

func number[T ~int | ~int32 | ~int64](key string, n T) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s=%d", key, int64(n))
}

func numbers(key string, list []uint32) string {
	var s []string
	for _, n := range list {
		s = append(s, strconv.FormatUint(uint64(n), 10))
	}
	return pair(key, strings.Join(s, ","))
}

func addr(key string, a Addr) string {
	if a == 0 {
		return ""
	}
	return fmt.Sprintf(" %s=%#x", key, uint64(a))
}

func nanos(key string, n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s=%dns", key, n)
}

func flag(name string, set bool) string {
	if !set {
		return ""
	}
	return " " + name
}

func (t *textWriter) event(key string, e EventID) string {
	if e == NoEvent {
		return ""
	}
	return " " + key + "=" + word(t.l.event[e])
}

func (t *textWriter) run() {
	p := t.p
	t.line("program %s", word(p.Program.Path))
	for _, a := range p.Program.Args {
		t.line("arg %s", word(a))
	}
	if p.Program.BuildID != "" {
		t.line("build-id %s", word(p.Program.BuildID))
	}
	for _, l := range p.Program.Libraries {
		t.line("library %s%s", word(l.Path), pair("build-id", l.BuildID))
	}
	for _, l := range p.Program.Uncounted {
		t.line("uncounted %s", word(l))
	}
	for _, a := range p.Program.LibraryCalls {
		t.line("library-call %#x", uint64(a))
	}
	t.line("run%s%s%s%s%s%s%s%s", pair("backend", p.Run.Backend), nanos("wall", p.Run.WallNS), number("cores", p.Run.Cores),
		number("exit", p.Run.ExitCode), pair("signal", p.Run.Signal), float("slowdown", p.Run.Slowdown), number("virtual", p.Run.Virtual), pair("machine", p.Run.Machine))
	for _, r := range p.Ranks {
		t.line("rank %d%s%s%s%s%s%s%s", r.Rank, number("of", r.Size), pair("host", r.Host), pair("job", r.Job), pair("launcher", r.Launcher), number("cores", r.Cores), nanos("start", r.StartNS), number("main", r.Main))
	}
	c := &p.Coverage
	t.line("coverage functions=%d/%d instructions=%d/%d", c.Functions, c.FunctionsTotal, c.Instructions, c.InstructionsTotal)
	for _, s := range c.Skipped {
		t.line("skipped %s%s", word(s.Function), pair("reason", s.Reason))
	}
	t.warnings("", p.Warnings)
}

func (t *textWriter) warnings(indent string, ws []Warning) {
	for _, w := range ws {
		t.line("%swarning %s %s", indent, word(w.Code), strconv.Quote(w.Message))
	}
}

func (t *textWriter) graph() {
	g := &t.p.Graph
	for i := range g.Functions {
		f := &g.Functions[i]
		name, entry, first := "", "", ""
		if f.Name != t.l.function[i] {
			name = " name=" + word(f.Name)
		}
		if f.N > 0 {
			entry = pair("entry", t.l.block[f.EntryBlock])
		} else {
			first = number("first", f.First)
		}
		t.line("function %s %#x-%#x%s%s%s%s", word(t.l.function[i]), uint64(f.Entry), uint64(f.End), entry, name, first, flag("opaque", f.Opaque))
	}
	for i := range g.Blocks {
		b := &g.Blocks[i]
		t.line("block %s %#x-%#x%s%s%s%s%s%s%s%s%s%s%s", word(t.l.block[i]), uint64(b.Start), uint64(b.End), pair("in", t.l.function[b.Function]),
			addr("last", b.Last), number("instructions", b.Instructions), t.event("count", b.Count), flag("spin", b.Spin), flag("virtual", b.Virtual), flag("deals", b.Deals), flag("runtime", b.Runtime), flag("resumes", b.Resumes), numbers("accesses", b.Accesses), number("branch", int64(b.Branch)))
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		t.line("edge %s %s %s%s%s%s", word(t.l.ofBlock(e.From)), word(t.l.ofBlock(e.To)), e.Kind, addr("site", e.Site), t.event("count", e.Count), addr("passes", Addr(e.Passes)))
	}
	for i := range t.p.Events {
		e := &t.p.Events[i]
		// The edge or block that an event counts is the one that names it
		// with count=; the other field is written only where it is set.
		rest := ""
		if e.Kind == Hardware || e.Kind == EdgeTaken && e.Block != 0 {
			rest = pair("block", t.l.ofBlock(e.Block))
		}
		if e.Kind != EdgeTaken {
			rest += number("edge", e.Edge)
		}
		if e.Kind == Hardware {
			rest += pair("reason", e.Reason) + number("cycles", int64(e.Cycles)) + addr("partner", e.Partner) + number("writer", e.Writer) + float("doubt", e.Doubt) + flag("writes", e.Writes) + flag("called", e.Called)
		}
		t.line("event %s %s%s%s%s%s", word(t.l.event[i]), e.Kind, addr("at", e.Addr), pair("name", e.Name), t.event("superior", e.Superior), rest)
	}
}

func (t *textWriter) sections() {
	for i := range t.p.Threads {
		th := &t.p.Threads[i]
		t.line("thread %d%s%s%s%s%s%s%s%s%s%s%s%s%s", th.ID, addr("start", th.Start), nanos("begin", th.BeginNS), nanos("end", th.EndNS), nanos("cpu", th.CPUNS),
			number("creator", th.Creator), number("joiner", th.Joiner), nanos("joined", th.JoinedNS),
			nanos("created-at", th.CreatedNS), nanos("created-cpu", th.CreatedCPUNS), nanos("join-at", th.JoinNS), nanos("join-cpu", th.JoinCPUNS), number("work", int64(th.Work)), number("with", th.With))
		for _, a := range th.Active {
			t.line("  open %#x", uint64(a))
		}
		t.counts("  count", th.Totals)
	}
	for i := range t.p.Sections {
		s := &t.p.Sections[i]
		t.line("section %s%s%s%s", s.Kind, addr("site", s.Site), nanos("time", s.TimeNS), number("outside", s.Outside))
		for _, a := range s.Callers {
			t.line("  called-at %#x", uint64(a))
		}
		t.units(s.Units)
		t.warnings("  ", s.Warnings)
		t.parts("  ", "total", s.Totals)
		for j := range s.Instances {
			in := &s.Instances[j]
			folded := ""
			if in.Folded != 1 {
				folded = number("folded", in.Folded)
			}
			t.line("  instance%s%s%s%s%s%s", folded, nanos("span", in.SpanNS), number("waiter", in.Waiter), pair("comm", in.Call.Comm), number("first", int64(in.Call.First)), number("calls", in.Call.N))
			t.parts("    ", "part", in.Parts)
		}
	}
}

func (t *textWriter) units(u *Units) {
	if u == nil {
		return
	}
	t.line("  units %s%s", u.Dealt, addr("loop", u.Loop))
	for _, y := range u.Rounds {
		t.line("    round")
		for _, n := range y.Rest {
			t.line("      rest %d", n)
		}
		for _, x := range y.Units {
			t.line("      unit %d%s%s", x.Cost, number("n", int(x.N)), number("part", x.Part))
		}
	}
}

func (t *textWriter) parts(indent, name string, ps []Part) {
	for i := range ps {
		q := &ps[i]
		times := ""
		if q.Timed {
			times = fmt.Sprintf(" busy=%dns wait=%dns", q.BusyNS, q.WaitNS)
		}
		t.line("%s%s %d%s%s%s%s%s%s%s%s", indent, name, q.Thread, number("slot", q.Slot), flag("several", q.Several), addr("begin", q.Begin), addr("site", q.Site), times, nanos("from", q.BeginNS), nanos("to", q.ArriveNS), nanos("inner", q.InnerBusyNS))
		for _, w := range q.Waits {
			t.line("%s  wait %s%s%s%s", indent, w.Kind, addr("site", w.Site), nanos("for", w.NS), number("times", w.N))
		}
		for _, w := range q.Wakes {
			t.line("%s  wake %s%s%s thread=%d%s", indent, w.Kind, addr("site", w.Site), addr("by", w.By), w.Thread, nanos("for", w.NS))
		}
		for _, s := range q.Syncs {
			t.line("%s  sync %s%s thread=%d%s%s%s", indent, s.Kind, addr("site", s.Site), s.Thread, nanos("from", s.BeginNS), nanos("to", s.EndNS), nanos("ended", s.WakeNS))
		}
		for _, m := range q.Messages {
			t.line("%s  message%s%s%s%s%s", indent, flag("sends", m.Sends), addr("site", m.Site), number("partner", m.Partner), nanos("for", m.NS), number("times", m.N))
		}
		t.counts(indent+"  count", q.Counts)
		t.counts(indent+"  inner", q.Inner)
	}
}

func (t *textWriter) counts(lead string, c Counts) {
	for i, e := range c.Event {
		t.line("%s %s %d", lead, word(t.l.event[e]), c.N[i])
	}
}

func (t *textWriter) locations() {
	frame := func(f Frame) string {
		return pair("file", f.File) + number("line", f.Line) + number("column", f.Column) + pair("function", f.Function)
	}
	for i := range t.p.Locations {
		l := &t.p.Locations[i]
		t.line("location %#x%s%s", uint64(l.Address), frame(l.Frame), addr("offset", l.SymbolOffset))
		for _, f := range l.InlinedAt {
			t.line("  inlined-at%s", frame(f))
		}
	}
}
