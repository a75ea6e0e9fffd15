package lime

import (
	"strings"
	"testing"
)

// TestSpecialised: of a helper that is called with much to do and with little the compiler
// made one function for each. Which is called is the cause, and not the loop that both
// have; where the loop's own count differs in one of them it is that.
func TestSpecialised(t *testing.T) {
	for _, c := range []struct {
		name string // 0 and 1 for #
		more int    // trips of the dear one, by what each thread finds
		want LeaderKind
	}{
		{"mix.constprop.#", 0, Branch},
		{"mix.constprop.#", 40, Loop},
		{"_ZL3mixILi#EEmm", 0, Branch},
		{"_ZN2ns3mixILi#EE3runEm", 0, Branch},
		{"_ZN4prog3mix17h0123456789abcde#E", 0, Branch},
		{"main.mix[go.shape.int#]", 0, Branch},
		{"_ZL3mixILi#EEmm", 40, Loop},
		{"_ZL4mix#mm", 0, Loop},
		{"mix#", 0, Loop}, // copies of what is the same
	} {
		m := newMachine()
		var fs []*function
		for k, trips := range []int{3, 60} {
			fs = append(fs, m.function(strings.ReplaceAll(c.name, "#", string(rune('0'+k))), &repeat{trips: func(w *walker) int { return trips + k*c.more*w.id }, instructions: 9}))
		}
		guilty := &call{targets: fs, through: func(w *walker) *function { return fs[w.id%2] }}
		p := m.run(all(m.function("main", &repeat{trips: fixed(50), instructions: 2, body: []stmt{guilty}}), 6)...)
		located(m)
		likewise(m, fs[1], fs[0])
		res := analyse(t, p, Options{})
		if len(res.Causes) == 0 || res.Causes[0].Leader != c.want {
			t.Errorf("%s, %d: want %s: %+v", c.name, c.more, c.want, res.Causes)
		} else if at := m.last(guilty.block); c.want == Branch && res.Causes[0].Addr != at {
			t.Errorf("%s: at %#x, want %#x", c.name, uint64(res.Causes[0].Addr), uint64(at))
		}
	}
}
