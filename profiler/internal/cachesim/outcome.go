package cachesim

import (
	"maps"
	"slices"
)

// Level is who served an access. Deeper is more.
type Level uint8

// Hit is the L1.
const (
	Hit Level = iota
	L2
	L3
	Memory
)

// Kind is why an access missed.
type Kind uint8

// The kinds: see the comment of the package.
const (
	Cold Kind = iota
	Capacity
	Conflict
	True
	False

	Kinds = 5
)

// String is "cold", "capacity", "conflict", "true-sharing" or "false-sharing".
func (k Kind) String() string {
	return [Kinds]string{"cold", "capacity", "conflict", "true-sharing", "false-sharing"}[k]
}

// Outcome of an access. What its Level makes meaningless is zero.
type Outcome struct {
	Level   Level
	Kind    Kind // of the miss in the level that missed last; zero of a hit
	Upgrade bool // a write to a line that was readable here, and is nobody else's now
	Partner Partner
}

// Partner is the write that took the line away; of True and False only.
type Partner struct {
	Op   uint32
	Core int
}

// Class is what an outcome is counted as: 5·level + kind of a miss, with 0, 1 and 2
// for one that was served by L2, L3 and memory; and Upgrade. Some never occur: what
// the L2 serves is neither cold nor a matter of sharing.
type Class uint8

// An outcome may be a miss and an upgrade as well, and is counted as both.
const (
	Upgrade Class = 3 * Kinds

	Classes = 3*Kinds + 1
)

// Class of the miss; false: it was none.
func (o Outcome) Class() (Class, bool) {
	if o.Level == Hit {
		return 0, false
	}
	return Class(o.Level-L2)*Kinds + Class(o.Kind), true
}

// Level is who served the misses of this class; Hit for Upgrade.
func (c Class) Level() Level {
	if c >= Upgrade {
		return Hit
	}
	return L2 + Level(c/Kinds)
}

// Kind of the misses of this class, and false for Upgrade, which is none.
func (c Class) Kind() (Kind, bool) { return Kind(c % Kinds), c < Upgrade }

// Event is the name of the level before the one that served: "l1d-miss", "l2-miss"
// or "l3-miss"; or "upgrade". A level that the machine lacks is passed over in
// what happens, not in this name: without an L2, what the L3 serves is an "l2-miss".
func (c Class) Event() string {
	return [...]string{Hit: "upgrade", L2: "l1d-miss", L3: "l2-miss", Memory: "l3-miss"}[c.Level()]
}

// String is the event and the kind: "l2-miss/true-sharing", "upgrade".
func (c Class) String() string {
	if k, ok := c.Kind(); ok {
		return c.Event() + "/" + k.String()
	}
	return c.Event()
}

// Counts are of outcomes, by class.
type Counts [Classes]int64

// Add counts an outcome: as nothing, a miss, an upgrade, or both.
func (n *Counts) Add(o Outcome) {
	if c, ok := o.Class(); ok {
		n[c]++
	}
	if o.Upgrade {
		n[Upgrade]++
	}
}

// Misses are all but the upgrades.
func (n *Counts) Misses() int64 {
	sum := int64(0)
	for _, k := range n[:Upgrade] {
		sum += k
	}
	return sum
}

// Stats are counts by the op that Access was given. The zero value is none.
type Stats struct{ of map[uint32]*Counts }

// Add counts an outcome of op.
func (s *Stats) Add(op uint32, o Outcome) {
	if o.Level == Hit && !o.Upgrade {
		return
	}
	n := s.of[op]
	if n == nil {
		if s.of == nil {
			s.of = map[uint32]*Counts{}
		}
		n = &Counts{}
		s.of[op] = n
	}
	n.Add(o)
}

// Of is what op had.
func (s *Stats) Of(op uint32) Counts {
	if n := s.of[op]; n != nil {
		return *n
	}
	return Counts{}
}

// Ops are those that missed or upgraded, sorted.
func (s *Stats) Ops() []uint32 { return slices.Sorted(maps.Keys(s.of)) }
