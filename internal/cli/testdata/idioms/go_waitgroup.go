/* sync.WaitGroup: goroutines of a round, which are waited for.
 *
 * EXPECT instances=5 rows=P kind=goroutines cause=branch path=rounds */

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

func main() {
	arguments()
	each := budget / rounds / uint64(p*items*3)
	var wg sync.WaitGroup
	for round := range rounds {
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
