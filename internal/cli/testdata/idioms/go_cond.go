/* A barrier made of a condition: another quarter of the goroutines has more to do in
 * each round.
 *
 * EXPECT instances=8 rows=P kind=barrier cause=branch */

package main

import "sync"

const rounds, items = 8, 8

type barrier struct {
	sync.Mutex
	all         *sync.Cond
	missing, at int
}

func (b *barrier) meet() {
	b.Lock()
	defer b.Unlock()
	if b.missing--; b.missing == 0 {
		b.missing, b.at = p, b.at+1
		b.all.Broadcast()
		return
	}
	for at := b.at; at == b.at; {
		b.all.Wait()
	}
}

func share(id, round int, each uint64) {
	for k := range items {
		i := dealt(id, k, items)
		x := work(uint64(round*1000+i), each)
		if (i+round*p*items/4)%(p*items) >= p*items*3/4 { /* PLANTED */
			x = refine(x, 8*each)
		}
		results[id][0] += x
	}
}

func main() {
	arguments()
	each := budget / rounds / uint64(p*items*3)
	b := &barrier{missing: p}
	b.all = sync.NewCond(b)
	var wg sync.WaitGroup
	for id := range p {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for round := range rounds {
				share(id, round, each)
				b.meet() /* SECTION */
			}
		}()
	}
	wg.Wait()
	answer()
}
