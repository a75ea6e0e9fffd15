package cachesim

import (
	"errors"
	"fmt"
	"math/bits"
)

const (
	// MaxCores is how many cores a System may have: see cores.
	MaxCores = 128

	minLine    = 16
	maxLine    = 256     // the bytes of a line are a mask of four words
	maxWays    = 64      // a set is searched from its front
	maxSize    = 4 << 30 // bytes; what is simulated takes a quarter of it
	maxLatency = 1 << 20
)

// Cycles are of a core's clock.
type Cycles int64

// Geometry of a level. With Size 0 there is none.
type Geometry struct {
	Size int64 // in bytes
	Ways int
}

// Latency is what accesses cost beyond the one cycle of their instruction.
type Latency struct {
	L2, L3, Memory Cycles // served by it
	Upgrade        Cycles // a write to a line that others may read
}

// DefaultLatency is used where nothing better is known: it is a model of a server
// of the 2020s at 2 to 3 GHz, not a measurement of any.
var DefaultLatency = Latency{L2: 14, L3: 50, Memory: 200, Upgrade: 50}

// Of is what an access with this outcome costs beyond its instruction: who served
// it, and the upgrade if there was one.
func (l Latency) Of(o Outcome) Cycles {
	c := [...]Cycles{Hit: 0, L2: l.L2, L3: l.L3, Memory: l.Memory}[o.Level]
	if o.Upgrade {
		c += l.Upgrade
	}
	return c
}

// Machine is the caches of a machine, without the number of its cores.
type Machine struct {
	Name    string
	Line    int      // in bytes, in all levels
	L1      Geometry // of data, one for each core
	L2      Geometry // one for each core, or absent
	L3      Geometry // one for all cores, or absent
	Latency Latency
}

// Validate says what of the machine cannot be simulated, and how to mend it.
func (m Machine) Validate() error {
	if err := m.mistake(); err != nil {
		return fmt.Errorf("machine %q: %w", m.Name, err)
	}
	return nil
}

func (m Machine) mistake() error {
	if m.Line < minLine || m.Line > maxLine || !powerOfTwo(int64(m.Line)) {
		return fmt.Errorf("lines of %d bytes cannot be simulated: make line a power of two from %d to %d", m.Line, minLine, maxLine)
	}
	if m.L1.Size == 0 {
		return errors.New("there is no L1: give it an [l1] with size and ways")
	}
	for _, l := range m.levels() {
		if err := l.validate(m.Line); err != nil {
			return err
		}
	}
	for _, l := range m.Latency.named() {
		if *l.cycles < 0 || *l.cycles > maxLatency {
			return fmt.Errorf("a latency of %d cycles for %s cannot be simulated: make it 0 to %d", *l.cycles, l.name, maxLatency)
		}
	}
	return nil
}

// Sets of the level in a machine with lines of so many bytes; 0 if it is absent.
// Only what Validate finds right has a number of sets.
func (g Geometry) Sets(line int) int64 {
	if g.Size == 0 {
		return 0
	}
	return g.Size / (int64(g.Ways) * int64(line))
}

// level is a geometry with the name that files and messages have for it.
type level struct {
	name string
	Geometry
}

func (m Machine) levels() []level { return []level{{"l1", m.L1}, {"l2", m.L2}, {"l3", m.L3}} }

func (l level) validate(line int) error {
	switch {
	case l.Size == 0 && l.Ways == 0:
		return nil
	case l.Size <= 0 || l.Size > maxSize:
		return fmt.Errorf("an %s of %d bytes cannot be simulated: make size 1 byte to 4G", l.name, l.Size)
	case l.Ways < 1 || l.Ways > maxWays:
		return fmt.Errorf("an %s of %d ways cannot be simulated: make ways 1 to %d", l.name, l.Ways, maxWays)
	}
	way := int64(l.Ways) * int64(line) // bytes of a set
	if l.Size%way == 0 && powerOfTwo(l.Size/way) {
		return nil
	}
	return fmt.Errorf("an %s of %d bytes in %d ways of lines of %d has no power of two of sets: make size %d, or change ways",
		l.name, l.Size, l.Ways, line, roundedDown(max(l.Size/way, 1))*way)
}

// latency is a field of Latency with the key that files have for it.
type latency struct {
	name   string
	cycles *Cycles
}

func (l *Latency) named() []latency {
	return []latency{{"l2", &l.L2}, {"l3", &l.L3}, {"memory", &l.Memory}, {"upgrade", &l.Upgrade}}
}

func powerOfTwo(n int64) bool { return n > 0 && n&(n-1) == 0 }

// roundedDown is the largest power of two that is at most n, which is positive.
func roundedDown(n int64) int64 { return 1 << (bits.Len64(uint64(n)) - 1) }
