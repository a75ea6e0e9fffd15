package relocate

import (
	"bytes"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestUnitsAreNumbered: each loop that may deal work out has a number of its own,
// the same when its function is emitted again and when all is read back; and
// nothing but their gates is emitted for them.
func TestUnitsAreNumbered(t *testing.T) {
	im, err := image.Open(probetest.Programs(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	hooks := func(name string) (record.Hook, bool) { return record.Hook{Arrive: 5, Leave: 6}, name == record.Unit }
	from, opt := Numbers{Unit: 7}, probe.Options{Units: true}
	s := New(cfg.Build(im, probetest.Catches), hooks, opt, from)
	c, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Units()); n < 100 || int(s.Next().Unit) != 7+n {
		t.Fatalf("%d loops, and the next number is %d", n, s.Next().Unit)
	}
	index := 0
	for i, u := range s.Units() {
		if i > 0 && s.Units()[i-1].Head == u.Head || u.Func == nil || !u.Func.In(u.Head) {
			t.Errorf("a loop at %#x", u.Head)
		}
		if u.Index {
			index++
		}
	}
	if index*4 < len(s.Units()) {
		t.Errorf("what counts the rounds is known of %d loops of %d", index, len(s.Units()))
	}
	m := newEmitter(s, s.Home(), 0)
	for _, q := range s.plans {
		m.open(q)
		for k, u := range m.units {
			if got := s.Units()[u.n-7]; got.Func != q.Func || got.Head != u.loop.Head.Start || u.n != q.unit+int32(k) {
				t.Fatalf("%s: loop %d is another one now", q.Func.Name, u.n)
			}
		}
		m.EndScope()
	}
	if int(s.Next().Unit) != 7+len(s.Units()) {
		t.Error("loops were numbered twice")
	}

	var w pack.Writer
	s.Pack(&w, c)
	again, c2, err := Unpack(&pack.Reader{B: w.B}, s.Program, hooks, opt, from)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Units(), s.Units()) || again.Next() != s.Next() || !bytes.Equal(c.Bytes, c2.Bytes) {
		t.Error("read back as something else")
	}
}

// TestUnitsAreLeftByWhoIsIn: wherever control leaves such a loop for a block, there is
// a gate.
func TestUnitsAreLeftByWhoIsIn(t *testing.T) {
	hooks := func(name string) (record.Hook, bool) { return record.Hook{Arrive: 5, Leave: 6}, name == record.Unit }
	s := New(probetest.Open(t, probetest.Programs(t)[0]), hooks, probe.Options{Units: true}, Numbers{})
	m := newEmitter(s, s.Home(), 0)
	for _, q := range s.plans[:min(300, len(s.plans))] {
		m.open(q)
		for i := range m.units {
			l := m.units[i].loop
			for _, b := range l.Blocks {
				for _, e := range b.Succ {
					if e.To != nil && !l.Has(e.To) && !comesFrom(e.To, l) {
						t.Errorf("%s: nobody notes that the loop at %#x is left for %#x", q.Func.Name, l.Head.Start, e.To.Start)
					}
				}
				if b.Spin || l.Head.Pad {
					t.Errorf("%s: the loop at %#x waits", q.Func.Name, l.Head.Start)
				}
			}
		}
		m.EndScope()
	}
}
