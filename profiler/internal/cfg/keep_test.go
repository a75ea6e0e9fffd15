package cfg

import (
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/pack"
)

// TestEveryFactIsKept: of a region, each field comes back, also those that come to
// be later; a program whose analysis was kept runs by them.
func TestEveryFactIsKept(t *testing.T) {
	none := func(string) bool { return false }
	code := []byte{0x85, 0xff, 0x74, 0x01, 0xc3, 0x31, 0xc0, 0xc3} // test; je; ret; xor; ret
	im := fuzzImage(t, code, nil, []piece{{0, 5, 0}, {5, 3, 0}})
	p := Build(im, none)
	f := p.Funcs[0]
	lo := f.Ranges[0].Lo
	want := Region{Func: f, Site: 3, Enter: lo, Also: lo + 2, Leaves: []uint64{lo + 4, lo + 5}, Object: Operand, Works: []uint64{lo + 4}, Idle: true, Future: true}
	for v, i := reflect.ValueOf(want), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Fatalf("the test does not set Region.%s", v.Type().Field(i).Name)
		}
	}
	p.Regions, p.Waiters = []Region{want}, []uint64{lo}
	var w pack.Writer
	p.Pack(&w)
	q, err := Unpack(&pack.Reader{B: w.B}, im, none)
	if err != nil {
		t.Fatal(err)
	}
	want.Func = q.Funcs[0]
	if len(q.Regions) != 1 || !reflect.DeepEqual(q.Regions[0], want) || !reflect.DeepEqual(q.Waiters, p.Waiters) {
		t.Errorf("kept %+v of %+v", q.Regions, want)
	}
}
