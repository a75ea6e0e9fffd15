package perf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sys/unix"
)

// Virtual machines have counters that open and stand still, or count what they like. So
// they are tried on work of which is known what it is: as many instructions, twice as many
// for twice the work, in time that grows with it.

// countDown counts from n, above 0, to 0: two instructions for each.
func countDown(n uint64)

// node is a cache line; walk goes from one to the next n times, above 0.
type node struct {
	next *node
	_    [7]uint64
}

func walk(from *node, n uint64)

const (
	knownLoops = 1 << 20
	perLoop    = 2
	besides    = 1 << 14 // instructions at most that what is around it takes

	knownLines = 1 << 20 // 64 MB: more than the processor's caches hold of one program
)

// believable is nil if counters say of countDown, of knownLoops and of twice as many, what is
// known of it; else what is wrong.
func believable(instructions, cycles [2]float64) error {
	for i, n := range instructions {
		if known := float64(perLoop * knownLoops * (i + 1)); n == 0 {
			return errors.New("the counter stands still")
		} else if math.Abs(n-known) > known/100+besides {
			return fmt.Errorf("%.0f instructions are counted as %.0f", known, n)
		}
	}
	// No processor takes more than one jump back in a cycle, and none needs a hundred.
	for i, n := range cycles {
		loops := float64(knownLoops * (i + 1))
		if n < loops/2 || n > loops*100 {
			return fmt.Errorf("%.0f rounds of a loop are counted as %.0f cycles", loops, n)
		}
	}
	return nil
}

// believableMisses is nil if it is said of a walk over lines at random, and of as many
// steps in one line, what may be of it: prefetchers find little in the first, and large
// caches hold some of it.
func believableMisses(far, near float64) error {
	switch {
	case far == 0:
		return errors.New("the counter stands still")
	case far < knownLines/8 || far > 8*knownLines:
		return fmt.Errorf("a walk over %d lines at random is counted as %.0f misses", knownLines, far)
	case near > far/20:
		return fmt.Errorf("%d steps in one line are counted as %.0f misses, at random %.0f", knownLines, near, far)
	}
	return nil
}

// Known compares what hardware counters count with what is known: nil where instructions
// and cycles are to be believed.
func Known() error {
	var is [2][2]float64
	for event := range is {
		for i := range is[event] {
			n, err := counted(&hardware[event], func() { countDown(uint64(knownLoops * (i + 1))) })
			if err != nil {
				return err
			}
			is[event][i] = n
		}
	}
	return believable(is[1], is[0])
}

// knownMisses is Known of misses of the caches.
func knownMisses() error {
	lines := ring64MB()
	var is [2]float64
	for i, from := range []*node{&lines[0], self()} {
		n, err := counted(&misses, func() { walk(from, knownLines) })
		if err != nil {
			return err
		}
		is[i] = n
	}
	runtime.KeepAlive(lines)
	return believableMisses(is[0], is[1])
}

// ring64MB are lines that lead to each other in one ring, at random.
func ring64MB() []node {
	lines := make([]node, knownLines)
	order := rand.New(rand.NewPCG(13, 2)).Perm(len(lines))
	for i, n := range order {
		lines[n].next = &lines[order[(i+1)%len(order)]]
	}
	return lines
}

// self leads to itself.
func self() *node {
	n := &node{}
	n.next = n
	return n
}

// counted is how many of an event this thread makes while do runs.
func counted(c *Counter, do func()) (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a := c.attribute()
	a.Read_format = unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING
	fd, err := open(&a, 0, -1)
	if err != nil {
		return 0, fmt.Errorf("perf_event_open: %w", err)
	}
	defer unix.Close(fd)
	before, err := readOne(fd)
	if err != nil {
		return 0, err
	}
	do()
	now, err := readOne(fd)
	if err != nil {
		return 0, err
	}
	sum := []uint64{0}
	if _, known := growth(&before, &now, sum); !known {
		return 0, errors.New("others have all of them")
	}
	return float64(sum[0]), nil
}

// readOne reads an event that is of no group.
func readOne(fd int) (r reading, err error) {
	b := make([]byte, 24)
	n, err := unix.Read(fd, b)
	if err == nil && n < len(b) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return r, fmt.Errorf("read the counter: %w", err)
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(b[8*i:]) }
	return reading{enabled: word(1), running: word(2), value: []uint64{word(0)}}, nil
}
