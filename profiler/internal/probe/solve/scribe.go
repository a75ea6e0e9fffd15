package solve

import (
	"encoding/binary"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/pack"
)

// scribe writes a function, or reads it: what is said of it is said once, so that both
// agree. Addresses are written as the module's, events as the function's own.
type scribe struct {
	v      *Solver
	x      *function
	base   uint64 // of the module's addresses in the profile
	events int    // the first one of the function,
	exits  int    // and departure

	writes bool    // or reads
	all    []int64 // what is written, or was
	at     int     // how much of it was read
	short  bool    // there was not enough of it
}

// function is all of a function but what grows while the program runs.
func (s *scribe) function() {
	x := s.x
	s.ownEvents()
	s.number(&x.firstBlock)
	s.number(&x.entry)
	s.number(&x.entryBlock)
	s.event(&x.start)
	s.network()
	s.steps()
	for i := range list(s, &x.calls) {
		s.number(&x.calls[i].edge)
		s.number(&x.calls[i].callee)
	}
	for i := range list(s, &x.sites) {
		k := &x.sites[i]
		s.addr(&k.addr)
		s.number(&k.block)
		s.flag(&k.tail)
	}
	for i := range list(s, &x.imports) {
		s.number(&x.imports[i].edge)
		x.imports[i].slot = uint64(s.wide(int64(x.imports[i].slot)))
	}
	for i := range list(s, &x.pads) {
		k := &x.pads[i]
		s.number(&k.flow)
		s.number(&k.edge)
		s.number(&k.block)
	}
	for i := range list(s, &x.throws) {
		k := &x.throws[i]
		s.number(&k.block)
		s.number(&k.flow)
		s.number(&k.pad)
		s.flag(&k.throws)
		s.addr(&k.site)
	}
	s.blocks()
	for i := range list(s, &x.graph) {
		k := &x.graph[i]
		s.number(&k.from)
		s.number(&k.to)
		s.number(&k.callee)
		k.kind = profile.EdgeKind(s.wide(int64(k.kind)))
		s.addr(&k.site)
		s.event(&k.event)
		k.passes = uint64(s.wide(int64(k.passes)))
	}
}

// ownEvents are the events and departures that a function has added to the solver's.
func (s *scribe) ownEvents() {
	v := s.v
	n := s.length(len(v.events) - s.events)
	if !s.writes {
		v.makeRoom(n)
		v.events = v.events[:s.events+n]
	}
	for i := range n {
		k := &v.events[s.events+i]
		k.fn = s.x.fn
		s.number(&k.insns)
		s.number(&k.wakes)
	}
	exits := v.exits[s.exits:]
	for i := range list(s, &exits) {
		k := &exits[i]
		s.addr((*uint64)(&k.Site))
		s.text(&k.Name)
		s.event(&k.Event)
	}
	if !s.writes {
		v.exits = append(v.exits, exits...)
	}
}

// network are the edges of the network, and what their counters are worth.
func (s *scribe) network() {
	x, v := s.x, s.v
	first, after := v.Chords(int(x.fn))
	for i := range list(s, &x.edges) {
		e := &x.edges[i]
		nth := e.counter - first
		if e.counter < 0 {
			nth = -1
		}
		s.flagged(&nth, &e.unknown)
		s.event(&e.event)
		if nth < 0 {
			e.counter = -1
			continue
		}
		if e.counter = first + nth; nth >= after-first {
			s.spoilt()
			return
		}
		w := &v.weight[e.counter]
		w.step = s.wide(w.step)
		w.worth = s.wide(w.worth)
		w.wakes = s.wide(w.wakes)
	}
}

func (s *scribe) steps() {
	x := &s.x.steps
	for i := range list(s, &x.terms) {
		s.number(&x.terms[i])
	}
	end := int32(0)
	for i := range list(s, &x.list) {
		k := &x.list[i]
		s.number(&k.edge)
		s.flagged(&k.node, &k.leaves)
		plus, minus := k.minus-end, k.end-k.minus
		s.number(&plus)
		s.number(&minus)
		if plus < 0 || minus < 0 || int(end)+int(plus)+int(minus) > len(x.terms) {
			s.spoilt()
			return
		}
		k.minus = end + plus
		k.end = k.minus + minus
		end = k.end
	}
}

