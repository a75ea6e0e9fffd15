/* Goroutines that each receive from goroutines of their own, and are received from: what
 * these do is uneven between the groups, and even within each.
 *
 * EXPECT instances=5 rows=P kind=goroutines cause=branch */

package main

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

func group(id, round int, each uint64) (sum uint64) {
	sums := make(chan uint64)
	for k := range pieces {
		go func() { sums <- piece(id, k, round, each) }()
	}
	for range pieces {
		sum += <-sums
	}
	return sum
}

func main() {
	arguments()
	each := budget / rounds / uint64(p*items*pieces*3)
	done := make(chan uint64)
	for round := range rounds {
		for id := range p {
			go func() { done <- group(id, round, each) }()
		}
		for range p {
			results[0][0] += <-done /* SECTION */
		}
	}
	answer()
}
