package solve

import (
	"bytes"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/pack"
)

// Kept is what load made of a module's functions in earlier runs, and in this one. A
// program runs mostly what it ran before, and to make a function's graph and network
// takes ten times as long as to read what is left of them.
//
//	number of a function, length ─▶ its plan, as it was packed, and what load made of it
//
// The plan says whether it is the same function with the same counters: if not, it is
// made anew.
type Kept struct {
	was, made []keptFunction // in order; in the order of their appearance
}

type keptFunction struct {
	fn int32
	is []byte
}

// enoughMade is how many bytes must be new to be worth writing all again, at least and
// as a part of all: few functions may be large.
const (
	enoughMade = 4 << 10
	partMade   = 16
	keptEvent  = 20 // that are kept for each event, at least, of most programs
)

// size is how many bytes are kept, of all functions and of the largest.
func (k *Kept) size() (all, largest int) {
	if k != nil {
		for _, x := range k.was {
			all, largest = all+len(x.is), max(largest, len(x.is))
		}
	}
	return all, largest
}

// NewKept reads what Pack has written, of earlier runs nothing if that cannot be read. It
// points into b.
func NewKept(b []byte) *Kept {
	k, r := &Kept{}, &pack.Reader{B: b}
	fn := int32(0)
	for range r.Len(2) {
		fn += int32(r.Uint())
		k.was = append(k.was, keptFunction{fn, r.Bytes()})
	}
	if r.Err != nil {
		return &Kept{}
	}
	return k
}

// Grown reports whether so much is new that it should be written.
func (k *Kept) Grown() bool {
	size := func(list []keptFunction) (n int) {
		for _, x := range list {
			n += len(x.is)
		}
		return n
	}
	made := size(k.made)
	return made >= enoughMade && made >= size(k.was)/partMade
}

// Pack writes all functions, the new ones instead of old ones of the same number.
func (k *Kept) Pack(w *pack.Writer) {
	all := slices.Concat(k.made, k.was)
	slices.SortStableFunc(all, func(a, b keptFunction) int { return int(a.fn - b.fn) })
	all = slices.CompactFunc(all, func(a, b keptFunction) bool { return a.fn == b.fn })
	w.Uint(uint64(len(all)))
	last := int32(0)
	for _, x := range all {
		w.Uint(uint64(x.fn - last))
		w.Bytes(x.is)
		last = x.fn
	}
}

// find returns what is kept of a function in earlier runs.
func (k *Kept) find(fn int32) []byte {
	i := sort.Search(len(k.was), func(i int) bool { return k.was[i].fn >= fn })
	if i == len(k.was) || k.was[i].fn != fn {
		return nil
	}
	return k.was[i].is
}

// keeps is where a module's functions are kept, or nil. Where caches are simulated
// nothing is: there a function also has its accesses, and making it takes no time
// beside that.
func (v *Solver) keeps(m *Module) *Kept {
	if v.layout.Ops > 0 {
		return nil
	}
	return m.Kept
}

// restore is what make makes of a function, if that was kept.
func (v *Solver) restore(fi int32, m *Module) *function {
	k := v.keeps(m)
	if k == nil {
		return nil
	}
	v.plan.B = v.plan.B[:0]
	v.plans[fi].Pack(&v.plan)
	is, ok := bytes.CutPrefix(k.find(fi), v.plan.B)
	if !ok {
		return nil
	}
	events, exits := len(v.events), len(v.exits)
	x := &function{fn: fi}
	s := scribe{v: v, x: x, base: m.Base, events: events, exits: exits}
	s.unpack(is, v.numbers)
	v.numbers = s.all
	s.function()
	if s.short || s.at < len(s.all) {
		v.events, v.exits = v.events[:events], v.exits[:exits]
		return nil
	}
	return x
}

// note keeps a function that was just made, and its events and exits from some on.
func (v *Solver) note(x *function, m *Module, events, exits int) {
	k := v.keeps(m)
	if k == nil {
		return
	}
	w := &pack.Writer{}
	v.plans[x.fn].Pack(w)
	s := scribe{v: v, x: x, base: m.Base, events: events, exits: exits, writes: true}
	s.function()
	s.pack(w)
	k.made = append(k.made, keptFunction{x.fn, w.B})
}
