/* Goroutines that live for the whole run, each with a channel of its own for what it
 * is to do, and a WaitGroup for each round.
 *
 * EXPECT instances=6 rows=P kind=goroutines cause=branch path=rounds */

package main

import "sync"

const rounds, items = 6, 8

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
	queues := make([]chan int, p)
	for id := range queues {
		queues[id] = make(chan int)
		go func() {
			for round := range queues[id] {
				share(id, round, each)
				wg.Done()
			}
		}()
	}
	for round := range rounds {
		wg.Add(p)
		for _, q := range queues {
			q <- round
		}
		wg.Wait() /* SECTION */
	}
	answer()
}
