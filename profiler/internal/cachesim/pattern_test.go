package cachesim

import (
	"slices"
	"testing"
)

// small has 8 sets of 2 ways in the L1, 16 of 4 in the L2 and 64 of 4 in the L3.
var small = Machine{
	Name: "small", Line: 64,
	L1: Geometry{Size: 1 << 10, Ways: 2}, L2: Geometry{Size: 4 << 10, Ways: 4}, L3: Geometry{Size: 16 << 10, Ways: 4},
	Latency: DefaultLatency,
}

// only says that nothing but these was counted.
func only(t *testing.T, what string, got Counts, want map[Class]int64) {
	t.Helper()
	for c, n := range got {
		if n != want[Class(c)] {
			t.Errorf("%s: %d of %v, want %d", what, n, Class(c), want[Class(c)])
		}
	}
}

func class(l Level, k Kind) Class { c, _ := Outcome{Level: l, Kind: k}.Class(); return c }

func TestFirstTouchIsCold(t *testing.T) {
	s, st := New(small, 2), Stats{}
	for core := range 2 {
		for a := uint64(0); a < 4<<10; a += 8 {
			st.Add(uint32(core), s.Access(core, a, 8, false, 0))
		}
	}
	only(t, "the first core", st.Of(0), map[Class]int64{class(Memory, Cold): 64})
	only(t, "the second core", st.Of(1), map[Class]int64{class(L3, Cold): 64})
	if got := st.Ops(); !slices.Equal(got, []uint32{0, 1}) {
		t.Errorf("ops %d", got)
	}
	if n := st.Of(0); n.Misses() != 64 {
		t.Errorf("%d misses, want 64", n.Misses())
	}
	only(t, "an op that did nothing", st.Of(7), nil)
}

func TestStreamingIsCapacity(t *testing.T) {
	s, first, again := New(small, 1), Counts{}, Counts{}
	for round := range 3 {
		n := &again
		if round == 0 {
			n = &first
		}
		for a := uint64(0); a < 64<<10; a += 64 { // four times the L3
			n.Add(s.Access(0, a, 8, false, 0))
		}
	}
	only(t, "first round", first, map[Class]int64{class(Memory, Cold): 1024})
	only(t, "later rounds", again, map[Class]int64{class(Memory, Capacity): 2048})
}

// One line more than a set has ways, each at the next one's heels.
func TestPowerOfTwoStrideIsConflict(t *testing.T) {
	s, n := New(small, 1), Counts{}
	for range 10 {
		for i := range uint64(3) {
			n.Add(s.Access(0, i*512, 8, false, 0)) // one set of the L1, two of the L2
		}
	}
	only(t, "three lines in one set of two ways", n, map[Class]int64{class(Memory, Cold): 3, class(L2, Conflict): 27})

	s, n = New(small, 1), Counts{}
	for range 10 {
		for i := range uint64(5) {
			n.Add(s.Access(0, i*1024, 8, false, 0)) // one set of the L2, four of the L3
		}
	}
	only(t, "five lines in one set of four ways", n, map[Class]int64{class(Memory, Cold): 5, class(L3, Conflict): 45})

	s, n = New(small, 1), Counts{}
	for range 10 {
		for i := range uint64(5) {
			n.Add(s.Access(0, i*4096, 8, false, 0)) // one set of the L3
		}
	}
	only(t, "five lines in one set of the L3", n, map[Class]int64{class(Memory, Cold): 5, class(Memory, Conflict): 45})
}

func TestFalseSharingPair(t *testing.T) {
	s, st := New(small, 2), Stats{}
	for range 100 {
		for core := range 2 {
			o := s.Access(core, uint64(8*core), 8, true, uint32(10+core))
			st.Add(uint32(core), o)
			if want := (Partner{Op: uint32(10 + 1 - core), Core: 1 - core}); o.Kind == False && o.Partner != want {
				t.Fatalf("core %d: partner %+v, want %+v", core, o.Partner, want)
			}
		}
	}
	only(t, "first core", st.Of(0), map[Class]int64{class(Memory, Cold): 1, class(L3, False): 99})
	only(t, "second core", st.Of(1), map[Class]int64{class(L3, Cold): 1, class(L3, False): 99})
}

func TestProducerAndConsumer(t *testing.T) {
	s, st := New(small, 2), Stats{}
	for range 100 {
		st.Add(0, s.Access(0, 0x40, 8, true, 5))
		o := s.Access(1, 0x44, 4, false, 6)
		st.Add(1, o)
		if o.Kind == True && o.Partner != (Partner{Op: 5, Core: 0}) {
			t.Fatalf("partner %+v, want op 5 of core 0", o.Partner)
		}
	}
	only(t, "producer", st.Of(0), map[Class]int64{class(Memory, Cold): 1, Upgrade: 99})
	only(t, "consumer", st.Of(1), map[Class]int64{class(L3, Cold): 1, class(L3, True): 99})
}

