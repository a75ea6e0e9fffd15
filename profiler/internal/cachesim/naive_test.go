package cachesim

import "slices"

// naive is the rules again, without thought of time: sets are lists, the first is
// the one used last, and who wrote what is one long list for each line. It has no
// directory and no epochs, only the questions that these answer.
type naive struct {
	m      Machine
	cores  []*naiveCore
	l3     naiveLevel
	writes map[uint64][]naiveWrite // since nobody had an invalid copy
	merged *int                    // misses with more epochs than are told apart
}

type naiveLevel struct {
	Geometry
	sets  map[uint64][]uint64
	count uint64
	last  map[uint64]uint64
}

type naiveCore struct {
	l1, l2  naiveLevel
	valid   map[uint64]bool
	alone   map[uint64]bool // may be written
	touched map[uint64]bool
	lost    map[uint64]int // invalid copies: which write took them
}

type naiveWrite struct {
	core  int
	op    uint32
	bytes []uint64 // addresses
	takes bool
}

func newNaive(m Machine, cores int) *naive {
	n := &naive{m: m, l3: newNaiveLevel(m.L3, m.Line), writes: map[uint64][]naiveWrite{}}
	for range cores {
		n.cores = append(n.cores, n.newCore())
	}
	return n
}

func newNaiveLevel(g Geometry, line int) naiveLevel {
	return naiveLevel{g, map[uint64][]uint64{}, uint64(g.Sets(line)), map[uint64]uint64{}}
}

func (n *naive) newCore() *naiveCore {
	return &naiveCore{newNaiveLevel(n.m.L1, n.m.Line), newNaiveLevel(n.m.L2, n.m.Line), map[uint64]bool{}, map[uint64]bool{}, map[uint64]bool{}, map[uint64]int{}}
}

func (l *naiveLevel) has(line uint64) bool { return slices.Contains(l.sets[line%l.count], line) }

func (l *naiveLevel) drop(line uint64) {
	l.sets[line%l.count] = slices.DeleteFunc(l.sets[line%l.count], func(x uint64) bool { return x == line })
}

// use puts a line first, and returns the one that has no place any more.
func (l *naiveLevel) use(line uint64) (victim uint64, is bool) {
	l.drop(line)
	i := line % l.count
	l.sets[i] = append([]uint64{line}, l.sets[i]...)
	if len(l.sets[i]) <= l.Ways {
		return 0, false
	}
	victim = l.sets[i][l.Ways]
	l.drop(victim)
	l.last[i] = victim
	return victim, true
}

func (l *naiveLevel) kind(line uint64) Kind {
	if last, is := l.last[line%l.count]; is && last == line {
		return Conflict
	}
	return Capacity
}

func (n *naive) access(core int, addr uint64, size int, write bool, op uint32) Outcome {
	var all []Outcome
	for a := addr; a < addr+uint64(size); {
		line := a / uint64(n.m.Line)
		var bytes []uint64
		for ; a < addr+uint64(size) && a/uint64(n.m.Line) == line; a++ {
			bytes = append(bytes, a)
		}
		all = append(all, n.touch(core, line, bytes, write, op))
	}
	return slices.MaxFunc(all, func(a, b Outcome) int { return int(a.Level) - int(b.Level) }) // the first of these
}

func (n *naive) touch(core int, line uint64, bytes []uint64, write bool, op uint32) Outcome {
	c := n.cores[core]
	o := Outcome{Level: Hit}
	switch {
	case c.valid[line] && c.l1.has(line):
		c.l1.use(line)
	case c.valid[line]:
		o = Outcome{Level: L2, Kind: c.l1.kind(line)}
		c.l2.use(line)
		c.l1.use(line)
	default:
		o = n.miss(core, line, bytes)
	}
	var losers []*naiveCore
	for i, x := range n.cores {
		if i == core || !x.valid[line] {
			continue
		}
		x.alone[line] = false
		if write {
			losers = append(losers, x)
			x.valid[line] = false
			x.lost[line] = len(n.writes[line])
		} else if o.Level != Hit && o.Level != L2 {
			c.alone[line] = false
		}
	}
	if write {
		o.Upgrade = (o.Level == Hit || o.Level == L2) && !c.alone[line]
		c.alone[line] = true
		n.writes[line] = append(n.writes[line], naiveWrite{core, op, bytes, len(losers) > 0})
	}
	n.forget(line)
	return o
}

// forget drops what nobody will ask for.
func (n *naive) forget(line uint64) {
	for _, c := range n.cores {
		if _, is := c.lost[line]; is {
			return
		}
	}
	n.writes[line] = nil
}

// miss gets a line into the private levels, to be read or written.
func (n *naive) miss(core int, line uint64, bytes []uint64) (o Outcome) {
	c := n.cores[core]
	others := slices.ContainsFunc(n.cores, func(x *naiveCore) bool { return x.valid[line] })
	outer := &c.l1
	if n.m.L2.Size > 0 {
		outer = &c.l2
	}
	o = Outcome{Level: Memory, Kind: outer.kind(line)}
	if n.m.L3.Size > 0 {
		if others || n.l3.has(line) {
			o.Level = L3
		} else {
			o.Kind = n.l3.kind(line)
		}
		n.l3.use(line)
	}
	if from, is := c.lost[line]; is {
		o.Kind, o.Partner = n.sharing(line, from, bytes)
	} else if !c.touched[line] {
		o.Kind = Cold
	}
	delete(c.lost, line)
	c.touched[line], c.valid[line], c.alone[line] = true, true, true
	n.forget(line)
	if victim, is := outer.use(line); is {
		c.l1.drop(victim)
		delete(c.valid, victim)
		delete(c.alone, victim)
		delete(c.lost, victim)
		n.forget(victim)
	}
	if n.m.L2.Size > 0 {
		c.l1.use(line)
	}
	return o
}

// sharing looks at all writes since the one that took the line: in epochs, of which
// only the newest are told apart.
func (n *naive) sharing(line uint64, from int, bytes []uint64) (Kind, Partner) {
	all := n.writes[line]
	epoch := make([]int, len(all)) // which one the write belongs to
	for i := 1; i < len(all); i++ {
		epoch[i] = epoch[i-1]
		if all[i].takes || all[i].core != all[i-1].core {
			epoch[i]++
		}
	}
	one := epoch[len(all)-1] + 1 - maxEpochs // those up to it are one
	by := map[int]Partner{}
	for i, w := range all {
		epoch[i] = max(epoch[i], one)
		by[epoch[i]] = Partner{Op: w.op, Core: w.core}
	}
	if from = slices.Index(epoch, epoch[from]); n.merged != nil && one > 0 {
		*n.merged++
	}
	for i := len(all) - 1; i >= from; i-- {
		for _, b := range bytes {
			if slices.Contains(all[i].bytes, b) {
				return True, by[epoch[i]]
			}
		}
	}
	return False, by[epoch[len(all)-1]]
}

func (n *naive) reset(core int) {
	lost := n.cores[core].lost
	n.cores[core] = n.newCore()
	for line := range lost {
		n.forget(line)
	}
}
