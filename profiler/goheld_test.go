package profiler_test

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
)

// heldProgram ends while goroutines wait for their turn: in loops, where functions are
// entered, and where they are about to take a lock or to send something.
const heldProgram = `package main

import "sync"

var mu sync.Mutex

var queue = make(chan int, 4)

//go:noinline
func step(n int) (x int) {
	for k := 0; k < n; k++ {
		if k%3 == 1 {
			x += k
		}
	}
	return x
}

//go:noinline
func again(d int) int {
	if d == 0 {
		return step(40)
	}
	return again(d-1) + step(30)
}

func work(id int, out *int) {
	for i := 0; ; i++ {
		switch id & 3 {
		case 0:
			*out += step(100 * (i & 3))
		case 1:
			mu.Lock()
			*out += step(90)
			mu.Unlock()
		case 2:
			*out += again(7)
		default:
			queue <- step(80)
			<-queue
		}
	}
}

func main() {
	var sums [8]int
	for id := range sums {
		go work(id, &sums[id])
	}
	for range 60 {
		step(20000)
	}
}
`

// TestGoHeld: goroutines that wait for their turn when the program ends are in the
// functions that they have not left.
func TestGoHeld(t *testing.T) {
	dir := goModule(t, heldProgram)
	for _, flags := range []string{"-gcflags=", "-gcflags=all=-N -l"} {
		prog := buildGo(t, dir, flags)
		for range 3 {
			p := runWith(t, profiler.Config{Path: prog, Dir: dir, Cores: 4})
			for _, w := range p.Warnings {
				if w.Code == "inconsistent-counts" {
					t.Errorf("%s: %s", flags, w.Message)
				}
			}
			for i := range p.Threads {
				if c := p.Threads[i].Totals; entries(p, c, "main.step") > 0 && entries(p, c, "main.main") == 0 && entries(p, c, "main.work") != 1 {
					t.Errorf("%s: thread %d has entered the function %d times that it never leaves", flags, i, entries(p, c, "main.work"))
				}
			}
		}
	}
}

// entries is how often a function was entered.
func entries(p *profile.Profile, c profile.Counts, function string) (n uint64) {
	for i := range p.Graph.Blocks {
		b := &p.Graph.Blocks[i]
		if f := p.Graph.Functions[b.Function]; f.Name == function && b.Start == f.Entry {
			n += c.Of(b.Count)
		}
	}
	return n
}
