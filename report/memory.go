package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// Memory is what the accesses to memory of a section, or of a whole run, did in
// simulated caches.
type Memory struct {
	Accesses uint64  `json:"accesses"` // without those of instructions that repeat and of functions simulated as one
	Levels   []Level `json:"levels"`   // the nearest first
	// Lines are those that cost most modelled cycles, the dearest first.
	Lines []MemoryLine `json:"lines"`
}

// Level is how often accesses missed a level of the caches. Who missed a farther
// level has missed the nearer ones too.
type Level struct {
	Level  string   `json:"level"` // l1d, l2, l3
	Misses uint64   `json:"misses"`
	MPKI   *float64 `json:"mpki,omitempty"`      // for 1,000 of all instructions, which are those that are counted: without what libraries miss that are not
	Rate   *float64 `json:"miss_rate,omitempty"` // of the accesses
	// Doubt is, where some of the sets stand for all, half of the interval that holds the
	// misses in 95 of 100 cases, as a part of them.
	Doubt *float64 `json:"doubt,omitempty"`
}

// MemoryLine is what a source line accesses. Where that is not known, as by a
// function that is simulated as one, only its misses are.
type MemoryLine struct {
	Location Place    `json:"location"`
	Cycles   uint64   `json:"cycles"` // modelled, beyond those of hits
	Accesses *uint64  `json:"accesses,omitempty"`
	Share    *float64 `json:"share,omitempty"` // of all accesses
	Levels   []Level  `json:"levels"`
}

const memoryLines = 20

// levels of caches by the names of events, the nearest first.
var levels = []string{"l1d", "l2", "l3"}

func (b *builder) runMemory() *Memory {
	return b.memory(b.ownTotals())
}

func (b *builder) sectionMemory(slots []profile.Part) *Memory {
	var of []profile.Counts
	for _, q := range slots {
		of = append(of, q.Counts, q.Inner)
	}
	return b.memory(of)
}

// memory sums up what counts say of simulated caches; nil where there are none.
// What loops do that only wait is none of it.
func (b *builder) memory(of []profile.Counts) *Memory {
	if b.p.Run.Machine == "" {
		return nil
	}
	m := &memory{b: b, inRun: b.happened(), at: map[string]*memoryLine{}, ops: map[profile.Addr]bool{}}
	sum := make([]uint64, len(b.p.Events))
	for _, c := range of {
		m.instructions += b.p.Instructions(c)
		for i, e := range c.Event {
			sum[e] += c.N[i]
		}
	}
	for e, n := range sum {
		if ev := &b.p.Events[e]; n > 0 && ev.Kind == profile.BlockEntered {
			m.accesses(&b.p.Graph.Blocks[ev.Block], n)
		}
	}
	for e, n := range sum {
		if ev := &b.p.Events[e]; n > 0 && ev.Kind == profile.Hardware && !b.p.Spins(ev) {
			m.misses(ev, n)
			m.doubt(profile.EventID(e), n)
		}
	}
	return m.sum()
}

// memory is a sum in the making.
type memory struct {
	b            *builder
	instructions uint64
	all          memoryLine
	at           map[string]*memoryLine
	ops          map[profile.Addr]bool // instructions whose accesses are counted
	inRun        []uint64              // how often each event happened, if some are doubted
}

// memoryLine is a line's, or all lines'.
type memoryLine struct {
	place         Place
	n, cycles     uint64
	missed, known [3]uint64  // by level: where the access missed last; those of accesses that are counted
	called        [3]uint64  // and those of libraries that are not counted
	unknown       bool       // how often it accesses
	doubt         [3]float64 // by level: of its misses, and of those that went farther
}

// memoryPlace is where an instruction's line stands, and what tells it from others.
type memoryPlace struct {
	Place
	key string
}

