/* Goroutines that say by a channel that they are done.
 *
 * EXPECT instances=5 rows=P kind=goroutines cause=branch */

package main

const rounds, items = 5, 8

func share(id, round int, each uint64) (sum uint64) {
	for k := range items {
		i := dealt(id, k, items)
		x := work(uint64(round*1000+i), each)
		if i >= p*items*3/4 { /* PLANTED */
			x = refine(x, 8*each)
		}
		sum += x
	}
	return sum
}

func main() {
	arguments()
	each := budget / rounds / uint64(p*items*3)
	done := make(chan uint64)
	for round := range rounds {
		for id := range p {
			go func() { done <- share(id, round, each) }()
		}
		for range p {
			results[0][0] += <-done /* SECTION */
		}
	}
	answer()
}
