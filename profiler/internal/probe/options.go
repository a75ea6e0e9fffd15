package probe

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Options turn off what makes counting cheap, each by itself, so that its
// worth can be measured.
type Options struct {
	NoCounters  bool // only move the code
	Times       bool // with NoCounters: but say when threads meet and wait
	NoTree      bool // a counter in every block and on every edge
	NoInduction bool // a counter in every loop, also where a register counts
	NoAlign     bool // loops begin where they come to lie
	NoLeaf      bool // no call is made from the copy
	Layout      int  // which of many layouts the copy has: how fast code is depends on where it comes to lie, by up to 8 %
	Looks       bool // threads say now and then how far they are: see package virtual
	Units       bool // the rounds of loops that may deal work out are told one by one
	Caches      Front
	Library     bool // the code is a library's that is not counted: with NoCounters, and what it accesses counts at what called it
	Goroutines  bool // the program is in Go: how its C, and libraries, wait and make threads is not looked at
	HoldSome    bool // a fourth of what can stay in place behind a springboard does, and counters stand anywhere: for tests, since only crowded code needs the one, and the other what ran before
}

// Bare reports whether moved code says nothing at all.
func (o *Options) Bare() bool { return o.NoCounters && !o.Times }

// Front is what moved code knows of the first level of the caches that it
// simulates: in how many sets lines lie, and the logarithm of their bytes.
type Front struct {
	Sets   int // a power of two; 0: nothing is simulated
	Shift  byte
	Sample Sample
	Tells  bool // nothing is simulated, and all accesses are told
	// Libraries: the code of libraries that are not counted is moved too, and simulates
	// what it accesses.
	Libraries bool
	// Erased are instructions, by link-time addresses, of which the accesses are
	// hits, whatever they are.
	Erased map[uint64]bool
}

// Sample is which lines are simulated, by the lowest six bits of their numbers: as sets
// of all levels have more than that in common, it is whole sets. 0: all are.
type Sample uint64

// Beside are these lines and those that follow one of them: where the last byte lies of
// what may begin in such a line.
func (s Sample) Beside() Sample { return s | Sample(bits.RotateLeft64(uint64(s), 1)) }

// On reports whether caches are simulated.
func (f Front) On() bool { return f.Sets > 0 }

// ParseOptions reads a list like "no-tree,no-align".
func ParseOptions(list string) (o Options, err error) {
	for _, w := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		if n, is := strings.CutPrefix(w, "layout-"); is {
			if o.Layout, err = strconv.Atoi(n); err != nil || o.Layout < 0 {
				return o, fmt.Errorf("%q is no layout: layout-0, layout-1, …", w)
			}
			continue
		}
		switch w {
		case "no-counters":
			o.NoCounters = true
		case "no-tree":
			o.NoTree = true
		case "no-induction":
			o.NoInduction = true
		case "no-align":
			o.NoAlign = true
		case "no-leaf":
			o.NoLeaf = true
		default:
			return o, fmt.Errorf("no probe option is called %q: no-counters, no-tree, no-induction, no-align, no-leaf, layout-N", w)
		}
	}
	return o, nil
}
