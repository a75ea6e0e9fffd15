package cfg

import (
	"maps"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// taken follows what was taken through straight code: the registers, and the slots and
// objects of the frame, that hold it or what was made of it.
type taken struct {
	regs    x86.Regs
	consts  x86.Regs // hold what the code itself says: task = -1
	slots   map[x86.Mem]origin
	points  map[x86.Reg]x86.Mem // to objects in the frame
	objects map[x86.Mem]int32   // that callees have filled, and where they end
	flags   bool
	held    bool // a lock is: whatever is read may be shared
}

// origin is where a value comes from.
type origin uint8

const (
	elsewhere origin = iota
	fixed
	store
)

// and is where a value comes from that comes from either: what is a constant where
// nothing was taken tells just that.
func (o origin) and(p origin) origin {
	if o == elsewhere || p == elsewhere {
		return elsewhere
	}
	return max(o, p)
}

func (t *taken) clone() *taken {
	u := *t
	u.slots, u.points, u.objects = maps.Clone(t.slots), maps.Clone(t.points), maps.Clone(t.objects)
	return &u
}

// meet keeps what is so in both.
func (t *taken) meet(u *taken) {
	t.regs, t.consts = t.regs&(u.regs|u.consts)|t.consts&u.regs, t.consts&u.consts
	t.flags, t.held = t.flags && u.flags, t.held && u.held
	for m, o := range t.slots {
		t.slots[m] = o.and(u.slots[m])
	}
	for m := range u.slots {
		if _, known := t.slots[m]; !known {
			t.put(m, elsewhere)
		}
	}
	maps.DeleteFunc(t.points, func(r x86.Reg, m x86.Mem) bool { n, both := u.points[r]; return !both || n != m })
	maps.DeleteFunc(t.objects, func(m x86.Mem, _ int32) bool { _, both := u.objects[m]; return !both })
}

func (t *taken) put(slot x86.Mem, o origin) {
	if t.slots == nil {
		t.slots = map[x86.Mem]origin{}
	}
	t.slots[slot] = o
}

func (t *taken) equals(u *taken) bool {
	return t.regs == u.regs && t.consts == u.consts && t.flags == u.flags && t.held == u.held &&
		maps.Equal(t.slots, u.slots) && maps.Equal(t.points, u.points) && maps.Equal(t.objects, u.objects)
}

// call: what a function of the program returns was taken, if it takes, or reads
// under the lock that is held; others keep only the registers that callees save. So
// was what it leaves in objects of the caller's: a std::optional comes back in one.
func (t *taken) call(h habit, own bool, p *named) {
	c := p.calls
	takes := own && (h.fetches || h.locks || t.held && !h.unlocks)
	asks := own && !h.unlocks && t.regs&x86.RDI.Set() != 0 // about what was taken
	for _, r := range c.arguments {
		m, known := t.points[r]
		asks = asks || known && t.holds(m)
	}
	for _, r := range c.arguments {
		m, known := t.points[r]
		switch {
		case !known || h.fills&r.Set() == 0:
		case takes || asks:
			t.fill(m, p.end(m))
		default:
			delete(t.objects, m)
		}
	}
	t.regs, t.consts = t.regs&c.saved, t.consts&c.saved
	maps.DeleteFunc(t.points, func(r x86.Reg, _ x86.Mem) bool { return r.Set()&c.saved == 0 })
	if takes || asks && own {
		t.regs |= c.results
	}
	t.flags, t.held = false, !h.unlocks && (h.locks || t.held)
}

// step follows them through the k-th instruction of a block; own: its memory operand is
// a slot.
func (t *taken) step(b *Block, k int, own bool, p *named) {
	in := &b.Insns[k]
	o := t.of(in, own, p)
	if in.Stores && own {
		if in.Lock {
			t.put(in.Mem, elsewhere)
		} else {
			t.put(in.Mem, o)
		}
	}
	if in.Stores && in.HasMem {
		t.locks(b, k, p)
	}
	to, object, known := t.pointed(in, own)
	t.regs, t.consts = t.regs&^in.Def, t.consts&^in.Def
	maps.DeleteFunc(t.points, func(r x86.Reg, m x86.Mem) bool { return in.Def&(r.Set()|m.Base.Set()) != 0 })
	if known {
		if t.points == nil {
			t.points = map[x86.Reg]x86.Mem{}
		}
		t.points[to] = object
	}
	switch def := in.Def &^ x86.RSP.Set(); o {
	case store:
		t.regs |= def
	case fixed:
		t.consts |= def
	}
	if in.FlagsKilled != 0 {
		t.flags = o == store
	}
}

// of is where what an instruction makes comes from.
func (t *taken) of(in *x86.Insn, own bool, p *named) origin {
	if clears(in) && in.Opcode&1 != 0 { // of a byte, the rest stays
		return fixed
	}
	from, used := in.Use&t.regs != 0 || in.FlagsRead != 0 && t.flags || fetches(in), in.Use
	o := fixed
	if in.HasMem {
		if own {
			used &^= in.Mem.Base.Set()
		}
		if in.Loads {
			at, slot := t.slots[in.Mem]
			from = from || own && (at == store || !slot && t.inObject(in.Mem)) ||
				!slot && in.Mem.Base != x86.RSP && (t.held || p.swapped[cellOf(in)])
			if !own || at != fixed {
				o = elsewhere
			}
		}
	}
	switch {
	case from:
		return store
	case used&^t.consts != 0 || in.FlagsRead != 0 || in.Lock:
		return elsewhere
	}
	return o
}
