package probe

import (
	"reflect"
	"testing"
)

func TestParseOptions(t *testing.T) {
	o, err := ParseOptions("no-counters,no-tree no-induction,,no-align, no-leaf layout-3")
	if all := (Options{NoCounters: true, NoTree: true, NoInduction: true, NoAlign: true, NoLeaf: true, Layout: 3}); err != nil || !reflect.DeepEqual(o, all) {
		t.Errorf("all that a user may say is read as %+v, %v", o, err)
	}
	if o, err := ParseOptions(""); err != nil || !reflect.DeepEqual(o, Options{}) {
		t.Errorf("no options are read as %+v, %v", o, err)
	}
	for _, s := range []string{"no-such", "layout-", "layout--1", "layout-x"} {
		if _, err := ParseOptions(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
}

// Moved code says nothing where it counts nothing, but for when threads meet.
func TestBare(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want bool
	}{{Options{}, false}, {Options{NoCounters: true}, true}, {Options{NoCounters: true, Times: true}, false}} {
		if got := c.o.Bare(); got != c.want {
			t.Errorf("%+v: %v", c.o, got)
		}
	}
}

// What begins in a line may end in the next one, of which the first follows the last.
func TestSamples(t *testing.T) {
	if got := (Sample(1 | 1<<5 | 1<<63)).Beside(); got != 1|1<<1|1<<5|1<<6|1<<63 {
		t.Errorf("%#x", got)
	}
	if (Front{}).On() || !(Front{Sets: 64}).On() {
		t.Error("caches are simulated where their first level has sets")
	}
}
