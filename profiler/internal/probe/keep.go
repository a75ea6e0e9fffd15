package probe

import (
	"errors"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Pack writes the plans and the copy, before it is settled, so that Unpack need not make them again.
// What the program's text becomes is written whole: that is read faster than
// half a million patches are applied.
func (s *Spec) Pack(w *pack.Writer, c *Code) {
	w.Uint(uint64(s.next.Chord))
	w.Uint(uint64(s.next.Site))
	w.Uint(s.size)
	w.Uint(uint64(len(s.moved)))
	for _, q := range s.moved {
		w.Uint(q.f.Ranges[0].Lo)
		w.Bool(q.vague)
		w.Bool(q.blurred)
		how := make([]byte, len(q.how))
		for i, h := range q.how {
			how[i] = byte(h)
		}
		w.Bytes(how)
		w.Uint(uint64(len(q.marks)))
		for _, m := range q.marks {
			w.Uint(uint64(m.what))
			w.Uint(uint64(m.id))
		}
		w.Uint(uint64(q.first))
		w.Uint(uint64(q.after - q.first))
		w.Uint(uint64(q.site))
		w.Uint(uint64(q.sites))
	}
	w.Uint(c.base)
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
	w.Ascending(c.landings)
	w.Uint(uint64(len(c.sites)))
	for _, x := range c.sites {
		w.Uint(uint64(x.pos))
		w.Bool(x.target)
	}
	w.Uint(s.used.lo)
	w.Words(s.used.bits)
}

// Unpack is New and Assemble at Home of a program for which they were done before.
func Unpack(r *pack.Reader, p *cfg.Program, hooks func(name string) (record.Hook, bool), opt Options, from Numbers) (*Spec, *Code, error) {
	s := newSpec(p, hooks, opt, from)
	s.next.Chord, s.next.Site = int32(r.Uint()), int32(r.Uint())
	s.size = r.Uint()
	for range r.Len(8) {
		f := p.FuncAt(r.Uint())
		if f == nil {
			return nil, nil, errors.New("plans of another program")
		}
		q := &plan{f: f, vague: r.Bool(), blurred: r.Bool()}
		for _, h := range r.Bytes() {
			q.how = append(q.how, callHow(h))
		}
		for range r.Len(2) {
			q.marks = append(q.marks, mark{markKind(r.Uint()), int32(r.Uint())})
		}
		q.first = int32(r.Uint())
		q.after = q.first + int32(r.Uint())
		q.site = int32(r.Uint())
		q.sites = int32(r.Uint())
		s.add(q)
	}
	c := &Code{base: r.Uint(), Bytes: r.Bytes(), Texts: texts(p.Image)}
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
	for range s.moved {
		last += int32(r.Uint())
		c.starts = append(c.starts, last)
	}
	c.landings = r.Ascending()
	for range r.Len(2) {
		c.sites = append(c.sites, siteRef{int32(r.Uint()), r.Bool()})
	}
	s.used = byteSet{r.Uint(), r.Words()}
	return s, c, r.Err
}
