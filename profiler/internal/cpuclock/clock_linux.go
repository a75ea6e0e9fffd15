package cpuclock

import (
	"cmp"
	"slices"
	"time"
)

// Clock samples one run of a program.
type Clock struct {
	rings    []*ring
	resolver *Resolver
	later    []record // read, but others from before them may not be
	counts   Counts
	last     [2]struct { // samples of two threads, the latest first
		tid uint32
		at  uint64
	}
	begun   bool
	stop    chan struct{}
	stopped chan struct{}
}

// Counts is how often each place was met in a run, by its name; the resolver knows
// what places they are.
type Counts struct {
	Places map[string]int
	Alone  map[string]int // of them those beside which no other thread of the program ran
	Total  int
	Lost   uint64 // samples for which there was no room
	Kernel bool   // also in the kernel
}

// Open makes the calling thread such that what it starts is sampled, once that
// becomes another program. It stays so until End.
func Open(r *Resolver) (*Clock, error) {
	c := &Clock{resolver: r, counts: Counts{Places: map[string]int{}, Alone: map[string]int{}, Kernel: true}, stop: make(chan struct{}), stopped: make(chan struct{})}
	err := c.open()
	if err != nil { // root and CAP_PERFMON may look into the kernel, others with perf_event_paranoid at 1 or below
		c.counts.Kernel = false
		err = c.open()
	}
	if err != nil {
		return nil, forbidden(err)
	}
	r.begin()
	return c, nil
}

func (c *Clock) open() error {
	for _, cpu := range processors() {
		r, err := openRing(cpu, c.counts.Kernel)
		if err != nil {
			c.close()
			return err
		}
		c.rings = append(c.rings, r)
	}
	return nil
}

func (c *Clock) close() {
	for _, r := range c.rings {
		r.close()
	}
	c.rings = nil
}

// most is how many records wait to be looked at until the program has ended and
// nothing is taken from it: 80 MB of them.
const most = 1 << 16

// tick is how often rings are emptied, which takes a core from the program: they have
// room for four times that.
const tick = 200 * time.Millisecond

// Begin begins to read, until End.
func (c *Clock) Begin() {
	c.begun = true
	go func() {
		defer close(c.stopped)
		t := time.NewTicker(tick)
		defer t.Stop()
		for {
			select {
			case <-c.stop:
				return
			case <-t.C:
				if horizon := now(); c.collect() > most {
					c.take(horizon)
				}
			}
		}
	}()
}

// End takes what is left when the program has ended, or has not begun, and lets go of
// the events.
func (c *Clock) End() Counts {
	if c.begun {
		close(c.stop)
		<-c.stopped
	}
	c.collect()
	c.take(^uint64(0))
	c.close()
	return c.counts
}

// collect takes all that is in the rings, and says how much waits.
func (c *Clock) collect() int {
	for _, r := range c.rings {
		r.read(func(of uint32, misc uint16, body []byte) {
			if x, ok := parse(of, misc, body); ok {
				c.later = append(c.later, x)
			}
		})
	}
	return len(c.later)
}

// beside is how long before or after a sample another one is of a thread that runs
// beside it: who runs is sampled once in a period, give or take what timers are late.
const beside = uint64(Period + Period/4)

// take looks at all records from before a time, which was before the rings were
// read: there, nothing from before it is to come. What ran beside the last of them is
// not known yet, so they are left.
func (c *Clock) take(horizon uint64) {
	slices.SortStableFunc(c.later, func(a, b record) int { return cmp.Compare(a.at, b.at) })
	n := 0
	for ; n < len(c.later) && c.later[n].at < horizon-beside; n++ {
		c.count(n)
	}
	c.later = slices.Delete(c.later, 0, n)
}

// alone reports whether no other thread was sampled shortly before or after a sample.
func (c *Clock) alone(n int) bool {
	r := &c.later[n]
	if c.last[0].tid != r.tid {
		c.last[1] = c.last[0]
	}
	c.last[0].tid, c.last[0].at = r.tid, r.at
	if other := &c.last[1]; other.tid != 0 && r.at-other.at <= beside {
		return false
	}
	for k := n + 1; k < len(c.later) && c.later[k].at <= r.at+beside; k++ {
		if x := &c.later[k]; x.kind == sampled && x.tid != r.tid {
			return false
		}
	}
	return true
}

func (c *Clock) count(n int) {
	switch r := &c.later[n]; r.kind {
	case sampled:
		at := c.resolver.place(r)
		c.counts.Total++
		c.counts.Places[at]++
		if c.alone(n) {
			c.counts.Alone[at]++
		}
	case lost:
		c.counts.Lost += r.lost
	default:
		c.resolver.follow(r)
	}
}
