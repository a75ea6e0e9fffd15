package relocate

import (
	"errors"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
)

// Pack writes the plans and the copy, before Link, so that Unpack need not make them again.
// What the program's text becomes is written whole: that is read faster than
// half a million patches are applied.
func (s *Spec) Pack(w *pack.Writer, c *Code) {
	w.Uint(uint64(s.next.Chord))
	w.Uint(uint64(s.next.Site))
	w.Uint(uint64(s.next.Op))
	w.Uint(s.size)
	w.Uint(uint64(len(s.plans)))
	for _, q := range s.plans {
		q.Pack(w)
	}
	w.Uint(c.Base)
	w.Bytes(c.Bytes)
	for _, t := range c.Texts {
		w.Bytes(t.New)
	}
	w.Uint(uint64(len(c.Slots)))
	for _, x := range c.Slots {
		w.Uint(x.Addr)
		w.Uint(uint64(x.Hook))
		w.Uint(uint64(x.Literal))
	}
	last := int32(0)
	for _, at := range c.starts {
		w.Uint(uint64(at - last))
		last = at
	}
	w.Ascending(c.jumps)
	w.Uint(uint64(len(s.units)))
	for _, u := range s.units {
		w.Uint(uint64(s.byFunc[u.Func].Number - s.from.Function))
		w.Uint(u.Head)
		w.Bool(u.Index)
	}
	w.Bytes(c.sites)
	w.Uint(s.used.lo)
	w.Bytes(s.used.bits)
}

// Pack writes a plan: another one if its counters are others.
func (q *Plan) Pack(w *pack.Writer) {
	w.Uint(q.Func.Ranges[0].Lo)
	w.Bool(q.CallersUnknown)
	w.Bool(q.Incomplete)
	w.Bool(q.EntryUnknown)
	w.Bool(q.Always)
	w.Bool(q.callsUnknown)
	w.Bool(q.looks)
	w.Uint(uint64(q.cycle))
	how := make([]byte, len(q.calls))
	for i, h := range q.calls {
		how[i] = byte(h)
	}
	w.Bytes(how)
	w.Uint(uint64(len(q.excluded)))
	for _, x := range q.excluded {
		w.Uint(uint64(x.What))
		w.Uint(uint64(x.ID))
	}
	w.Bytes(q.ran)
	w.Uint(uint64(q.first))
	w.Uint(uint64(q.After - q.first))
	w.Uint(uint64(q.Site))
	w.Uint(uint64(q.sites))
	w.Uint(uint64(q.Op))
	w.Uint(uint64(q.ops))
}

// Unpack is New and Assemble at Home of a program for which they were done before.
func Unpack(r *pack.Reader, p *cfg.Program, hooks Hooks, opt probe.Options, from Numbers) (*Spec, *Code, error) {
	s := newSpec(p, hooks, opt, from)
	s.next.Chord, s.next.Site, s.next.Op = int32(r.Uint()), int32(r.Uint()), int32(r.Uint())
	s.size = r.Uint()
	all := make([]Plan, r.Len(8)) // together: there are thousands
	s.plans = make([]*Plan, 0, len(all))
	for i := range all {
		f := p.FuncAt(r.Uint())
		if f == nil {
			return nil, nil, errors.New("plans of another program")
		}
		q := &all[i]
		*q = Plan{Func: f, CallersUnknown: r.Bool(), Incomplete: r.Bool(), EntryUnknown: r.Bool(), Always: r.Bool(), callsUnknown: r.Bool(), looks: r.Bool(), cycle: int32(r.Uint())}
		how := r.Bytes()
		q.calls = make([]callMode, len(how))
		for i, h := range how {
			q.calls[i] = callMode(h)
		}
		for range r.Len(2) {
			q.excluded = append(q.excluded, placement.Exclusion{What: placement.ExclusionKind(r.Uint()), ID: int32(r.Uint())})
		}
		q.ran = r.Bytes()
		q.first = int32(r.Uint())
		q.After = q.first + int32(r.Uint())
		q.Site = int32(r.Uint())
		q.sites = int32(r.Uint())
		q.Op, q.ops = int32(r.Uint()), int32(r.Uint())
		s.add(q)
	}
	c := &Code{Base: r.Uint(), Bytes: r.Bytes(), Texts: texts(p.Image)}
	for i := range c.Texts {
		t := &c.Texts[i]
		if t.New = r.Bytes(); len(t.New) != len(t.Old) {
			return nil, nil, errors.New("code of another program")
		}
	}
	for range r.Len(3) {
		c.Slots = append(c.Slots, Slot{r.Uint(), int32(r.Uint()), int32(r.Uint())})
	}
	last := int32(0)
	c.starts = make([]int32, len(s.plans))
	for i := range c.starts {
		last += int32(r.Uint())
		c.starts[i] = last
	}
	c.jumps = r.Ascending()
	if err := s.unpackUnits(r); err != nil {
		return nil, nil, err
	}
	c.sites = r.Bytes()
	s.used = byteSet{r.Uint(), r.Bytes()}
	return s, c, r.Err
}

func (s *Spec) unpackUnits(r *pack.Reader) error {
	for range r.Len(3) {
		n := r.Uint()
		if n >= uint64(len(s.plans)) {
			return errors.New("loops of another program")
		}
		q := s.plans[n]
		if q.unit < 0 {
			q.unit = s.next.Unit
		}
		s.next.Unit++
		s.units = append(s.units, Unit{q.Func, r.Uint(), r.Bool()})
	}
	return nil
}
