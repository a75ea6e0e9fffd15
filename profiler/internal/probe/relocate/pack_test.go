package relocate

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
)

// TestUnpackIsPacked: what was written and read back emits the same code,
// numbers the same counters, and solves the same way.
func TestUnpackIsPacked(t *testing.T) {
	for _, path := range probetest.Programs(t) {
		im, err := image.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, opt := range []probe.Options{{Caches: probe.Front{Sets: 64, Shift: 6}}, {Looks: true, Units: true}} {
			testUnpackIsPacked(t, path, im, opt)
		}
	}
}

// anything is what might have run.
func anything(s *Spec) (x Ran) {
	for i, q := range s.plans {
		x = append(x, nil)
		if g := s.Program.Graph(q.Func, nil); i%3 > 0 {
			for e := range s.Counters(q, g, nil).Edges {
				x[i] = append(x[i], byte(i+e*e))
			}
		}
	}
	return x
}

func testUnpackIsPacked(t *testing.T, path string, im *image.Image, opt probe.Options) {
	s := New(cfg.Build(im, probetest.Catches), probetest.NoHooks, opt, Numbers{})
	guess, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	next := s.next
	s.SetRan(anything(s))
	c, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	if next != s.next || bytes.Equal(c.Bytes, guess.Bytes) {
		t.Errorf("%s: with what ran, the numbers are %v, without %v; or the code is the same", path, s.next, next)
	}
	var w pack.Writer
	s.Program.Pack(&w)
	s.Pack(&w, c)
	r := &pack.Reader{B: w.B}
	p, err := cfg.Unpack(r, im, probetest.Catches)
	if err != nil {
		t.Fatal(err)
	}
	s2, c2, err := Unpack(r, p, probetest.NoHooks, opt, Numbers{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.B) != 0 || s.Home() != s2.Home() || s.next != s2.next || !reflect.DeepEqual(c.starts, c2.starts) || !bytes.Equal(c.Bytes, c2.Bytes) || !reflect.DeepEqual(c.sites, c2.sites) {
		t.Errorf("%s: read back as something else", path)
	}
	for i := range c.Texts {
		if !bytes.Equal(c.Texts[i].New, c2.Texts[i].New) {
			t.Errorf("%s: text %d read back as something else", path, i)
		}
	}
	for i, q := range s.plans {
		q2 := s2.plans[i]
		if q.Func.Name != q2.Func.Name || q.first != q2.first || q.After != q2.After || q.CallersUnknown != q2.CallersUnknown || q.Op != q2.Op || q.ops != q2.ops || !bytes.Equal(q.ran, q2.ran) {
			t.Fatalf("%s: %s read back as %s", path, q.Func.Name, q2.Func.Name)
		}
		if !slices.Equal(s.Copied(c, i), s2.Copied(c2, i)) {
			t.Fatalf("%s: %s is emitted otherwise", path, q.Func.Name)
		}
		a, b := counters(s, q), counters(s2, q2)
		if !slices.Equal(a, b) {
			t.Fatalf("%s: %s counts at %v, read back at %v", path, q.Func.Name, a, b)
		}
	}
	for cut := range 100 { // whatever is missing is noticed
		r := &pack.Reader{B: w.B[:len(w.B)*cut/100]}
		if p, err := cfg.Unpack(r, im, probetest.Catches); err == nil {
			if _, _, err := Unpack(r, p, probetest.NoHooks, opt, Numbers{}); err == nil {
				t.Errorf("%s: %d %% of it are enough", path, cut)
			}
		}
	}
}

func counters(s *Spec, q *Plan) (list []int32) {
	w := s.Counters(q, s.Program.Graph(q.Func, nil), nil)
	for i := range w.Edges {
		list = append(list, w.Edges[i].Counter)
	}
	return list
}
