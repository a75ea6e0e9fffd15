// What the idioms in Go share: arguments, and work that takes time, as in idiom.h.
package main

import (
	"fmt"
	"os"
	"strconv"
)

var (
	variant string // fixed, or planted: -ldflags=-X
	p       = 8    // goroutines
	budget  uint64 // steps of work, all of them together
	results [64][8]uint64
)

// work takes n steps.
//
//go:noinline
func work(x, n uint64) uint64 {
	x |= 1
	for range n {
		x ^= x >> 29
		x *= 0x9e3779b97f4a7c15
	}
	return x
}

// refine takes n steps of another kind.
//
//go:noinline
func refine(x, n uint64) uint64 {
	x |= 1
	for range n {
		x ^= x >> 31
		x *= 0xbf58476d1ce4e5b9
	}
	return x
}

// dealt is the k-th of the items of one of them, each having as many: those that stand
// together; fixed, one by one to each of them, forwards and then backwards.
func dealt(id, k, each int) int {
	switch {
	case variant != "fixed":
		return id*each + k
	case k%2 == 0:
		return k*p + id
	}
	return k*p + p - 1 - id
}

func arguments() {
	percent := 100
	if len(os.Args) > 1 {
		p, _ = strconv.Atoi(os.Args[1])
	}
	if len(os.Args) > 2 {
		percent, _ = strconv.Atoi(os.Args[2])
	}
	budget = uint64(percent) * 4000000
}

// answer prints what was computed: the same however the work was dealt.
func answer() {
	sum := uint64(0)
	for i := range results {
		sum += results[i][0]
	}
	fmt.Printf("checksum %016x\n", sum)
}
