package lime

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestAlike: instances that are alike, analysed once, say what they would each by itself,
// in whatever order others come between them.
func TestAlike(t *testing.T) {
	shared := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		p := scrambled(rng)
		s := &p.Sections[0]
		for range 1 + rng.IntN(12) {
			in := s.Instances[rng.IntN(len(s.Instances))]
			in.Parts = slices.Clone(in.Parts)
			s.Instances = append(s.Instances, in)
		}
		a := New(p)
		for _, opt := range []Options{{}, {Method: Paper}} {
			got, err := a.Section(s, opt)
			if err != nil {
				t.Fatal(err)
			}
			if got.Balanced {
				continue
			}
			_ = opt.complete()
			all, _ := a.instances(s, opt.Response)
			uneven := slices.DeleteFunc(slices.Clone(all), func(in *instance) bool { return in.idle == 0 })
			slices.SortStableFunc(uneven, func(x, y *instance) int { return cmp.Compare(y.idle, x.idle) })
			c, r, want := combiner{byID: map[identity]*combined{}}, room{}, &Result{Response: got.Response, R2: math.NaN(), JointGain: math.NaN(), Threads: got.Threads}
			for _, in := range all {
				c.longest += in.longest
			}
			for i, in := range uneven {
				c.add(a.analysis(opt, &r, nil, in), in)
				if i > 0 && in.alike(uneven[i-1]) {
					shared++
				}
			}
			c.finish(p, want, s, opt)
			of := func(r *Result) Result { // sums by vectors of the processor's differ in the last bit by where they lie
				x := noNaN(&Result{Causes: r.Causes, R2: r.R2, JointGain: r.JointGain})
				for _, v := range append(figures(&x), &x.R2, &x.JointGain) {
					*v = math.Round(*v*1e9) / 1e9
				}
				return x
			}
			if !reflect.DeepEqual(of(got), of(want)) {
				t.Fatalf("seed %d, %+v:\n%+v, each by itself\n%+v", seed, opt, got.Causes, want.Causes)
			}
		}
	}
	if shared < 100 {
		t.Errorf("only %d instances were alike: this tests too little", shared)
	}
}

// figures are the numbers of all causes.
func figures(r *Result) (all []*float64) {
	for i := range r.Causes {
		c := &r.Causes[i]
		all = append(all, &c.Share, &c.Score, &c.Beta, &c.LeaderScore, &c.Gain, &c.WholeUnits, &c.Erased)
	}
	return all
}

// TestNotAlike: whatever an analysis looks at makes another instance.
func TestNotAlike(t *testing.T) {
	counts := func(n ...uint64) profile.Counts { return sparse(n) }
	make2 := func(change func(*instance)) *instance {
		in := &instance{folded: 1, response: []float64{7, 9}, parts: []profile.Part{{Thread: 1, Counts: counts(3, 0, 4)}, {Thread: 2, Counts: counts(5, 4)}}}
		change(in)
		return in
	}
	same := make2(func(in *instance) { in.index = 4 })
	if !same.alike(make2(func(*instance) {})) {
		t.Error("two that are the same are not alike")
	}
	for what, change := range map[string]func(*instance){
		"executions": func(in *instance) { in.folded = 2 },
		"ranks":      func(in *instance) { in.ranked = true },
		"response":   func(in *instance) { in.response[1] = 8 },
		"width":      func(in *instance) { in.parts = in.parts[:1] },
		"thread":     func(in *instance) { in.parts[1].Thread = 3 },
		"slot":       func(in *instance) { in.parts[1].Slot = 3 },
		"begin":      func(in *instance) { in.parts[1].Begin = 3 },
		"counts":     func(in *instance) { in.parts[1].Counts = counts(5, 3) },
		"events":     func(in *instance) { in.parts[1].Counts = counts(5, 0, 4) },
	} {
		if same.alike(make2(change)) {
			t.Errorf("alike with another %s", what)
		}
	}
}
