/* errgroup: what it waits for is the user's call of Wait, not its own.
 *
 * EXPECT instances=5 rows=P kind=goroutines cause=branch */

package main

import (
	"errors"

	"golang.org/x/sync/errgroup"
)

const rounds, items = 5, 8

func share(id, round int, each uint64) error {
	for k := range items {
		i := dealt(id, k, items)
		x := work(uint64(round*1000+i), each)
		if i >= p*items*3/4 { /* PLANTED */
			x = refine(x, 8*each)
		}
		results[id][0] += x
	}
	if round < 0 {
		return errors.New("never")
	}
	return nil
}

func main() {
	arguments()
	each := budget / rounds / uint64(p*items*3)
	for round := range rounds {
		var g errgroup.Group
		for id := range p {
			g.Go(func() error { return share(id, round, each) })
		}
		if err := g.Wait(); err != nil { /* SECTION */
			panic(err)
		}
	}
	answer()
}
