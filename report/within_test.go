package report

import (
	"math"
	"reflect"
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

// TestAtOneCall: what a library decides because of one call of the program's is one cause,
// as far as it is known which: not what the program decides there itself, nor another call.
func TestAtOneCall(t *testing.T) {
	const library = "/usr/include/c++/12/bits/stl_algo.h"
	at := func(a profile.Addr, file string, line int) profile.Location {
		return profile.Location{Address: a, Frame: profile.Frame{File: file, Line: line, Column: 1, Function: "f"}}
	}
	b := builder{p: &profile.Profile{Locations: []profile.Location{
		at(1, library, 5), at(2, library, 9), at(3, "/src/a.c", 7), at(4, library, 11), at(5, library, 5), at(6, library, 5), at(7, library, 5),
	}}}
	call := func(line, column int) *Location {
		return &Location{Place: Place{File: "/src/a.c", Line: line, Column: column}}
	}
	var res lime.Result
	s := Section{Causes: []Cause{
		{Leader: "loop", Location: call(7, 1)}, {Leader: "branch", Location: call(7, 1)}, {Leader: "loop", Location: call(7, 1)}, {Leader: "recursion", Location: call(7, 1)},
		{Leader: "loop", Location: call(7, 30)}, {Leader: "start", Location: call(7, 1)}, {Leader: "loop", Location: &Location{Place: Place{File: library, Line: 5}}},
	}}
	for i := range s.Causes {
		res.Causes = append(res.Causes, lime.Cause{Addr: profile.Addr(i + 1)})
	}
	if got := b.atOneCall(&s, &res); !reflect.DeepEqual(got, [][]int{{0, 1, 3}}) {
		t.Errorf("together are %v", got)
	}
	s.Causes = s.Causes[4:]
	res.Causes = res.Causes[4:]
	if got := b.atOneCall(&s, &res); len(got) > 0 {
		t.Errorf("together are %v", got)
	}
}
