/* sync.WaitGroup.Go of two functions, one of which has most of the work: which one a
 * goroutine begins in is decided in the library. FIXED has both do as much.
 *
 * EXPECT instances=4 rows=P kind=goroutines cause=start least=4 gain=any */

package main

import "sync"

const rounds, items = 4, 8

func light(id, first, n int, each uint64) func() {
	return func() {
		for i := first; i < first+n; i++ {
			results[id][0] += work(uint64(i), each)
		}
	}
}

func heavy(id, first, n int, each uint64) func() {
	return func() { /* PLANTED */
		for i := range n {
			results[id][0] += work(uint64(first+i), each)
		}
	}
}

func main() {
	arguments()
	each := budget / rounds / uint64(p*items)
	n := 1
	if variant == "fixed" {
		n = items
	}
	for round := range rounds {
		var wg sync.WaitGroup
		first := round * p * items
		wg.Go(heavy(0, first, p*items-(p-1)*n, each))
		first += p*items - (p-1)*n
		for id := 1; id < p; id++ {
			wg.Go(light(id, first, n, each))
			first += n
		}
		wg.Wait() /* SECTION */
	}
	answer()
}