func (s *scribe) blocks() {
	for i := range list(s, &s.x.blocks) {
		k := &s.x.blocks[i]
		s.addr((*uint64)(&k.start))
		k.end = uint32(s.wide(int64(k.end)))
		k.last = uint32(s.wide(int64(k.last)))
		s.number(&k.instructions)
		s.event(&k.count)
		s.flags(&k.spin, &k.virtual, &k.deals, &k.resumes)
		k.branch = profile.Inputs(s.wide(int64(k.branch)))
	}
}

// number is what most of a function is. One function for numbers of all types would be
// called through a table, which takes longer than to read one.
func (s *scribe) number(p *int32) { *p = int32(s.wide(int64(*p))) }

// flagged is a number with something that is true or false.
func (s *scribe) flagged(p *int32, flag *bool) {
	n := int64(*p) << 1
	if *flag {
		n |= 1
	}
	n = s.wide(n)
	*p, *flag = int32(n>>1), n&1 != 0
}

// wide is a number that is written, or the one that is read instead; 0 where there are no
// more. It is short enough for the compiler to put it where it is called.
func (s *scribe) wide(n int64) int64 {
	if s.writes {
		s.all = append(s.all, n)
		return n
	}
	if s.at == len(s.all) {
		s.short = true
		return 0
	}
	s.at++
	return s.all[s.at-1]
}

// spoilt says that what is read cannot be.
func (s *scribe) spoilt() { s.at, s.short = len(s.all), true }

// pack writes the numbers, small ones of either sign in few bytes.
func (s *scribe) pack(w *pack.Writer) {
	for _, n := range s.all {
		w.Uint(uint64(n<<1 ^ n>>63))
	}
}

// unpack is the other way round. To take numbers one by one from where they lie takes
// several times as long as all that is done with them.
func (s *scribe) unpack(b []byte, memory []int64) {
	s.all = memory[:0]
	for len(b) > 0 {
		n, size := uint64(b[0]), 1
		if n >= 0x80 {
			if n, size = binary.Uvarint(b); size <= 0 {
				s.spoilt()
				return
			}
		}
		b = b[size:]
		s.all = append(s.all, int64(n>>1)^-int64(n&1))
	}
}

// list is how many things there are; those that are read have room. It is written once,
// as memory that is new to the process would be had twice if it were read first.
func list[T any](s *scribe, p *[]T) int {
	n := s.length(len(*p))
	if !s.writes && n > 0 {
		*p = make([]T, n)
		clear(*p)
	}
	return n
}

// length is how many things there are, of which each takes a number at least.
func (s *scribe) length(n int) int {
	n = int(s.wide(int64(n)))
	if !s.writes && (n < 0 || n > len(s.all)-s.at) {
		s.spoilt()
		return 0
	}
	return n
}

// addr is an address of the module, or 0: none.
func (s *scribe) addr(p *uint64) {
	a := uint64(0)
	if *p != 0 {
		a = *p - s.base + 1
	}
	if a = uint64(s.wide(int64(a))); a == 0 {
		*p = 0
	} else {
		*p = a - 1 + s.base
	}
}

func (s *scribe) event(p *profile.EventID) {
	n := int32(*p) - int32(s.events)
	if *p == profile.NoEvent {
		n = -1
	}
	if n = int32(s.wide(int64(n))); n < 0 {
		*p = profile.NoEvent
	} else {
		*p = profile.EventID(n) + profile.EventID(s.events)
	}
}

func (s *scribe) flags(list ...*bool) {
	n := int64(0)
	for i, p := range list {
		if *p {
			n |= 1 << i
		}
	}
	n = s.wide(n)
	for i, p := range list {
		*p = n>>i&1 != 0
	}
}

func (s *scribe) flag(p *bool) {
	n := int64(0)
	if *p {
		n = 1
	}
	*p = s.wide(n) != 0
}

func (s *scribe) text(p *string) {
	b := []byte(*p)
	for i := range list(s, &b) {
		b[i] = byte(s.wide(int64(b[i])))
	}
	*p = string(b)
}
