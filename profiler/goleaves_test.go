package profiler_test

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
)

// leavesProgram ends while its goroutines leave their threads, each after it has worked for
// so long that the thread looks at its clock.
const leavesProgram = `package main

import (
	"runtime"
	"time"
)

//go:noinline
func before(n int) (x int) {
	for k := 0; k < n; k++ {
		if k%3 == 1 {
			x += k
		}
	}
	return x
}

//go:noinline
func behind(x int) int { return x + 1 }

func work(out *int) {
	for {
		x := before(150000)
		runtime.Gosched()
		if x > 0 { // another block begins
			*out = behind(x)
		}
	}
}

func main() {
	runtime.GOMAXPROCS(8)
	var sums [16]int
	for id := range sums {
		go work(&sums[id])
	}
	time.Sleep(20 * time.Millisecond)
}
`

// TestGoLeaves: of goroutines that are being left when the program ends the functions are
// known that they have not left: who is in the middle of a round has not called what comes
// behind.
func TestGoLeaves(t *testing.T) {
	prog := buildGo(t, goModule(t, leavesProgram))
	for range 5 {
		p := runWith(t, profiler.Config{Path: prog})
		asManyCalls(t, p, "main.before", "main.behind")
	}
}

// asManyCalls: each thread has entered functions as often as it has called them.
func asManyCalls(t *testing.T, p *profile.Profile, functions ...string) {
	t.Helper()
	for i := range p.Threads {
		c := p.Threads[i].Totals
		for _, name := range functions {
			if n, m := calls(p, c, name), entries(p, c, name); n != m {
				t.Errorf("thread %d: %s was called %d times, entered %d times", i, name, n, m)
			}
		}
	}
}

// calls is how often a function was called.
func calls(p *profile.Profile, c profile.Counts, function string) (n uint64) {
	for _, e := range p.Graph.Edges {
		if e.Kind == profile.Call && p.Graph.Functions[p.Graph.Blocks[e.To].Function].Name == function {
			n += c.Of(e.Count)
		}
	}
	return n
}
