/* One goroutine makes pieces, one after the other, that the others wait for, by a
 * channel each; all do as much. FIXED hands out each piece before it does its part of
 * the work.
 *
 * EXPECT silent=yes wait=condition waker=HOLD instances=5 rows=P kind=goroutines least=4 */

package main

import "sync"

const rounds = 5

func produce(round int, each uint64, filled []chan int) {
	for i := 1; i < p; i++ {
		if variant != "fixed" {
			results[0][0] += work(uint64(round*1000+i), each/uint64(p-1))
		}
		filled[i] <- i /* HOLD */
	}
	for i := 1; i < p && variant == "fixed"; i++ {
		results[0][0] += work(uint64(round*1000+i), each/uint64(p-1))
	}
}

func consume(id, round int, each uint64, filled chan int) {
	<-filled /* WAIT */
	for i := 1; i < p; i++ {
		results[id][0] += work(uint64(round*1000+id+i), each/uint64(p-1))
	}
}

func main() {
	arguments()
	each := budget / rounds / uint64(p)
	for round := range rounds {
		filled := make([]chan int, p)
		for i := range filled {
			filled[i] = make(chan int, 1)
		}
		var wg sync.WaitGroup
		for id := range p {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if id == 0 {
					produce(round, each, filled)
				} else {
					consume(id, round, each, filled[id])
				}
			}()
		}
		wg.Wait() /* SECTION */
	}
	answer()
}
