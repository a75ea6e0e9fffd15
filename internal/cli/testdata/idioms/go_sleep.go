/* One goroutine sleeps in each round, beside the work that is the same for all.
 *
 * EXPECT silent=yes wait=sleep instances=5 rows=P kind=goroutines */

package main

import (
	"sync"
	"time"
)

const rounds = 5

func share(id, round int, each uint64) {
	results[id][0] += work(uint64(round*1000+id), each)
	if variant != "fixed" && id == 0 {
		time.Sleep(4 * time.Millisecond) /* WAIT */
	}
}

func main() {
	arguments()
	each := budget / rounds / uint64(p)
	for round := range rounds {
		var wg sync.WaitGroup
		for id := range p {
			wg.Add(1)
			go func() {
				defer wg.Done()
				share(id, round, each)
			}()
		}
		wg.Wait() /* SECTION */
	}
	answer()
}
