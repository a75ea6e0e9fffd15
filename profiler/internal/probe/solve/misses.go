package solve

import (
	"cmp"
	"slices"
	"sort"
	"strconv"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cachesim"
	"github.com/skewlens/skewlens/profiler/internal/probe/caches"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
)

// firstMiss is the number of the first access's first counter in resolved deltas,
// behind all numbers of calls and their targets.
const firstMiss = 1 << 29

// Simulation is what is known of simulated caches beside the misses.
type Simulation struct {
	Machine cachesim.Machine
	// Partner is whose writes take lines away from an access, by the numbers of
	// both, and the thread that makes them, from 1; 0: several.
	Partner func(op int) (by int, writer profile.ThreadID, ok bool)
	// Each is how many misses one of them stands for, where sets are sampled, and Doubt
	// how sure that is for an access and a level (caches.Hierarchy).
	Each  int
	Doubt func(op, level int) float64
	// Reuse: how far back accesses come was told instead (caches.Layout.WithReuse).
	Reuse bool
}

// miss is what an event of the caches stands for: whichever access of an
// instruction it was.
type miss struct {
	op    opOf
	class cachesim.Class
	// of all threads together, where it is told how far back accesses come; the class is
	// one of package caches then
	all bool
}

// opOf is an access that is simulated: its instruction, and the block of the function.
type opOf struct {
	addr           uint64
	block          int32
	writes, called bool // only; see profile.Event
}

// addOps notes the function's accesses, by number and by block. Of an instruction
// that repeats, or calls what is simulated as one, it is not known how many it makes;
// what libraries access that it calls is told apart from its own.
func (b *builder) addOps() {
	if b.v.layout.Ops == 0 {
		return
	}
	b.x.accesses = make([][]uint32, len(b.x.blocks))
	b.s.Ops(b.g, func(o relocate.Op) {
		b.x.ops = append(b.x.ops, opOf{o.Addr + b.base, int32(o.Block.ID), o.Store && !o.Load, o.Called})
		of, off := &b.x.accesses[o.Block.ID], uint32(o.Addr-o.Block.Start)
		if o.Called {
			return
		}
		if !o.Repeats {
			*of = append(*of, off)
			return
		}
		for n := len(*of); n > 0 && (*of)[n-1] == off; n-- { // what repeats comes last
			*of = (*of)[:n-1]
		}
	})
}

// missEvent is the event of misses of an access, by its number, and of others like it.
type missEvent struct {
	miss
	access int32
	event  profile.EventID
}

// miss is the event of a counter of misses, by its number from the first on.
func (v *Solver) miss(counter int32) profile.EventID {
	if e, ok := v.misses[counter]; ok {
		return e
	}
	op := counter / threadarea.MissClasses
	all := v.Simulation.Reuse && int(op) >= v.layout.Ops/2
	if all {
		op -= int32(v.layout.Ops / 2)
	}
	fn := v.opOwner(op)
	m := miss{v.load(fn).ops[op-v.plans[fn].Op], cachesim.Class(counter % threadarea.MissClasses), all}
	e, ok := v.missed[m]
	if !ok {
		e = v.newEvent(event{fn: fn})
		v.missing = append(v.missing, missEvent{m, op, e})
		v.missed[m] = e
	}
	v.misses[counter] = e
	return e
}

// opOwner returns the number of the function that an access belongs to.
func (v *Solver) opOwner(op int32) int32 {
	return int32(sort.Search(len(v.plans), func(i int) bool { return v.plans[i].Op > op })) - 1
}

// Accesses is the instruction of an access.
func (v *Solver) Accesses(op int32) profile.Addr {
	fn := v.opOwner(op)
	return profile.Addr(v.load(fn).ops[op-v.plans[fn].Op].addr)
}

// addMisses numbers the events of caches.
func (x *grapher) addMisses() {
	list := slices.Clone(x.v.missing)
	slices.SortStableFunc(list, func(a, b missEvent) int {
		return cmp.Or(cmp.Compare(a.miss.op.addr, b.miss.op.addr), cmp.Compare(a.class, b.class), compareBool(a.miss.op.writes, b.miss.op.writes), compareBool(a.miss.op.called, b.miss.op.called), compareBool(a.all, b.all))
	})
	for i := range list {
		m := &list[i].miss
		block := x.first[x.v.events[list[i].event].fn] + profile.BlockID(m.op.block)
		x.give(list[i].event, x.v.simulated(m, list[i].access, profile.Event{Kind: profile.Hardware, Block: block, Edge: -1, Addr: profile.Addr(m.op.addr), Superior: x.g.Blocks[block].Count,
			Writes: m.op.writes, Called: m.op.called}))
	}
}

// simulated adds to an event what its class says, and who else has a part in it.
func (v *Solver) simulated(m *miss, op int32, e profile.Event) profile.Event {
	if v.Simulation.Reuse {
		e.Name, e.Reason = profile.Reuse(m.all), reach(m.class)
		return e
	}
	machine := &v.Simulation.Machine
	e.Name, e.Cycles = machine.EventName(m.class), uint32(machine.Latency.OfClass(m.class))
	kind, ok := m.class.Kind()
	if !ok {
		return e
	}
	e.Reason = kind.String()
	if v.Simulation.Each > 1 {
		e.Doubt = v.Simulation.Doubt(int(op), int(m.class)/cachesim.Kinds)
	}
	if kind != cachesim.True && kind != cachesim.False {
		return e
	}
	if by, writer, ok := v.Simulation.Partner(int(op)); ok {
		fn := v.opOwner(int32(by))
		e.Partner, e.Writer = profile.Addr(v.load(fn).ops[int32(by)-v.plans[fn].Op].addr), writer
	}
	return e
}

// reach is how far back an access of a class comes, as profile.Event.Reason.
func reach(c cachesim.Class) string {
	switch c {
	case caches.First:
		return profile.ReuseFirst
	case caches.Lost:
		return profile.ReuseLost
	case caches.FromOther:
		return profile.ReuseFromOther
	}
	return strconv.FormatInt(caches.Sizes[c-1], 10)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
