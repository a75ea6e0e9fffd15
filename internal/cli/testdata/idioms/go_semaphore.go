/* A goroutine for each share as long as there is room in a channel, which is filled once more to
 * wait for the last of them.
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
	room := max(2, p/2)
	sem := make(chan bool, room)
	for round := range rounds {
		for id := range p {
			sem <- true
			go func() {
				results[id][0] += share(id, round, each)
				<-sem
			}()
		}
		for range room {
			sem <- true /* SECTION */
		}
		for range room {
			<-sem
		}
	}
	answer()
}
