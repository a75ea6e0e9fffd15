/* Goroutines that draw what they work on from an iterator, which does the work
 * (iter.Pull): it is theirs. In one of two rounds they stop it before it has ended.
 *
 * EXPECT instances=6 rows=P kind=goroutines cause=branch path=rounds */

package main

import (
	"iter"
	"sync"
)

const rounds, items = 6, 8

func done(id, round int, each uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for k := range items {
			i := dealt(id, k, items)
			x := work(uint64(round*1000+i), each)
			if i >= p*items*3/4 { /* PLANTED */
				x = refine(x, 8*each)
			}
			if !yield(x) {
				return
			}
		}
	}
}

func main() {
	arguments()
	each := budget / rounds / uint64(p*items*3)
	for round := range rounds {
		var wg sync.WaitGroup
		for id := range p {
			wg.Add(1)
			go func() {
				defer wg.Done()
				next, stop := iter.Pull(done(id, round, each))
				defer stop()
				for range items + round%2 {
					if x, ok := next(); ok {
						results[id][0] += x
					}
				}
			}()
		}
		wg.Wait() /* SECTION */
	}
	answer()
}
