/* Goroutines call C, which calls Go for each of their items: what is done there is
 * uneven.
 *
 * EXPECT instances=5 rows=P kind=goroutines cause=branch */

package main

/*
extern unsigned long oneItem(long id, long k, unsigned long round, unsigned long each);

static unsigned long all(long id, long items, unsigned long round, unsigned long each) {
	unsigned long sum = 0;
	for (long k = 0; k < items; k++)
		sum += oneItem(id, k, round, each);
	return sum;
}
*/
import "C"

import "sync"

const rounds, items = 5, 8

//export oneItem
func oneItem(id, k C.long, round, each C.ulong) C.ulong {
	i := dealt(int(id), int(k), items)
	x := work(uint64(round)*1000+uint64(i), uint64(each))
	if i >= p*items*3/4 { /* PLANTED */
		x = refine(x, 8*uint64(each))
	}
	return C.ulong(x)
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
				results[id][0] += uint64(C.all(C.long(id), items, C.ulong(round), C.ulong(each)))
			}()
		}
		wg.Wait() /* SECTION */
	}
	answer()
}
