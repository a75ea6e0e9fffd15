package cachesim

import "math/bits"

// cores is a set of them.
type cores [MaxCores / 64]uint64

func alone(core int) (c cores) {
	c[core/64] = 1 << (core % 64)
	return c
}

func (c *cores) has(core int) bool { return c[core/64]>>(core%64)&1 != 0 }
func (c *cores) add(core int)      { c[core/64] |= 1 << (core % 64) }
func (c *cores) remove(core int)   { c[core/64] &^= 1 << (core % 64) }

func (c *cores) empty() bool {
	all := uint64(0)
	for _, w := range c {
		all |= w
	}
	return all == 0
}

// without is the others of them.
func (c cores) without(core int) cores {
	c.remove(core)
	return c
}

func (c *cores) addAll(x *cores) {
	for i := range c {
		c[i] |= x[i]
	}
}

// each calls do for all of them, from the lowest on.
func (c *cores) each(do func(core int)) {
	for i, w := range c {
		for ; w != 0; w &= w - 1 {
			do(64*i + bits.TrailingZeros64(w))
		}
	}
}
