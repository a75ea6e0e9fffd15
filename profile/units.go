package profile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Units are the pieces in which the work of a section is dealt out: the rounds of
// a loop, each done by one thread. How much work each was tells what another
// dealing would bring.
type Units struct {
	Loop   Addr // where a round ends
	Dealt  DealtBy
	Rounds []UnitRound // of the section's instances the first ones: so that there are not more units than a profile can hold
}

// DealtBy is how threads came by their units.
type DealtBy string

const (
	DealtInBlocks DealtBy = "blocks"  // each thread has units that follow each other,
	DealtInTurns  DealtBy = "turns"   // or each in turn has one
	DealtByOwner  DealtBy = "owner"   // all threads go through all units, and do their own
	DealtOnDemand DealtBy = "demand"  // whoever is free takes the next
	DealtOtherly  DealtBy = "unknown" // in some other way that was fixed before
	DealtInTasks  DealtBy = "tasks"   // a task has some that follow each other, and whoever is free executes it
)

// UnitRound is the work of one instance.
type UnitRound struct {
	Rest  []uint64 // instructions of each part besides its units, in the order of Instance.Parts
	Units []Unit   // in the order of the work, as far as that is known
}

// Unit is one or several pieces of work that follow each other, done by one part.
type Unit struct {
	Cost uint64 // instructions, of all
	N    uint32
	Part int32 // whose they were
}

var dealtBy = []DealtBy{DealtInBlocks, DealtInTurns, DealtByOwner, DealtOnDemand, DealtOtherly, DealtInTasks}

// packUnits writes varints: the loop, how it is dealt, and for each round how many
// parts it has, what is left of each, how many units, and these.
func packUnits(u *Units) (b []byte) {
	if u == nil {
		return nil
	}
	put := func(vs ...uint64) {
		for _, v := range vs {
			b = binary.AppendUvarint(b, v)
		}
	}
	put(uint64(u.Loop), uint64(slices.Index(dealtBy, u.Dealt)))
	for _, y := range u.Rounds {
		put(uint64(len(y.Rest)))
		put(y.Rest...)
		put(uint64(len(y.Units)))
		for _, x := range y.Units {
			put(x.Cost, uint64(x.N), uint64(x.Part))
		}
	}
	return b
}

var errUnits = errors.New("the units of a section are garbled")

func (d *decoder) unpackUnits(b []byte) (*Units, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if err := d.charge(int64(len(b)) * 8); err != nil { // a varint is a byte at least
		return nil, err
	}
	bad := false
	get := func(most uint64) uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > most {
			bad, b = true, nil
			return 0
		}
		b = b[n:]
		return v
	}
	u := &Units{Loop: Addr(get(math.MaxUint64)), Dealt: dealtBy[get(uint64(len(dealtBy)-1))]}
	for len(b) > 0 {
		y := UnitRound{Rest: make([]uint64, get(uint64(len(b))))}
		for i := range y.Rest {
			y.Rest[i] = get(math.MaxUint64)
		}
		for range get(uint64(len(b) / 3)) {
			y.Units = append(y.Units, Unit{get(math.MaxUint64), uint32(get(math.MaxUint32)), int32(get(math.MaxInt32))})
		}
		u.Rounds = append(u.Rounds, y)
	}
	if bad {
		return nil, errUnits
	}
	return u, nil
}

// check reports what cannot be.
func (u *Units) check() error {
	switch {
	case u == nil:
		return nil
	case !slices.Contains(dealtBy, u.Dealt):
		return fmt.Errorf("units are dealt by %q", u.Dealt)
	case len(u.Rounds) == 0:
		return errors.New("units of no instance")
	}
	for _, y := range u.Rounds {
		for _, x := range y.Units {
			if x.N == 0 || x.Part < 0 || int(x.Part) >= len(y.Rest) {
				return fmt.Errorf("%d units of part %d, of %d", x.N, x.Part, len(y.Rest))
			}
		}
	}
	return nil
}
