package doctor

import (
	"errors"
	"fmt"
	"math"
)

// Virtual machines have counters that open and stand still, or count what they like. So
// they are tried on work of which is known what it is: as many instructions, twice as many
// for twice the work, in time that grows with it.

// countDown counts from n, above 0, to 0: two instructions for each.
func countDown(n uint64)

const (
	knownLoops = 1 << 20
	perLoop    = 2
	besides    = 1 << 14 // instructions at most that what is around it takes
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

// tryCounters compares what hardware counters count with what is known.
func tryCounters() error {
	var is [2][2]float64
	for event := range is {
		for i := range is[event] {
			n, err := counted(uint64(event), func() { countDown(uint64(knownLoops * (i + 1))) })
			if err != nil {
				return err
			}
			is[event][i] = n
		}
	}
	return believable(is[perfInstructions], is[perfCycles])
}
