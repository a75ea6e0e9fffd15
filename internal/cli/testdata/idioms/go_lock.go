/* sync.RWMutex: all goroutines read, and one also writes, for long. They meet only
 * where they are waited for. In the other program each writes its part.
 *
 * EXPECT instances=1 rows=P kind=goroutines cause=branch wait=lock */

package main

import "sync"

const rounds, pieces = 8, 4

var lock sync.RWMutex

//go:noinline
func update(id, round, first, stride int, each uint64) {
	lock.Lock() /* WAIT */
	for i := first; i < pieces*p; i += stride {
		results[id][0] += work(uint64(round*1000+i), each)
	}
	lock.Unlock()
}

func share(id int, each uint64) {
	for round := range rounds {
		lock.RLock() /* WAIT */
		results[id][0] += work(uint64(round*777+id), pieces*each)
		lock.RUnlock()
		if variant == "fixed" {
			update(id, round, id, p, each)
		} else if dealt(id, round%2, 2) < 2 { /* PLANTED */
			update(id, round, 0, 1, each)
		}
	}
}

func main() {
	arguments()
	each := budget / rounds / uint64(2*pieces*p)
	var wg sync.WaitGroup
	for id := range p {
		wg.Add(1)
		go func() {
			defer wg.Done()
			share(id, each)
		}()
	}
	wg.Wait() /* SECTION */
	answer()
}
