package probe

import (
	"reflect"
	"testing"
)

func TestParseOptions(t *testing.T) {
	o, err := ParseOptions("no-counters,no-tree no-induction,,no-align, no-leaf")
	if all := (Options{NoCounters: true, NoTree: true, NoInduction: true, NoAlign: true, NoLeaf: true}); err != nil || !reflect.DeepEqual(o, all) {
		t.Errorf("all that a user may say is read as %+v, %v", o, err)
	}
	if o, err := ParseOptions(""); err != nil || !reflect.DeepEqual(o, Options{}) {
		t.Errorf("no options are read as %+v, %v", o, err)
	}
	if _, err := ParseOptions("no-such"); err == nil {
		t.Error("an option that does not exist is accepted")
	}
}
