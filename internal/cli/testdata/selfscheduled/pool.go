// Pieces of work of known costs, which goroutines take themselves: see
// selfscheduled_test.go, which has the same costs.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

const workers = 8

var cost, result []uint64

func pieces(how string, n int, mean uint64) {
	s := uint64(42)
	for i := range n {
		c := mean
		switch {
		case how == "random":
			s = s*6364136223846793005 + 1442695040888963407
			c = (s>>33)%(2*mean) + 1000
		case how == "huge" && i == n/3:
			c = mean * uint64(n) / 5
		case how == "growing":
			c = 2 * mean * uint64(i+1) / uint64(n+1)
		}
		cost = append(cost, c)
	}
	result = make([]uint64, n)
}

//go:noinline
func work(c uint64) uint64 {
	x := c | 1
	for i := uint64(0); i < c/4; i++ {
		x = x*6364136223846793005 + i
	}
	return x
}

func main() {
	n, _ := strconv.Atoi(os.Args[3])
	mean, _ := strconv.ParseUint(os.Args[4], 10, 64)
	pieces(os.Args[2], n, mean)
	switch os.Args[1] {
	case "counter":
		counter(n)
	case "channel":
		channel(make(chan int), n)
	case "buffered":
		channel(make(chan int, n), n)
	case "mutex":
		mutex(n)
	case "limit":
		limit(n)
	case "each":
		each(n)
	}
	sum := uint64(0)
	for i, v := range result {
		sum ^= v * uint64(i+1)
	}
	fmt.Println("checksum", sum)
}

func counter(n int) {
	var all sync.WaitGroup
	var next atomic.Int64
	for range workers {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				result[i] = work(cost[i])
			}
		})
	}
	all.Wait()
}

func channel(c chan int, n int) {
	var all sync.WaitGroup
	for range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range c {
				result[i] = work(cost[i])
			}
		}()
	}
	for i := range n {
		c <- i
	}
	close(c)
	all.Wait()
}

func mutex(n int) {
	var all sync.WaitGroup
	var mu sync.Mutex
	next := 0
	for range workers {
		all.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= n {
					return
				}
				result[i] = work(cost[i])
			}
		})
	}
	all.Wait()
}

// limit has a goroutine for each piece, as an errgroup with a limit has.
func limit(n int) {
	var all sync.WaitGroup
	room := make(chan struct{}, workers)
	for i := range n {
		room <- struct{}{}
		all.Add(1)
		go func() {
			defer func() {
				<-room
				all.Done()
			}()
			result[i] = work(cost[i])
		}()
	}
	all.Wait()
}

func each(n int) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { result[i] = work(cost[i]) })
	}
	all.Wait()
}
