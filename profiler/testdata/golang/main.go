// Command golang goes ways that are known: every block calls mark, and go build
// -cover counts the blocks.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

//go:noinline
func mark() {}

func main() {
	mark()
	parked, begun := make(chan int), make(chan bool)
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for k := 0; k < 12; k++ {
		mark()
		wg.Add(1)
		go func() {
			mark()
			defer wg.Done()
			s := enclosed(k*50) + classify(k*100) + deep(k*200) + size(grow(k%6)) + panics(k) + len(words(k))
			if k%4 == 3 {
				mark()
				runtime.GC()
			}
			mu.Lock()
			total += s
			mu.Unlock()
		}()
	}
	wg.Wait()
	for range 3 {
		mark()
		go stuck(parked, begun)
		<-begun
	}
	total += pipeline() + gone() + sums([]int{1, 2, 3}) + int(sums([]float64{1, 2, 3.5}))
	leave(total)
}

func stuck(c chan int, begun chan bool) {
	mark()
	begun <- true
	for range c {
		mark()
	}
	mark()
}

func leave(total int) {
	mark()
	fmt.Println(total)
	if total > 0 {
		mark()
		os.Exit(total % 100)
	}
	mark()
}
