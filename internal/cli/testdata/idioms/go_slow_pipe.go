/* One goroutine reads from a pipe in each round, into which another one writes
 * later, beside the work that is the same for all. FIXED: what it reads has been there
 * before.
 *
 * EXPECT silent=yes wait=io instances=5 rows=P kind=goroutines */

package main

import (
	"os"
	"sync"
	"time"
)

const rounds = 5

func share(id, round int, each uint64, input *os.File) {
	results[id][0] += work(uint64(round*1000+id), each)
	if id == 0 {
		var one [1]byte
		if _, err := input.Read(one[:]); err != nil { /* WAIT */
			panic(err)
		}
	}
}

func main() {
	arguments()
	each := budget / rounds / uint64(p)
	input, output, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	for round := range rounds {
		var wg sync.WaitGroup
		write := func() { output.Write([]byte{1}) }
		if variant == "fixed" {
			write()
		} else {
			time.AfterFunc(6*time.Millisecond, write)
		}
		for id := range p {
			wg.Add(1)
			go func() {
				defer wg.Done()
				share(id, round, each, input)
			}()
		}
		wg.Wait() /* SECTION */
	}
	answer()
}
