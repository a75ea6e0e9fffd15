/* A recursion that gives half of its work to a goroutine, does the other half itself, and
 * waits; what it gets before is nobody's share.
 *
 * EXPECT instances=5 rows=P kind=goroutines cause=branch */

package main

import "sync"

const rounds, items = 5, 8

func share(id, round int, each uint64) {
	for k := range items {
		i := dealt(id, k, items)
		x := work(uint64(round*1000+i), each)
		if i >= p*items*3/4 { /* PLANTED */
			x = refine(x, 8*each)
		}
		results[id][0] += x
	}
}

func divide(first, n, round int, each uint64) {
	if n == 1 {
		share(first, round, each)
		return
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		divide(first, n/2, round, each)
	}()
	divide(first+n/2, n-n/2, round, each)
	wg.Wait() /* SECTION */
}

func main() {
	arguments()
	each := budget / rounds / uint64(p*items*3)
	for round := range rounds {
		results[0][1] += work(uint64(round), each*items)
		divide(0, p, round, each)
	}
	answer()
}
