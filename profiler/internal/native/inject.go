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
func inject(p *tracee.Process, a *analysis) (in *placed, err error) {
	entry, err := p.Entry()
	if err != nil {
		return nil, err
	}
	in = &placed{bias: entry - a.im.Entry, size: a.spec.CodeSize(), area: a.spec.Layout.Size()}
	if err := p.RunTo(entry); err != nil {
		return nil, err
	}
	if gs, err := p.GS(p.Pid); err != nil {
		return nil, err
	} else if gs != 0 {
		return nil, fmt.Errorf("a library of the program uses the GS register, in which this backend keeps its counters; it cannot be profiled")
	}
	if err := in.mapCache(p, a.im, a.spec.Home()); err != nil {
		return nil, err
	}
	if err := in.mapAreas(p); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			in.memory.Close()
		}
	}()
	if in.cache != a.spec.Home()+in.bias { // the best place is taken
		if err := a.make(in.cache - in.bias); err != nil {
			return nil, err
		}
	}
	if uint64(len(a.code.Bytes)) > in.size {
		return nil, fmt.Errorf("the moved code needs %d bytes, %d were planned: a fault of skewlens", len(a.code.Bytes), in.size)
	}
	if err := p.Write(a.code.Bytes, in.cache); err != nil {
		return nil, err
	}
	in.code = a.code
	return in, in.patch(p, a.code)
}

// mapCache maps the code cache within reach of the program's text and data,
// where neither heap nor stack will want to grow.
func (in *placed) mapCache(p *tracee.Process, im *image.Image, home uint64) error {
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
	const step = 16 << 20
	tries := []uint64{home + in.bias}
	for d := uint64(step); d+in.size < probe.Reach && d+in.size < lo; d += step {
		tries = append(tries, (lo-d-in.size)&^0xfff) // below: the heap grows upwards from the program
	}
	for d := uint64(probe.Reach); d > (hi-lo)+in.size+step; d -= step {
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
func (in *placed) patch(p *tracee.Process, c *probe.Code) error {
	type text struct {
		addr     uint64
		old, new []byte
	}
	var texts []text
	for _, x := range c.Texts {
		t := text{addr: x.Addr + in.bias, old: make([]byte, len(x.Old))}
		if err := p.Read(t.old, t.addr); err != nil {
			return err
		}
		t.new = x.New
		if !bytes.Equal(t.old, x.Old) { // changed before the program started: by relocations, if where nothing is patched
			t.new = bytes.Clone(t.old)
			for i, b := range x.New {
				if b == x.Old[i] {
					continue
				}
				if t.old[i] != x.Old[i] {
					return fmt.Errorf("the code at %#x is not what the file says: it was changed before the program started", x.Addr+uint64(i))
				}
				t.new[i] = b
			}
		}
		texts = append(texts, t)
	}
	for i, t := range texts {
		if err := p.Write(t.new, t.addr); err != nil {
			for _, u := range texts[:i+1] {
				p.Write(u.old, u.addr)
			}
			return err
		}
	}
	for _, s := range c.Slots {
		real, err := p.Word(s.Addr + in.bias)
		if err != nil || real == 0 {
			continue
		}
		if err := p.WriteWord(real, in.cache+uint64(s.Literal)); err != nil {
			return err
		}
		if err := p.WriteWord(in.cache+uint64(s.Hook), s.Addr+in.bias); err != nil {
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
