package profile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
)

// ReadText reads what WriteText wrote, or what a person did. It refuses what
// CheckValid refuses, and names the line.
func ReadText(r io.Reader) (*Profile, error) {
	in := bufio.NewReader(r)
	if err := readMagic(in, textMagic, textFormat); err != nil {
		return nil, err
	}
	t := &textReader{p: &Profile{}, function: map[string]int{}, block: map[string]int{}, event: map[string]int{}, edgeEvents: map[string]bool{}}
	if err := t.split(in); err != nil {
		return nil, fmt.Errorf("read profile as text: %w", err)
	}
	t.allocate()
	for i := range t.lines {
		l := &t.lines[i]
		t.read(l)
		if err := l.done(); err != nil {
			return nil, fmt.Errorf("read profile as text: line %d (%.20q): %w", l.number, l.what, err)
		}
	}
	t.finish()
	if err := t.p.CheckValid(); err != nil {
		return nil, err
	}
	return t.p, nil
}

// textReader reads in two passes: names may be used above the line that
// defines them.
type textReader struct {
	p                      *Profile
	lines                  []textLine
	function, block, event map[string]int
	edgeEvents             map[string]bool // those of kind edge
	section                *Section        // the last one begun
	instance               *Instance       // likewise
	part                   *Part           // likewise
	counts                 *Counts         // of the last thread or part
	open                   []*Counts       // all of them, to be sorted
}

