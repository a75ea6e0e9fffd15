package lime

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// newTable lays out the counts of some instances by themselves.
func newTable(events int, instances ...*instance) *table {
	return new(room).table(events, instances...)
}

// TestRoom: what is found of an instance is the same in room that others had before, and
// is still that when others had the room after it.
func TestRoom(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	found := 0
	for range 200 {
		p := scrambled(r)
		if r.IntN(3) == 0 {
			p = large(100, 2+r.IntN(6), 3)
		}
		an := New(p)
		var ins []*instance
		for i := range p.Sections {
			more, err := an.instances(&p.Sections[i], "instructions")
			if err != nil {
				continue
			}
			ins = append(ins, more...)
		}
		opt := Options{}
		if err := opt.complete(); err != nil {
			t.Fatal(err)
		}
		r.Shuffle(len(ins), func(i, k int) { ins[i], ins[k] = ins[k], ins[i] })
		var shared room
		var in, alone []*analysis
		for _, x := range ins {
			in = append(in, an.analysis(opt, &shared, nil, x))
			alone = append(alone, an.analysis(opt, &room{}, nil, x))
		}
		for i := range ins {
			found += len(alone[i].findings)
			if !reflect.DeepEqual(kept(in[i]), kept(alone[i])) {
				t.Fatalf("instance %d of %d: in room that was used\n%+v\nalone\n%+v", i, len(ins), kept(in[i]), kept(alone[i]))
			}
		}
	}
	if found < 100 {
		t.Errorf("%d findings are too few to tell", found)
	}
}

// kept is what the combiner keeps of an analysis, but for numbers that are none: these differ
// from themselves.
func kept(a *analysis) explained {
	list := make([]finding, len(a.findings))
	for i, f := range a.findings {
		f.p, f.leaderScore = 0, 0
		if _, ok := f.origin.(steering); ok {
			f.leaderScore = a.findings[i].leaderScore
		}
		list[i] = f
	}
	return explained{a.table.groups, a.idle, a.response, list, a.instances}
}
