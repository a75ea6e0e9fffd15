package section

// idleCode is code in which threads may idle, as far as it has shown that they do.
type idleCode struct {
	state  idleState
	passed int    // since that is its state; of code that is of a pool, in all its rounds
	waited int    // so often a thread has waited in it
	least  uint64 // ticks that a passing takes: 0: none was seen
	apart  uint64 // ticks from one to the next of the same thread, in all
}

type idleState uint8

const (
	maybeIdle idleState = iota
	ofPool              // rounds end there, or their parts
	closed              // nobody is told any more that it is passed
)

const (
	idleTrial = 4096  // passings of idle code of which nothing is known after which it is of no interest,
	eachTrial = 256   // but not before so many of its own
	cheap     = 16    // times what passings take lies between them: then more are waited for,
	mostTrial = 65536 // but not for ever
	calmTrial = 512   // and so many, if hardly any was a wait
	calmShare = 256   // 1 of so many: of pools whose threads take thousands of tasks a round, more are
	longPass  = 4     // times what a passing takes at least: then it was one
	eachRound = 64    // how much more often code within rounds is passed than other code of the pool, at least
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
	i.state, i.passed, i.waited, i.apart = s, 0, 0, 0
}

// pass notes that idle code was passed, in so many ticks, so many after the thread's last
// passing, and that it was seen to wait in it or not. It returns whether that happens so
// often that it is of no interest.
func (c *idleCodes) pass(number uint64, ticks, after uint64, waits bool) (tooOften bool) {
	i := c.of(number)
	if i.state == closed {
		return false
	}
	i.passed++
	i.apart += after
	if i.least == 0 || ticks < i.least {
		i.least = ticks
	}
	if waits || ticks > longPass*i.least {
		i.waited++
	}
	if i.state == ofPool {
		return false
	}
	c.tried++
	calm := i.waited*calmShare < i.passed && i.passed > calmTrial
	dear := uint64(i.passed)*i.least*cheap > i.apart
	return dear && (calm || i.passed > eachTrial && c.tried > idleTrial) || i.passed > mostTrial
}

// within tells of two codes of a pool whether the first one is passed again and again
// within rounds, of which there were so many, and the other one about once in each.
func (c *idleCodes) within(number, other uint64, rounds int) bool {
	i, o := c.of(number), c.of(other)
	return o.state == ofPool && 2*o.passed >= rounds && o.passed*eachRound < i.passed
}
