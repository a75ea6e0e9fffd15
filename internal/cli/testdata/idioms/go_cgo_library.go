/* Goroutines call C for each of their items, which calls a library for some of them.
 *
 * EXPECT instances=5 rows=P kind=goroutines cause=branch lib=go_cgo_library.lib.c */

package main

// static unsigned long steps(unsigned long x, unsigned long n) {
// 	x |= 1;
// 	for (unsigned long i = 0; i < n; i++) {
// 		x ^= x >> 29;
// 		x *= 0x9e3779b97f4a7c15u;
// 	}
// 	return x;
// }
//
// extern unsigned long finer(unsigned long x, unsigned long n);
//
// static unsigned long item(long i, long from, unsigned long round, unsigned long each) {
// 	unsigned long x = steps(round * 1000 + i, each);
// 	if (i >= from) /* PLANTED */
// 		x = finer(x, 8 * each);
// 	return x;
// }
import "C"

import "sync"

const rounds, items = 5, 8

func main() {
	arguments()
	each := budget / rounds / uint64(p*items*3)
	var wg sync.WaitGroup
	for round := range rounds {
		for id := range p {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for k := range items {
					x := C.item(C.long(dealt(id, k, items)), C.long(p*items*3/4), C.ulong(round), C.ulong(each))
					results[id][0] += uint64(x)
				}
			}()
		}
		wg.Wait() /* SECTION */
	}
	answer()
}
