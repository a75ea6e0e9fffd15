package cachesim

// state of a private line. It is the same in a core's L1 and L2.
type state uint8

const (
	empty    state = iota // no line
	invalid               // another core's write took it; the way is not free yet
	shared                // may be read
	writable              // nobody else holds it
)

func (s state) valid() bool { return s >= shared }

// way of a set.
type way struct {
	line  uint64 // its address / the size of a line
	id    int32  // where the directory has it; of no use in the L3
	state state
}

// cache is one level: of one core, or of all. In each set the ways are in the order
// of their last use, the last first, and those that are empty come behind.
type cache struct {
	ways int
	mask uint64 // of a line's set
	all  []way
	last []uint64 // by set: the line evicted last
}

// none is no line: there are fewer.
const none = ^uint64(0)

func newCache(g Geometry, line int) *cache {
	if g.Size == 0 {
		return nil
	}
	sets := g.Sets(line)
	c := &cache{ways: g.Ways, mask: uint64(sets - 1), all: make([]way, sets*int64(g.Ways)), last: make([]uint64, sets)}
	c.clear()
	return c
}

// clear makes it new.
func (c *cache) clear() {
	clear(c.all)
	for i := range c.last {
		c.last[i] = none
	}
}

func (c *cache) set(line uint64) []way {
	at := int(line&c.mask) * c.ways
	return c.all[at : at+c.ways : at+c.ways]
}

// peek finds a line's way, or nil, and changes nothing.
func (c *cache) peek(line uint64) *way {
	set := c.set(line)
	for i := range set {
		if w := &set[i]; w.line == line && w.state != empty {
			return w
		}
	}
	return nil
}

// use finds a line's way, or nil, and makes it the set's first, valid or not: who
// finds it invalid is about to fill it again.
func (c *cache) use(line uint64) *way {
	set := c.set(line)
	for i := range set {
		if w := set[i]; w.line == line && w.state != empty {
			if i > 0 {
				copy(set[1:i+1], set[:i])
				set[0] = w
			}
			return &set[0]
		}
	}
	return nil
}

// fill puts a line that is not there into the first way of its set, and says whom
// it drove out; its state is empty if there was room.
func (c *cache) fill(w way) (victim way) {
	set := c.set(w.line)
	victim = set[c.ways-1]
	copy(set[1:], set)
	set[0] = w
	if victim.state != empty {
		c.last[w.line&c.mask] = victim.line
	}
	return victim
}

// remove takes a line out, if it is there. That is no eviction by its set: it is
// not remembered as such.
func (c *cache) remove(line uint64) {
	set := c.set(line)
	for i := range set {
		if set[i].line == line && set[i].state != empty {
			copy(set[i:], set[i+1:])
			set[c.ways-1] = way{}
			return
		}
	}
}

// missed says whether it was for want of a way or of room that a line is not here.
func (c *cache) missed(line uint64) Kind {
	if c.last[line&c.mask] == line {
		return Conflict
	}
	return Capacity
}