// A lock and what it guards lie in one line: who waits for the lock misses truly,
// who reads a third field falsely.
func TestPartnerIsWhoWroteTheBytes(t *testing.T) {
	shared := func() *System {
		s := New(small, 3)
		for core := range 3 {
			s.Access(core, 0, 64, false, 0)
		}
		s.Access(0, 0, 4, true, 1)  // takes it from 1 and 2
		s.Access(0, 8, 4, true, 2)  // the same epoch: its op is the last write's
		s.Access(1, 16, 4, true, 3) // takes it from 0
		return s
	}
	for _, c := range []struct {
		name string
		addr uint64
		want Outcome
	}{
		{"what core 0 wrote", 0, Outcome{Level: L3, Kind: True, Partner: Partner{Op: 2, Core: 0}}},
		{"what core 1 wrote", 18, Outcome{Level: L3, Kind: True, Partner: Partner{Op: 3, Core: 1}}},
		{"what nobody wrote", 32, Outcome{Level: L3, Kind: False, Partner: Partner{Op: 3, Core: 1}}},
		{"across the end", 60, Outcome{Level: Memory, Kind: Cold}}, // the deeper of the two
	} {
		if got := shared().Access(2, c.addr, 8, false, 9); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := shared().Access(0, 0, 4, false, 9); got != (Outcome{Level: L3, Kind: False, Partner: Partner{Op: 3, Core: 1}}) {
		t.Errorf("what the core wrote itself: %+v, want false sharing", got)
	}
}

// The first of the epochs that are merged lends its bytes to those who lost the
// line in the second.
func TestOldestEpochsMerge(t *testing.T) {
	var r record
	at := func(i int) bytes { return span{8 * i, 8*i + 8}.bytes() }
	for i := range 5 { // core i writes bytes i, and takes it from core 10+i
		r.write(i, uint32(100+i), at(i), alone(10+i))
	}
	for _, c := range []struct {
		core, wanted int
		kind         Kind
		by           Partner
	}{
		{10, 0, True, Partner{101, 1}},
		{11, 0, True, Partner{101, 1}}, // it lost it later: the price of merging
		{12, 0, False, Partner{104, 4}},
		{12, 3, True, Partner{103, 3}},
		{14, 3, False, Partner{104, 4}},
	} {
		if kind, by := r.back(c.core, at(c.wanted)); kind != c.kind || by != c.by {
			t.Errorf("core %d, bytes %d: %v by %+v, want %v by %+v", c.core, c.wanted, kind, by, c.kind, c.by)
		}
	}
	for i := range 5 {
		if r.n != maxEpochs {
			t.Errorf("%d epochs before core %d leaves", r.n, 10+i)
		}
		r.leave(10 + i)
	}
	if r.n != 0 {
		t.Errorf("%d epochs when all have left", r.n)
	}
}

func TestResetForgetsOneCore(t *testing.T) {
	s := New(small, 2)
	s.Access(0, 0, 8, true, 1)
	s.Access(1, 0, 8, true, 2) // takes it from core 0
	s.Reset(0)
	if got := s.Access(0, 0, 8, false, 3); got != (Outcome{Level: L3, Kind: Cold}) {
		t.Errorf("after its Reset: %+v, want cold", got)
	}
	s.Access(0, 0, 8, true, 4) // takes it from core 1
	s.Reset(0)
	if got := s.Access(1, 0, 8, false, 5); got != (Outcome{Level: L3, Kind: True, Partner: Partner{Op: 4}}) {
		t.Errorf("after the writer's Reset: %+v, want true sharing", got)
	}
	if got := s.Access(1, 0, 8, true, 6); got != (Outcome{}) {
		t.Errorf("alone: %+v, want a hit", got)
	}
}

func TestEndsOfTheAddresses(t *testing.T) {
	s := New(small, 1)
	if got := s.Access(0, 0, 0, true, 1); got != (Outcome{}) || s.lines.n != 0 {
		t.Errorf("no byte: %+v, and %d lines", got, s.lines.n)
	}
	cold := Outcome{Level: Memory, Kind: Cold}
	if got := s.Access(0, ^uint64(0)-3, 100, false, 1); got != cold || s.lines.n != 1 {
		t.Errorf("beyond the end: %+v, and %d lines, want %+v and one", got, s.lines.n, cold)
	}
	if got := s.Access(0, ^uint64(0), 1, false, 1); got != (Outcome{}) {
		t.Errorf("the last byte: %+v, want a hit", got)
	}
}

func TestClassesHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for c := range Class(Classes) {
		seen[c.String()] = true
		if k, ok := c.Kind(); ok && class(c.Level(), k) != c {
			t.Errorf("%v is %d, and made of its parts %d", c, c, class(c.Level(), k))
		}
	}
	if len(seen) != Classes {
		t.Errorf("%d names of %d classes", len(seen), Classes)
	}
	for c, want := range map[Class]string{0: "l1d-miss/cold", 8: "l2-miss/true-sharing", 12: "l3-miss/conflict", 15: "upgrade"} {
		if c.String() != want {
			t.Errorf("class %d is %q, want %q", c, c, want)
		}
	}
}

func TestLatencyOfOutcomes(t *testing.T) {
	for want, o := range map[Cycles]Outcome{0: {}, 50: {Upgrade: true}, 14: {Level: L2}, 64: {Level: L2, Upgrade: true}, 200: {Level: Memory, Kind: True}} {
		if got := DefaultLatency.Of(o); got != want {
			t.Errorf("%+v costs %d, want %d", o, got, want)
		}
	}
}

func BenchmarkHits(b *testing.B) {
	m, _, err := Find("server64", nil)
	if err != nil {
		b.Fatal(err)
	}
	for i, name := range []string{"read", "write"} {
		b.Run(name, func(b *testing.B) {
			s := New(m, 1)
			for j := range b.N {
				s.Access(0, uint64(j*40)&(16<<10-1)&^7, 8, i == 1, 1)
			}
		})
	}
}

func BenchmarkMisses(b *testing.B) {
	m, _, err := Find("server64", nil)
	if err != nil {
		b.Fatal(err)
	}
	s := New(m, 2)
	for i := range b.N {
		s.Access(i&1, uint64(i)*64*7&(128<<20-1), 8, i&8 == 0, 1)
	}
}
