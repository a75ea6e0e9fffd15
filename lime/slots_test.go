package lime

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// anew makes the threads of each instance new ones, the k-th in the k-th slot.
func anew(m *machine, width int) {
	for i := range m.p.Sections[0].Instances {
		for k := range m.p.Sections[0].Instances[i].Parts {
			q := &m.p.Sections[0].Instances[i].Parts[k]
			q.Slot = profile.SlotID(q.Thread)
			q.Thread += profile.ThreadID(width * i)
		}
	}
}

// Totals and counts are those of slots: new threads in each round change nothing.
func TestCountsBySlot(t *testing.T) {
	trips := func(id, round int) int { return 100 + 40*id + round }
	m, _ := rounds(8, 5, trips)
	want := analyse(t, &m.p, Options{})
	m, _ = rounds(8, 5, trips)
	anew(m, 8)
	got := analyse(t, &m.p, Options{})
	if len(got.Threads) != 8 || len(got.Causes) != 1 || !slices.Equal(got.Causes[0].Counts, want.Causes[0].Counts) {
		t.Fatalf("%d rows, %+v; want %+v", len(got.Threads), got.Causes, want.Causes)
	}
	for i, x := range got.Threads {
		if !x.Several || int(x.Slot) != i+1 || x.Instructions != want.Threads[i].Instructions {
			t.Errorf("row %d: %+v, want %+v", i, x, want.Threads[i])
		}
	}
}

// Dynamic scheduling on too few cores is seen by slots too.
func TestFirstTookAllBySlot(t *testing.T) {
	m, _ := rounds(8, 5, func(id, round int) int {
		if (id+round)%8 < 2 {
			return 1000
		}
		return 1
	})
	m.p.Run.Cores = 2
	anew(m, 8)
	if res := analyse(t, &m.p, Options{}); !hasWarning(res, "more-threads-than-cores") {
		t.Errorf("%v", res.Warnings)
	}
}

// What a thread has to wait for in forks of its own is part of its T.
func TestInnerForksCount(t *testing.T) {
	m, l := rounds(4, 3, func(id, _ int) int { return 100 + 100*id })
	want := analyse(t, &m.p, Options{})
	for i := range m.p.Sections[0].Instances {
		for k := range m.p.Sections[0].Instances[i].Parts {
			q := &m.p.Sections[0].Instances[i].Parts[k]
			q.Counts, q.Inner = profile.Counts{}, q.Counts
		}
	}
	got := analyse(t, &m.p, Options{})
	if got.Imbalance != want.Imbalance || len(got.Causes) != 1 || got.Causes[0].Addr != m.last(l.head) || !slices.Equal(got.Causes[0].Counts, want.Causes[0].Counts) {
		t.Errorf("imbalance %v, %+v", got.Imbalance, got.Causes)
	}
}

// Threads of two kinds, created for the instance: who began where comes first.
// Where one of them is the creator, or kinds differ within, it does not.
func TestStartsDecide(t *testing.T) {
	for _, c := range []struct {
		name  string
		trips func(w *walker) int
		known bool
		want  LeaderKind
	}{
		{"two kinds", func(w *walker) int { return 10 + 30*(w.id%2) }, true, StartAt},
		{"not known where they began", func(w *walker) int { return 10 + 30*(w.id%2) }, false, Loop},
		{"uneven within a kind", func(w *walker) int { return 10 + 10*w.id }, true, Loop},
	} {
		m := newMachine()
		work := m.function("work", &repeat{trips: c.trips, instructions: 9})
		kinds := []*function{m.function("decode", &call{f: work}), m.function("draw", &call{f: work})}
		var mains []*function
		for id := range 8 {
			mains = append(mains, kinds[id%2])
		}
		p := m.run(mains...)
		for id := range 9 {
			th := profile.Thread{ID: profile.ThreadID(id)}
			if c.known && id > 0 {
				th.Start = p.Sections[0].Instances[0].Parts[id-1].Begin
			}
			p.Threads = append(p.Threads, th)
		}
		res := analyse(t, p, Options{})
		if len(res.Causes) != 1 || res.Causes[0].Leader != c.want {
			t.Errorf("%s: %+v", c.name, res.Causes)
		} else if draw := m.p.Graph.Blocks[kinds[1].entry].Start; c.want == StartAt && res.Causes[0].Addr != draw {
			t.Errorf("%s: at %#x, want %#x", c.name, uint64(res.Causes[0].Addr), uint64(draw))
		}
	}
}

// Threads begin where a runtime had nothing for them: which place it was decides nothing.
func TestStartsInRuntime(t *testing.T) {
	m := newMachine()
	work := m.function("work", &repeat{trips: func(w *walker) int { return 10 + 30*(w.id%2) }, instructions: 9})
	kinds := []*function{m.function("idle", &call{f: work}), m.function("looks", &call{f: work})}
	var mains []*function
	for id := range 8 {
		mains = append(mains, kinds[id%2])
	}
	p := m.run(mains...)
	for _, k := range kinds {
		p.Graph.Blocks[k.entry].Runtime = true
	}
	for id := range 9 {
		th := profile.Thread{ID: profile.ThreadID(id)}
		if id > 0 {
			th.Start = p.Sections[0].Instances[0].Parts[id-1].Begin
		}
		p.Threads = append(p.Threads, th)
	}
	if res := analyse(t, p, Options{}); len(res.Causes) != 1 || res.Causes[0].Leader != Loop {
		t.Errorf("%+v", res.Causes)
	}
}

// Whole units never promise more than evening does.
func TestWholeUnitsAreAtMostTheGain(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	less := 0
	for range 500 {
		n := 2 + r.IntN(8)
		response, k := make([]float64, n), units{make([]float64, n), make([]float64, n)}
		for i := range n {
			k.cost[i], k.executed[i] = 100*r.Float64(), float64(r.IntN(9))
			response[i] = k.cost[i] + 100*r.Float64()
		}
		evened, scheduled := k.saved(one(n), response)
		if scheduled > evened {
			t.Fatalf("%v of %v: %v in whole units, %v evened", k, response, scheduled, evened)
		}
		if scheduled < evened {
			less++
		}
	}
	if less < 5 {
		t.Errorf("whole units cost something in %d of 500", less)
	}
}
