package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
)

// chain is a program in which two threads came to leaf, each on its own way:
// thread 1 begins in body, which calls by pointer step, which calls walk. That
// calls itself, and even, which calls it back; it ends in a jump to leaf.
// Thread 2 was called back by a library. The call of step is older than the section.
const chain = `skewlens profile as text 1
program /src/chain
run backend=native cores=2
coverage functions=6/6 instructions=6/6
function body 0x1000-0x1010 entry=body.0
function step 0x1100-0x1110 entry=step.0
function walk 0x1200-0x1210 entry=walk.0
function even 0x1300-0x1310 entry=even.0
function leaf 0x1400-0x1410 entry=leaf.0
function back 0x1500-0x1510 entry=back.0
block body.0 0x1000-0x1010 in=body last=0x100f instructions=1 count=body.0
block step.0 0x1100-0x1110 in=step last=0x110f instructions=1 count=step.0
block walk.0 0x1200-0x1210 in=walk last=0x120f instructions=1 count=walk.0
block even.0 0x1300-0x1310 in=even last=0x130f instructions=1 count=even.0
block leaf.0 0x1400-0x1410 in=leaf last=0x140f instructions=1 count=leaf.0
block back.0 0x1500-0x1510 in=back last=0x150f instructions=1 count=back.0
edge - back.0 start count=->back.0
edge body.0 step.0 indirect site=0x1001 count=body.0>step.0
edge body.0 leaf.0 call site=0x1002 count=body.0
edge step.0 walk.0 call site=0x1101 count=step.0
edge walk.0 walk.0 call site=0x1201 count=walk.0>walk.0
edge walk.0 even.0 call site=0x1202 count=walk.0>even.0
edge even.0 walk.0 call site=0x1301 count=even.0
edge walk.0 leaf.0 tail-call site=0x1203 count=walk.0>leaf.0
edge back.0 leaf.0 call site=0x1501 count=back.0
event body.0 block at=0x1000 edge=-1
event step.0 block at=0x1100 edge=-1
event walk.0 block at=0x1200 edge=-1
event even.0 block at=0x1300 edge=-1
event leaf.0 block at=0x1400 edge=-1
event back.0 block at=0x1500 edge=-1
event ->back.0 edge at=0x1500
event body.0>step.0 edge at=0x1001
event walk.0>walk.0 edge at=0x1201
event walk.0>even.0 edge at=0x1202
event walk.0>leaf.0 edge at=0x1203
thread 0
thread 1 start=0x1000
  count body.0 1
  count step.0 1
  count walk.0 30
  count even.0 20
  count leaf.0 50
  count body.0>step.0 1
  count walk.0>walk.0 9
  count walk.0>even.0 20
  count walk.0>leaf.0 50
thread 2 start=0x9000
  count leaf.0 3
  count back.0 3
  count ->back.0 1
section barrier site=0x100f
  instance
    part 1
      count step.0 1
      count walk.0 30
      count even.0 20
      count leaf.0 50
      count walk.0>walk.0 9
      count walk.0>even.0 20
      count walk.0>leaf.0 50
    part 2
      count leaf.0 3
      count back.0 3
location 0x1000 file=/src/chain.c line=1 function=body
location 0x1001 file=/src/chain.c line=2 function=body
location 0x1002 file=/src/chain.c line=3 function=body
location 0x1101 file=/src/chain.h line=11 function=twice
  inlined-at file=/src/chain.c line=12 function=step
location 0x1203 file=/src/chain.c line=22 function=walk
location 0x1501 file=/src/chain.c line=52 function=back
end
`

func pathOf(t *testing.T, counts ...uint64) string {
	t.Helper()
	p, err := profile.ReadText(strings.NewReader(chain))
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(p, Options{Analyse: func(*profile.Section, lime.Options) (*lime.Result, error) {
		return &lime.Result{
			Imbalance: 0.5, Instances: 1, R2: math.NaN(), JointGain: math.NaN(),
			Threads: []lime.ThreadTotal{{Thread: 1, Instructions: 100}, {Thread: 2, Instructions: 6}},
			Causes:  []lime.Cause{{Kind: "control-flow", Leader: lime.Branch, Addr: 0x140f, Counts: counts}},
		}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	path := r.Sections[0].Causes[0].Path
	if path == nil {
		return "none"
	}
	out := []string{fmt.Sprint("thread ", path.Thread)}
	for _, c := range path.Calls {
		out = append(out, c.Short()+" "+c.Function)
	}
	if path.Start != nil {
		out = append(out, "from "+path.Start.Short()+" "+path.Start.Function)
	}
	return strings.Join(out, ", ")
}

func TestPaths(t *testing.T) {
	// By the call made most in the section, not by body's own of leaf; past
	// walk's calls of itself and even's of it; through what was inlined.
	const first = "thread 1, chain.c:22 walk, chain.h:11 twice, chain.c:12 step, chain.c:2 body, from chain.c:1 body"
	for _, c := range []struct {
		want   string
		counts []uint64
	}{
		{first, []uint64{50, 3}},
		{first, []uint64{7, 7}}, // as often: the one with more work
		{first, nil},
		{"thread 2, chain.c:52 back", []uint64{0, 3}}, // where a library called back, the counts lead no further
	} {
		if got := pathOf(t, c.counts...); got != c.want {
			t.Errorf("counts %v: %s\nwant %s", c.counts, got, c.want)
		}
	}
}
