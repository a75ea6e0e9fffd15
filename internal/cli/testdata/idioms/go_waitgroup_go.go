/* sync.WaitGroup.Go: the go statement is the library's, and so is what is done behind
 * the user's function. Each round has a group of its own.
 *
 * EXPECT instances=4 rows=P kind=goroutines cause=branch */

package main

import "sync"

const rounds, items = 4, 8

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
	for round := range rounds {
		var wg sync.WaitGroup
		for id := range p {
			wg.Go(func() { share(id, round, each) })
		}
		wg.Wait() /* SECTION */
	}
	answer()
}