func (t *textReader) split(in io.Reader) error {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	ended := false
	for n := 2; s.Scan(); n++ {
		text := strings.TrimSpace(s.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		if ended {
			return fmt.Errorf("line %d: goes on after its end", n)
		}
		plain, pairs, err := words(text)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		l := textLine{number: n, pairs: pairs}
		if len(plain) > 0 {
			l.what, l.plain = plain[0], plain[1:]
		}
		if ended = l.what == "end"; ended {
			continue
		}
		if names := map[string]map[string]int{"function": t.function, "block": t.block, "event": t.event}[l.what]; names != nil && len(l.plain) > 0 {
			if _, twice := names[l.plain[0]]; twice {
				return fmt.Errorf("line %d: %s %q is defined twice", n, l.what, l.plain[0])
			}
			names[l.plain[0]] = len(names)
			if l.what == "event" && len(l.plain) > 1 && l.plain[1] == EdgeTaken.String() {
				t.edgeEvents[l.plain[0]] = true
			}
		}
		t.lines = append(t.lines, l)
	}
	if err := s.Err(); err != nil {
		return err
	}
	if !ended {
		return errors.New("ends without its line \"end\": it was cut")
	}
	return nil
}

// allocate makes the tables whose entries are set by more than one line.
func (t *textReader) allocate() {
	if n := len(t.event); n > 0 {
		t.p.Events = make([]Event, n)
	}
}

// finish does what needs all lines: block ranges of functions, order of counts.
func (t *textReader) finish() {
	g := &t.p.Graph
	for i := len(g.Blocks) - 1; i >= 0; i-- {
		f := &g.Functions[g.Blocks[i].Function]
		f.First = BlockID(i)
		f.N++
	}
	for _, c := range t.open {
		sort.Sort(byEvent{c})
	}
}

type byEvent struct{ *Counts }

func (b byEvent) Len() int           { return len(b.Event) }
func (b byEvent) Less(i, j int) bool { return b.Event[i] < b.Event[j] }
func (b byEvent) Swap(i, j int) {
	b.Event[i], b.Event[j] = b.Event[j], b.Event[i]
	b.N[i], b.N[j] = b.N[j], b.N[i]
}

func (t *textReader) read(l *textLine) {
	p := t.p
	switch l.what {
	case "program":
		p.Program.Path = l.word()
	case "arg":
		p.Program.Args = append(p.Program.Args, l.word())
	case "build-id":
		p.Program.BuildID = l.word()
	case "library":
		p.Program.Libraries = append(p.Program.Libraries, Library{l.word(), l.pair("build-id"), LibraryStep * Addr(len(p.Program.Libraries)+1)})
	case "uncounted":
		p.Program.Uncounted = append(p.Program.Uncounted, l.word())
	case "library-call":
		p.Program.LibraryCalls = append(p.Program.LibraryCalls, l.parseAddr(l.word()))
	case "run":
		p.Run = Run{l.pair("backend"), l.nanos("wall"), int(l.int("cores", 64)), int(l.int("exit", 64)), l.pair("signal"), l.float("slowdown"), int(l.int("virtual", 64)), l.pair("machine")}
	case "rank":
		p.Ranks = append(p.Ranks, Rank{int(l.parseInt(l.word(), 64)), int(l.int("of", 64)), l.pair("host"), l.pair("job"), l.pair("launcher"), int(l.int("cores", 64)), l.nanos("start"), ThreadID(l.int("main", 32))})
	case "coverage":
		p.Coverage.Functions, p.Coverage.FunctionsTotal = l.ratio("functions")
		p.Coverage.Instructions, p.Coverage.InstructionsTotal = l.ratio("instructions")
	case "skipped":
		p.Coverage.Skipped = append(p.Coverage.Skipped, Skipped{l.word(), l.pair("reason")})
	case "warning":
		to := &p.Warnings
		if t.section != nil {
			to = &t.section.Warnings
		}
		*to = append(*to, Warning{l.word(), l.word()})
	case "location":
		p.Locations = append(p.Locations, Location{Address: l.parseAddr(l.word()), Frame: l.frame(), SymbolOffset: l.addr("offset")})
	case "inlined-at":
		if len(p.Locations) == 0 {
			l.fail("no location to belong to")
			return
		}
		to := &p.Locations[len(p.Locations)-1]
		to.InlinedAt = append(to.InlinedAt, l.frame())
	case "function", "block", "edge", "event":
		t.readGraph(l)
	default:
		t.readRun(l)
	}
}

func (t *textReader) readGraph(l *textLine) {
	g := &t.p.Graph
	switch l.what {
	case "function":
		f := Function{Name: l.word(), EntryBlock: NoBlock}
		f.Entry, f.End = l.span()
		if name, ok := l.lookup("name"); ok {
			f.Name = name
		}
		if entry, ok := l.lookup("entry"); ok {
			f.EntryBlock = BlockID(l.index(t.block, "block", entry))
		}
		f.First = BlockID(l.int("first", 32))
		f.Opaque = l.flag("opaque")
		g.Functions = append(g.Functions, f)
	case "block":
		id := BlockID(len(g.Blocks))
		b := Block{Count: NoEvent}
		l.word()
		b.Start, b.End = l.span()
		b.Function = FunctionID(l.index(t.function, "function", l.pair("in")))
		b.Last, b.Instructions = l.addr("last"), int32(l.int("instructions", 32))
		if b.Count = t.eventOf(l, "count"); b.Count != NoEvent && l.err == nil {
			t.p.Events[b.Count].Block = id
		}
		b.Spin, b.Virtual, b.Deals, b.Runtime, b.Resumes = l.flag("spin"), l.flag("virtual"), l.flag("deals"), l.flag("runtime"), l.flag("resumes")
		if list, ok := l.lookup("accesses"); ok {
			for _, s := range strings.Split(list, ",") {
				b.Accesses = append(b.Accesses, uint32(l.parseInt(s, 33)))
			}
		}
		b.Branch = Inputs(l.int("branch", 16))
		g.Blocks = append(g.Blocks, b)
	case "edge":
		id := int32(len(g.Edges))
		e := Edge{From: t.blockOf(l, l.word()), To: t.blockOf(l, l.word()), Kind: EdgeKind(l.kind(edgeKinds[:], l.word()))}
		e.Site, e.Passes = l.addr("site"), uint64(l.addr("passes"))
		own := t.edgeEvents[l.pairs["count"]]
		if e.Count = t.eventOf(l, "count"); e.Count != NoEvent && own && l.err == nil {
			t.p.Events[e.Count].Edge = id
		}
		g.Edges = append(g.Edges, e)
	case "event":
		id, ok := t.event[l.word()]
		if !ok {
			return
		}
		e := &t.p.Events[id]
		e.Kind = EventKind(l.kind(eventKinds[:], l.word()))
		e.Addr, e.Name, e.Superior = l.addr("at"), l.pair("name"), t.eventOf(l, "superior")
		e.Reason, e.Cycles, e.Partner, e.Writer = l.pair("reason"), uint32(l.int("cycles", 32)), l.addr("partner"), ThreadID(l.int("writer", 32))
		e.Doubt, e.Writes, e.Called = l.float("doubt"), l.flag("writes"), l.flag("called")
		if b, ok := l.lookup("block"); ok {
			e.Block = t.blockOf(l, b)
		}
		if n := l.int("edge", 32); n != 0 {
			e.Edge = int32(n)
		}
	}
}

func (t *textReader) readSection(l *textLine) {
	p := t.p
	if l.what == "section" {
		p.Sections = append(p.Sections, Section{Kind: SectionKind(l.word()), Site: l.addr("site"), TimeNS: l.nanos("time"), Outside: int(l.int("outside", 64))})
		t.section, t.instance = &p.Sections[len(p.Sections)-1], nil
		return
	}
	if t.section == nil {
		l.fail("no section to belong to")
		return
	}
	t.section.Callers = append(t.section.Callers, l.parseAddr(l.word()))
}

func (t *textReader) readRun(l *textLine) {
	p := t.p
	switch l.what {
	case "thread":
		p.Threads = append(p.Threads, Thread{ID: ThreadID(l.parseInt(l.word(), 32)), Start: l.addr("start"),
			BeginNS: l.nanos("begin"), EndNS: l.nanos("end"), CPUNS: l.nanos("cpu"),
			Creator: ThreadID(l.int("creator", 32)), Joiner: ThreadID(l.int("joiner", 32)), JoinedNS: l.nanos("joined"),
			CreatedNS: l.nanos("created-at"), CreatedCPUNS: l.nanos("created-cpu"), JoinNS: l.nanos("join-at"), JoinCPUNS: l.nanos("join-cpu"), Work: uint64(l.int("work", 64)), With: ThreadID(l.int("with", 32))})
		t.begin(&p.Threads[len(p.Threads)-1].Totals)
	case "open":
		if len(p.Threads) == 0 {
			l.fail("no thread to belong to")
			return
		}
		th := &p.Threads[len(p.Threads)-1]
		th.Active = append(th.Active, l.parseAddr(l.word()))
	case "section", "called-at":
		t.readSection(l)
	case "instance":
		if t.section == nil {
			l.fail("no section to belong to")
			return
		}
		in := Instance{Folded: 1, SpanNS: l.nanos("span"), Waiter: ThreadID(l.int("waiter", 32)),
			Call: MPICall{l.pair("comm"), uint64(l.int("first", 64)), int(l.int("calls", 64))}}
		if n := l.int("folded", 64); n != 0 {
			in.Folded = int(n)
		}
		t.section.Instances = append(t.section.Instances, in)
		t.instance = &t.section.Instances[len(t.section.Instances)-1]
	case "total", "part":
		t.readPart(l)
	case "wait":
		t.readWait(l)
	case "wake":
		t.readWake(l)
	case "sync", "message":
		t.readMeeting(l)
	case "count":
		if t.counts == nil {
			l.fail("no thread or part to belong to")
			return
		}
		t.count(l)
	case "inner":
		if t.part == nil {
			l.fail("no part to belong to")
			return
		}
		if t.counts != &t.part.Inner {
			t.begin(&t.part.Inner)
		}
		t.count(l)
	case "units", "round", "rest", "unit":
		t.readUnits(l)
	default:
		l.fail("not a line of a profile")
	}
}

func (t *textReader) readUnits(l *textLine) {
	if t.section == nil {
		l.fail("no section to belong to")
		return
	}
	if l.what == "units" {
		t.section.Units = &Units{Dealt: DealtBy(l.word()), Loop: l.addr("loop")}
		return
	}
	u := t.section.Units
	if u == nil || l.what != "round" && len(u.Rounds) == 0 {
		l.fail("no round to belong to")
		return
	}
	if l.what == "round" {
		u.Rounds = append(u.Rounds, UnitRound{})
		return
	}
	y := &u.Rounds[len(u.Rounds)-1]
	n, err := strconv.ParseUint(l.word(), 10, 64)
	if err != nil {
		l.fail("%s: %v", l.what, err)
	}
	if l.what == "rest" {
		y.Rest = append(y.Rest, n)
		return
	}
	y.Units = append(y.Units, Unit{n, uint32(l.int("n", 33)), int32(l.int("part", 32))})
}

// count takes a line of a vector into the one that was begun.
func (t *textReader) count(l *textLine) {
	e := EventID(l.index(t.event, "event", l.word()))
	n, err := strconv.ParseUint(l.word(), 10, 64)
	if err != nil {
		l.fail("count: %v", err)
	}
	t.counts.Event, t.counts.N = append(t.counts.Event, e), append(t.counts.N, n)
}

func (t *textReader) readWait(l *textLine) {
	if t.part == nil {
		l.fail("no part to belong to")
		return
	}
	t.part.Waits = append(t.part.Waits, Wait{Kind: WaitKind(l.word()), Site: l.addr("site"), NS: l.nanos("for"), N: int(l.int("times", 32))})
}

// readMeeting reads a wait for one other thread, or one other rank.
func (t *textReader) readMeeting(l *textLine) {
	if t.part == nil {
		l.fail("no part to belong to")
		return
	}
	if l.what == "sync" {
		t.part.Syncs = append(t.part.Syncs, Sync{Kind: WaitKind(l.word()), Site: l.addr("site"), Thread: ThreadID(l.int("thread", 32)), BeginNS: l.nanos("from"), EndNS: l.nanos("to"), WakeNS: l.nanos("ended")})
		return
	}
	t.part.Messages = append(t.part.Messages, Message{Sends: l.flag("sends"), Site: l.addr("site"), Partner: int(l.int("partner", 32)), NS: l.nanos("for"), N: int(l.int("times", 32))})
}

func (t *textReader) readWake(l *textLine) {
	if t.part == nil {
		l.fail("no part to belong to")
		return
	}
	t.part.Wakes = append(t.part.Wakes, Wake{Kind: WaitKind(l.word()), Site: l.addr("site"), By: l.addr("by"), Thread: ThreadID(l.int("thread", 32)), NS: l.nanos("for")})
}

func (t *textReader) readPart(l *textLine) {
	if t.section == nil || l.what == "part" && t.instance == nil {
		l.fail("no section or instance to belong to")
		return
	}
	to := &t.section.Totals
	if l.what == "part" {
		to = &t.instance.Parts
	}
	_, busy := l.pairs["busy"]
	_, wait := l.pairs["wait"]
	*to = append(*to, Part{Thread: ThreadID(l.parseInt(l.word(), 32)), Slot: SlotID(l.int("slot", 32)), Several: l.flag("several"), Begin: l.addr("begin"), Site: l.addr("site"),
		BusyNS: l.nanos("busy"), WaitNS: l.nanos("wait"), Timed: busy || wait, BeginNS: l.nanos("from"), ArriveNS: l.nanos("to"), InnerBusyNS: l.nanos("inner")})
	t.part = &(*to)[len(*to)-1]
	t.begin(&t.part.Counts)
}
