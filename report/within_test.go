package report

import (
	"math"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
)

// TestWithin: a cause in the language's library stands at the program's call that
// led there, past the library's own calls; but in the library where as many calls
// came from elsewhere, or from another line of the program, or where the program calls it from a place without a line.
func TestWithin(t *testing.T) {
	const leaf = "location 0x140f file=/usr/include/c++/12/bits/stl_algo.h line=1829 function=std::__leaf\n"
	library := strings.NewReplacer("file=/src/chain.c line=22 function=walk", "file=/usr/include/c++/12/bits/stl_algo.h line=22 function=std::__walk")
	twice := strings.NewReplacer("edge back.0 leaf.0", "edge walk.0 leaf.0 call site=0x1204 count=walk.0\nedge back.0 leaf.0",
		"location 0x1501", "location 0x1204 file=/src/chain.c line=24 function=walk\nlocation 0x1501")
	library2 := strings.NewReplacer("file=/src/chain.c line=24 function=walk", "file=/usr/include/c++/12/bits/stl_algo.h line=24 function=std::__walk")
	for _, c := range []struct {
		name, program, want, within, from string
	}{
		{"called once", chain, "chain.c:22", "stl_algo.h:1829", "chain.h:11"},
		{"by the library's own", library.Replace(chain), "chain.h:11", "stl_algo.h:1829", "chain.c:2"},
		{"by the library's own, in two ways", library2.Replace(library.Replace(twice.Replace(chain))), "chain.h:11", "stl_algo.h:1829", "chain.c:2"},
		{"on two lines", twice.Replace(chain), "stl_algo.h:1829", "", "chain.c:22"},
		{"by others too", strings.Replace(chain, "      count leaf.0 50\n", "      count leaf.0 120\n      count body.0 70\n", 1), "stl_algo.h:1829", "", "chain.c:3"},
		{"from nowhere", strings.Replace(chain, "location 0x1203 file=/src/chain.c line=22 function=walk\n", "", 1), "stl_algo.h:1829", "", "0x1203"},
	} {
		p, err := profile.ReadText(strings.NewReader(strings.Replace(c.program, "location 0x1501", leaf+"location 0x1501", 1)))
		if err != nil {
			t.Fatal(c.name, err)
		}
		r, err := New(p, Options{Analyse: func(*profile.Section, lime.Options) (*lime.Result, error) {
			return &lime.Result{
				Imbalance: 0.5, Instances: 1, R2: math.NaN(), JointGain: math.NaN(),
				Threads: []lime.ThreadTotal{{Thread: 1, Instructions: 100}, {Thread: 2, Instructions: 6}},
				Causes:  []lime.Cause{{Kind: "control-flow", Leader: lime.Loop, Addr: 0x140f, Counts: []uint64{50, 3}}},
			}, nil
		}})
		if err != nil {
			t.Fatal(c.name, err)
		}
		cause := r.Sections[0].Causes[0]
		within := ""
		if cause.Within != nil {
			within = cause.Within.Short()
		}
		if got := cause.Location.Short(); got != c.want || within != c.within {
			t.Errorf("%s: at %s within %q, want %s within %q", c.name, got, within, c.want, c.within)
		}
		if says := strings.Contains(cause.Message, "in what is called here (std::__leaf, stl_algo.h:1829)"); says != (c.within != "") {
			t.Errorf("%s: %s", c.name, cause.Message)
		}
		if cause.Path == nil || len(cause.Path.Calls) == 0 || cause.Path.Calls[0].Short() != c.from {
			t.Errorf("%s: comes from %+v, want %s first", c.name, cause.Path, c.from)
		}
	}
}
