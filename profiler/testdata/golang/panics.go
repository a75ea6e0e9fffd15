package main

import (
	"errors"
	"runtime"
)

type node struct {
	next *node
	n    int
}

// follow faults at the end of a list that is too short, in a loop that calls nothing.
func follow(l *node, steps int) (sum int) {
	for i := 0; i < steps; i++ {
		sum += l.n
		l = l.next
	}
	return sum
}

func safely(f func() int) (n int, err error) {
	mark()
	defer func() {
		mark()
		if r := recover(); r != nil {
			mark()
			err = errors.New("recovered")
		}
	}()
	n = f()
	mark()
	return n, nil
}

func throws(depth int) int {
	mark()
	if depth == 0 {
		mark()
		panic("at the bottom")
	}
	return throws(depth-1) + 1
}

func several(k int) (n int) {
	for i := 0; i < k; i++ {
		defer func() {
			mark()
			n += i
		}()
		if i == 7 {
			mark()
			panic("inside of a loop with deferred functions")
		}
	}
	mark()
	return n
}

func panics(k int) (sum int) {
	list := &node{n: 1, next: &node{n: 2}}
	index := []int{1, 2, 3}
	for i, f := range []func() int{
		func() int { return follow(list, k) },
		func() int { return throws(k) },
		func() int { return several(k) },
		func() int { return index[k] },
		func() int {
			n, err := safely(func() int { return throws(2) })
			if err != nil {
				mark()
				panic(err)
			}
			mark()
			return n
		},
		func() int { return 100 / (k - 5) },
	} {
		n, err := safely(f)
		if err != nil {
			mark()
			sum += i
		} else {
			mark()
			sum += n % 10
		}
	}
	return sum
}

// gone ends goroutines in the middle of functions.
func gone() (n int) {
	done := make(chan int)
	for i := range 5 {
		go func() {
			defer func() {
				mark()
				done <- i
			}()
			if i%2 == 0 {
				mark()
				ends(i)
			}
			mark()
		}()
	}
	for range 5 {
		n += <-done
	}
	return n
}

func ends(i int) {
	mark()
	if i > 0 {
		mark()
		runtime.Goexit()
	}
	mark()
}
