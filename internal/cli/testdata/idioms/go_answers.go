/* Goroutines that live for the whole run, each with a channel of its own for what it
 * is to do, and one for the answers of all: another quarter of them has more to do in
 * each round.
 *
 * EXPECT instances=8 rows=P kind=goroutines cause=branch */

package main

const rounds, items = 8, 8

func share(id, round int, each uint64) (sum uint64) {
	for k := range items {
		i := dealt(id, k, items)
		x := work(uint64(round*1000+i), each)
		if (i+round*p*items/4)%(p*items) >= p*items*3/4 { /* PLANTED */
			x = refine(x, 8*each)
		}
		sum += x
	}
	return sum
}

func main() {
	arguments()
	each := budget / rounds / uint64(p*items*3)
	stop, answers := make(chan bool), make(chan uint64, p)
	queues := make([]chan int, p)
	for id := range queues {
		queues[id] = make(chan int)
		go func() {
			for {
				select {
				case round := <-queues[id]:
					answers <- share(id, round, each)
				case <-stop:
					return
				}
			}
		}()
	}
	for round := range rounds {
		for _, q := range queues {
			q <- round
		}
		for range queues {
			results[0][0] += <-answers /* SECTION */
		}
	}
	close(stop)
	answer()
}
