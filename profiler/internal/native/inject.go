package native

import (
	"bytes"
	"fmt"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// placed is what was put into the target.
type placed struct {
	bias   uint64
	cache  uint64 // of size bytes
	size   uint64
	areas  uint64 // run-time address of the first thread's area
	slots  int
	memory *tracee.Shared // the areas
	area   uint64         // bytes of one
	code   *probe.Code
}

// holds reports whether an address lies in the code cache.
func (in *placed) holds(pc uint64) bool { return pc >= in.cache && pc < in.cache+in.size }

// inject puts the moved code and the counters' memory into a target that is
// stopped at its entry point. Nothing of the target's text is changed unless
// everything can be.
func inject(p *tracee.Process, im *image.Image, s *probe.Spec) (*placed, error) {
	entry, err := p.Entry()
	if err != nil {
		return nil, err
	}
	in := &placed{bias: entry - im.Entry, size: s.CodeSize(), area: s.Layout.Size()}
	if err := p.RunTo(entry); err != nil {
		return nil, err
	}
	if gs, err := p.GS(p.Pid); err != nil {
		return nil, err
	} else if gs != 0 {
		return nil, fmt.Errorf("a library of the program uses the GS register, in which this backend keeps its counters; it cannot be profiled")
	}
	if err := in.mapCache(p, im); err != nil {
		return nil, err
	}
	if err := in.mapAreas(p); err != nil {
		return nil, err
	}
	code, err := s.Assemble(in.cache, in.bias, func(a uint64) (uint64, error) { return p.Word(a + in.bias) })
	if err != nil {
		return nil, err
	}
	if uint64(len(code.Bytes)) > in.size {
		return nil, fmt.Errorf("the moved code needs %d bytes, %d were planned: a fault of skewlens", len(code.Bytes), in.size)
	}
	if err := p.Write(code.Bytes, in.cache); err != nil {
		return nil, err
	}
	in.code = code
	return in, in.patch(p, im, code)
}

// mapCache maps the code cache within reach of the program's text and data,
// where neither heap nor stack will want to grow.
func (in *placed) mapCache(p *tracee.Process, im *image.Image) error {
	ms, err := p.Mappings()
	if err != nil {
		return err
	}
	lo, hi := im.Lowest+in.bias, im.Highest+in.bias
	free := func(a uint64) bool {
		for _, m := range ms {
			if a < m.Hi && a+in.size > m.Lo {
				return false
			}
		}
		return a >= 1<<20
	}
	const reach, step = 1<<31 - 64<<20, 16 << 20
	var tries []uint64
	for d := uint64(step); d+in.size < reach && d+in.size < lo; d += step {
		tries = append(tries, (lo-d-in.size)&^0xfff) // below: the heap grows upwards from the program
	}
	for d := uint64(reach); d > (hi-lo)+in.size+step; d -= step {
		tries = append(tries, (lo+d-in.size)&^0xfff) // above, as far off as possible
	}
	for _, a := range tries {
		if !free(a) {
			continue
		}
		if err := p.MapCode(a, in.size); err == nil {
			in.cache = a
			return nil
		}
	}
	return fmt.Errorf("no room for %d MB of code within 2 GB of the program", in.size>>20)
}

// mapAreas makes the threads' memory.
func (in *placed) mapAreas(p *tracee.Process) (err error) {
	in.slots = int(min(maxThreads, max(64, maxArea/in.area)))
	in.memory, err = p.MapShared(uint64(in.slots) * in.area)
	return err
}

// patch checks every byte that is to be replaced, then writes (package
// probe says why this is safe). If a write fails, what was written is undone.
func (in *placed) patch(p *tracee.Process, im *image.Image, c *probe.Code) error {
	type text struct {
		addr     uint64
		old, new []byte
	}
	var texts []text
	for i := range im.Sections {
		if s := &im.Sections[i]; s.Exec {
			t := text{addr: s.Addr, old: make([]byte, len(s.Data))}
			if err := p.Read(t.old, s.Addr+in.bias); err != nil {
				return err
			}
			t.new = bytes.Clone(t.old)
			texts = append(texts, t)
		}
	}
	for _, x := range c.Patches {
		ok := false
		for _, t := range texts {
			if x.Addr >= t.addr && x.Addr+uint64(len(x.New)) <= t.addr+uint64(len(t.old)) {
				o := x.Addr - t.addr
				ok = bytes.Equal(t.old[o:o+uint64(len(x.Old))], x.Old)
				copy(t.new[o:], x.New)
			}
		}
		if !ok {
			return fmt.Errorf("the code at %#x is not what the file says: it was changed before the program started", x.Addr)
		}
	}
	for i, t := range texts {
		if err := p.Write(t.new, t.addr+in.bias); err != nil {
			for _, u := range texts[:i+1] {
				p.Write(u.old, u.addr+in.bias)
			}
			return err
		}
	}
	for slot, v := range c.Slots {
		var b [8]byte
		for i := range b {
			b[i] = byte(v >> (8 * i))
		}
		if err := p.Write(b[:], slot+in.bias); err != nil {
			return err
		}
	}
	return nil
}

// view maps one thread's area here.
func (in *placed) view(slot int) ([]byte, error) {
	return in.memory.View(uint64(slot)*in.area, in.area)
}

// wipe gives an area's memory back; it reads as zero afterwards.
func (in *placed) wipe(slot int) error { return in.memory.Wipe(uint64(slot)*in.area, in.area) }

func (in *placed) base(slot int) uint64 { return in.memory.Addr + uint64(slot)*in.area }
