package solve

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
)

// keeping are two modules without simulated caches, of which functions are kept.
func keeping(t *testing.T) (layout threadarea.Layout, mods []Module) {
	programs := probetest.Programs(t)
	from := relocate.Numbers{}
	var funcs []threadarea.Function
	for i, path := range []string{programs[0], programs[len(programs)-1]} {
		s := relocate.New(probetest.Open(t, path), probetest.NoHooks, probe.Options{}, from)
		if _, err := s.Assemble(s.Home()); err != nil {
			t.Fatal(err)
		}
		mods = append(mods, Module{Spec: s, Base: uint64(i) << 40, Kept: &Kept{}})
		from = s.Next()
		funcs = append(funcs, s.Functions()...)
	}
	return threadarea.NewLayout(funcs, 0), mods
}

// written are modules with what the bytes say of their functions.
func written(mods []Module, shift uint64) []Module {
	mods = slices.Clone(mods)
	for i := range mods {
		var w pack.Writer
		mods[i].Kept.Pack(&w)
		mods[i].Kept = NewKept(w.B)
		mods[i].Base += shift
	}
	return mods
}

// loaded says all that a solver knows of its functions, which are loaded in an order.
func loaded(v *Solver, order []int) string {
	for _, fi := range order {
		v.load(int32(fi))
	}
	var all strings.Builder
	fmt.Fprintf(&all, "%+v\n%+v\n%+v\n", v.events, v.exits, v.weight)
	for _, x := range v.funcs {
		fmt.Fprintf(&all, "%+v\n", *x)
	}
	return all.String()
}

// TestKeptIsMade: functions that are read back are those that would have been made, in
// whatever order they come, wherever their module lies in the profile; nothing of them
// is made, and so nothing is new.
func TestKeptIsMade(t *testing.T) {
	layout, mods := keeping(t)
	v := New(layout, mods...)
	n := v.Functions()
	rng := rand.New(rand.NewPCG(1, 2))
	loaded(v, rng.Perm(n))
	order := rng.Perm(n)
	for _, shift := range []uint64{0, 1 << 42} {
		again := written(mods, shift)
		got := loaded(New(layout, again...), order)
		for i := range again {
			if k := again[i].Kept; len(k.made) > 0 || len(k.was) != len(mods[i].Spec.Plans()) {
				t.Errorf("module %d: %d of %d functions were kept, %d were made again", i, len(k.was), len(mods[i].Spec.Plans()), len(k.made))
			}
			again[i].Kept = nil
		}
		if want := loaded(New(layout, again...), order); got != want {
			t.Errorf("read back as something else, moved by %#x", shift)
		}
	}
}

// TestKeptOfAnotherPlan: what was kept of a function with other counters, or was cut
// short, or has one byte more, is not taken; the function is made as if there were nothing.
func TestKeptOfAnotherPlan(t *testing.T) {
	layout, mods := keeping(t)
	order := rand.New(rand.NewPCG(3, 4)).Perm(New(layout, mods...).Functions())
	want := loaded(New(layout, mods...), order)
	for what, spoil := range map[string]func(k *Kept){
		"of another function": func(k *Kept) {
			for i := range k.was {
				k.was[i].is = k.was[(i+1)%len(k.was)].is
			}
		},
		"cut short": func(k *Kept) {
			for i, x := range k.was {
				k.was[i].is = x.is[:len(x.is)-1-i%(len(x.is)-1)]
			}
		},
		"with more behind": func(k *Kept) {
			for i, x := range k.was {
				k.was[i].is = append(slices.Clone(x.is), 0)
			}
		},
	} {
		again := written(mods, 0)
		for i := range again {
			spoil(again[i].Kept)
		}
		if got := loaded(New(layout, again...), order); got != want {
			t.Errorf("taken although %s", what)
		}
		for i := range again {
			if k := again[i].Kept; len(k.made) != len(k.was) {
				t.Errorf("%s: %d of %d functions of module %d were made", what, len(k.made), len(k.was), i)
			}
			var w pack.Writer
			if again[i].Kept.Pack(&w); !reflect.DeepEqual(NewKept(w.B), written(mods, 0)[i].Kept) {
				t.Errorf("%s: module %d is not mended by what was made", what, i)
			}
		}
	}
}

// TestSpoilt: whatever bytes say, reading them ends, without a fault of ours.
func TestSpoilt(t *testing.T) {
	layout, mods := keeping(t)
	v := New(layout, mods...)
	for fi := range v.Functions() {
		v.load(int32(fi))
	}
	rng := rand.New(rand.NewPCG(5, 6))
	var w pack.Writer
	mods[0].Kept.Pack(&w)
	for range 50 {
		b := slices.Clone(w.B)
		for range 50 {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		again := slices.Clone(mods)
		again[0].Kept = NewKept(b[:len(b)-rng.IntN(len(b)/2)])
		v := New(layout, again...)
		for _, q := range mods[0].Spec.Plans()[:20] {
			v.restore(q.Number, &v.mods[0])
		}
	}
}

// TestGrown: all is written again when much is new, in few functions or in many, not when
// little is.
func TestGrown(t *testing.T) {
	of := func(functions, each int) []keptFunction {
		return slices.Repeat([]keptFunction{{is: make([]byte, each)}}, functions)
	}
	for _, x := range []struct {
		was, made []keptFunction
		want      bool
	}{
		{nil, nil, false},
		{nil, of(4, 1000), false},
		{nil, of(1, 4096), true},
		{nil, of(4096, 1), true},
		{of(2, 32<<10), of(4, 1024), true},
		{of(2, 32<<10+8), of(4, 1024), false},
	} {
		k := &Kept{was: x.was, made: x.made}
		if k.Grown() != x.want {
			t.Errorf("%d new ones beside %d: %v", len(x.made), len(x.was), k.Grown())
		}
	}
}
