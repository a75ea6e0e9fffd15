package cfg

import "testing"

// TestCommunicates: what is received was taken; what is sent was not.
func TestCommunicates(t *testing.T) {
	d := NewDealer(nil)
	for name, want := range map[string][2]bool{"runtime.chanrecv1": {true, true}, "runtime.chanrecv2": {true, true}, "runtime.selectgo": {true, true},
		"runtime.chansend1": {true, false}, "runtime.closechan": {true, false}, "runtime.makechan": {false, false}} {
		f := &Func{Name: name, Skip: "Go's runtime"}
		if got := [2]bool{Communicates(name), d.habitOf(&Call{Callee: f}, 0).fetches}; got != want {
			t.Errorf("%s: communicates, takes: %v, want %v", name, got, want)
		}
	}
}
