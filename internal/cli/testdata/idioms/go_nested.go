/* Goroutines that each wait for goroutines of their own: what these do is uneven between
 * the groups, and even within each.
 *
 * EXPECT instances=5 rows=P kind=goroutines cause=branch */

package main

import "sync"

const rounds, items, pieces = 5, 8, 4

func piece(id, k, round int, each uint64) (sum uint64) {
	for j := range items {
		i := dealt(id, j, items)
		x := work(uint64(round*1000+i*pieces+k), each)
		if i >= p*items*3/4 { /* PLANTED */
			x = refine(x, 8*each)
		}
		sum += x
	}
	return sum
}

func group(id, round int, each uint64) {
	var inner sync.WaitGroup
	var sums [pieces]uint64
	for k := range pieces {
		inner.Add(1)
		go func() {
			defer inner.Done()
			sums[k] = piece(id, k, round, each)
		}()
	}
	inner.Wait()
	for _, x := range sums {
		results[id][0] += x
	}
}

func main() {
	arguments()
	each := budget / rounds / uint64(p*items*pieces*3)
	var outer sync.WaitGroup
	for round := range rounds {
		for id := range p {
			outer.Add(1)
			go func() {
				defer outer.Done()
				group(id, round, each)
			}()
		}
		outer.Wait() /* SECTION */
	}
	answer()
}
