// Command cgo has goroutines go ways through C that are known, and prints how often each
// was gone.
package main

// #include "ways.h"
import "C"

import (
	"fmt"
	"runtime"
	"sync"
)

//export goBack
func goBack(n C.long) C.long {
	if n%4 == 0 {
		runtime.Gosched() // it may go on on another thread
	}
	if n%8 == 3 {
		return C.ways(n)
	}
	return n
}

//export goPanics
func goPanics(n C.long) C.long {
	if n%2 == 1 {
		panic("odd")
	}
	return n
}

func recovered(n C.long) {
	defer func() { _ = recover() }()
	C.through(n)
}

func main() {
	var all sync.WaitGroup
	for id := range C.long(8) {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range C.long(20) {
				C.ways(id + i)
				C.caught(i)
				C.back(id + 2*i)
				recovered(i)
			}
		}()
	}
	all.Wait()
	for line, n := range C.marks {
		if n > 0 {
			fmt.Println(line, n)
		}
	}
}