func (b *builder) memoryPlace(a profile.Addr) memoryPlace {
	if x, known := b.ofMemory[a]; known {
		return x
	}
	at := locate(b.p, a)
	x := memoryPlace{at.Place, at.Address}
	if at.Known() {
		x.key = fmt.Sprint(at.Line, " ", at.File)
		x.Column, x.Address = 0, "" // those of one of many
	}
	if b.ofMemory == nil {
		b.ofMemory = map[profile.Addr]memoryPlace{}
	}
	b.ofMemory[a] = x
	return x
}

// line is that of an instruction.
func (m *memory) line(a profile.Addr) *memoryLine {
	at := m.b.memoryPlace(a)
	l := m.at[at.key]
	if l == nil {
		l = &memoryLine{place: at.Place}
		m.at[at.key] = l
	}
	return l
}

// accesses adds those of a block's executions.
func (m *memory) accesses(b *profile.Block, times uint64) {
	if b.Spin {
		return
	}
	for _, off := range b.Accesses {
		a := b.Start + profile.Addr(off)
		m.ops[a] = true
		m.all.n += times
		m.line(a).n += times
	}
}

// misses adds an event of caches.
func (m *memory) misses(e *profile.Event, times uint64) {
	level := slices.Index(levels, strings.TrimSuffix(e.Name, "-miss"))
	if level < 0 && e.Name != "upgrade" {
		return
	}
	own := m.line(e.Addr)
	for _, l := range []*memoryLine{own, &m.all} {
		l.cycles += times * uint64(e.Cycles)
		if level < 0 {
			continue
		}
		l.missed[level] += times
		if e.Called {
			l.called[level] += times
		}
		if m.ops[e.Addr] && !e.Called {
			l.known[level] += times
		}
	}
	own.unknown = own.unknown || e.Called || !m.ops[e.Addr]
}

// levelsOf says how a line's misses spread.
func (m *memory) levelsOf(l *memoryLine) []Level {
	out := []Level{}
	missed, known, called, last := [4]uint64{}, [4]uint64{}, [4]uint64{}, -1
	for i := len(levels) - 1; i >= 0; i-- {
		missed[i], known[i], called[i] = missed[i+1]+l.missed[i], known[i+1]+l.known[i], called[i+1]+l.called[i]
		if last < 0 && m.all.missed[i] > 0 {
			last = i
		}
	}
	for i, name := range levels[:last+1] {
		x := Level{Level: name, Misses: missed[i], Doubt: l.doubted(i, missed[i])}
		if own := missed[i] - called[i]; m.instructions > 0 && (own > 0 || called[0] == 0) {
			x.MPKI = knownRatio(1000*own, m.instructions)
		}
		if l.n > 0 && !l.unknown {
			x.Rate = knownRatio(known[i], l.n)
		}
		out = append(out, x)
	}
	return out
}

func knownRatio(a, of uint64) *float64 { return known(float64(a) / float64(of)) }

func (m *memory) sum() *Memory {
	if m.all.n == 0 {
		return nil
	}
	m.sumDoubts()
	out := &Memory{Accesses: m.all.n, Levels: m.levelsOf(&m.all), Lines: []MemoryLine{}}
	var list []*memoryLine
	for _, l := range m.at {
		if l.cycles > 0 {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(x, y *memoryLine) int {
		return cmp.Or(cmp.Compare(y.cycles, x.cycles), cmp.Compare(x.place.Short(), y.place.Short()), cmp.Compare(x.place.Address, y.place.Address))
	})
	for _, l := range list[:min(len(list), memoryLines)] {
		x := MemoryLine{Location: l.place, Cycles: l.cycles, Levels: m.levelsOf(l)}
		if !l.unknown {
			n := l.n
			x.Accesses, x.Share = &n, knownRatio(n, m.all.n)
		}
		out.Lines = append(out.Lines, x)
	}
	return out
}

// OfLine is what is known of a line's accesses, nil for nothing.
func (m *Memory) OfLine(at Place) *MemoryLine {
	if m == nil {
		return nil
	}
	for i := range m.Lines {
		if l := &m.Lines[i]; l.Location.sameLine(at) {
			return l
		}
	}
	return nil
}
