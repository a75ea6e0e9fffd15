package section

// idleCode is code in which threads may idle, as far as it has shown that they do.
type idleCode struct {
	state  idleState
	passed int    // since that is its state; of code that is of a pool, in all its rounds
	waited int    // so often a thread has waited in it
	least  uint64 // ticks that a passing takes: 0: none was seen
}

type idleState uint8

const (
	maybeIdle idleState = iota
	ofPool              // rounds end there, or their parts
	closed              // nobody is told any more that it is passed
)

const (
	idleTrial = 4096 // passings of idle code of which nothing is known after which it is of no interest,
	eachTrial = 256  // but not before so many of its own
	calmTrial = 512  // and so many, if hardly any was a wait
	calmShare = 16   // 1 of so many
	longPass  = 4    // times what a passing takes at least: then it was one
	eachRound = 64   // how much more often code within rounds is passed than other code of the pool, at least
)

// idleCodes is all that threads have passed, by number.
type idleCodes struct {
	all   map[uint64]*idleCode
	tried int // all passings of code that is of no pool
}

// of is code by its number.
func (c *idleCodes) of(number uint64) *idleCode {
	i := c.all[number]
	if i == nil {
		i = &idleCode{}
		c.all[number] = i
	}
	return i
}

// is tells what state code is in.
func (c *idleCodes) is(number uint64, s idleState) bool { return c.of(number).state == s }

// becomes says that code is of a pool, or may be of one again, or is closed.
func (c *idleCodes) becomes(number uint64, s idleState) {
	i := c.of(number)
	if s == ofPool {
		c.tried -= i.passed
	}
	i.state, i.passed, i.waited = s, 0, 0
}

// tooOften notes that idle code was passed, in so many rounds of pools so far, in so many ticks
// and by a thread that was seen to wait in it or not. It reports whether that happens so often
// that it is of no interest.
func (c *idleCodes) tooOften(number uint64, rounds int, ticks uint64, waits bool) bool {
	i := c.of(number)
	if i.state == closed {
		return false
	}
	i.passed++
	if i.least == 0 || ticks < i.least {
		i.least = ticks
	}
	if waits || ticks > longPass*i.least {
		i.waited++
	}
	if i.state == ofPool {
		return c.withinRounds(i, rounds)
	}
	c.tried++
	return i.passed > eachTrial && c.tried > idleTrial || i.passed > calmTrial && i.waited*calmShare < i.passed
}

// withinRounds: code in which threads have waited between rounds, too, but which they pass
// again and again in each, as where one waits for a row that another one has yet to decode.
// There is other code to which they come once a round.
func (c *idleCodes) withinRounds(i *idleCode, rounds int) bool {
	if i.passed < idleTrial || rounds < fewShifts {
		return false
	}
	for _, other := range c.all {
		if other.state == ofPool && 2*other.passed >= rounds && other.passed*eachRound < i.passed {
			return true
		}
	}
	return false
}
