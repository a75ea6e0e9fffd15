package native

import (
	"bytes"
	"fmt"
	"syscall"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/livepatch"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// module is the program, or a library, with its code moved.
type module struct {
	*analysis
	bias    uint64 // run-time less link-time addresses
	base    uint64 // the profile's less link-time addresses
	cache   uint64 // of size bytes
	size    uint64
	patcher *livepatch.Patcher
	stands  map[uint64]relocate.Stand // by offset in the cache: what was asked before
	listed  map[int][]relocate.Stand  // by function: of those that were asked for
	locks   *cfg.Locks                // once asked for
	checked []text                    // once they were

	byDefault bool // nobody asked for it
	dlopened  bool // loaded by the program while it runs,
	absent    bool // and not there now
}

// How many are kept: returns are few, those of signals may be any.
const (
	manyStands    = 1 << 16
	manyFunctions = 1 << 6
)

// stand is how a thread stands at an offset of the module's copy; Nowhere outside of it. To
// find it a function is emitted anew, and the calls of threads that wait, and what
// touches new pages, are asked for again and again.
func (m *module) stand(offset uint64) relocate.Stand {
	x, known := m.stands[offset]
	if !known {
		if m.stands == nil || len(m.stands) >= manyStands {
			m.stands = map[uint64]relocate.Stand{}
		}
		if i := m.code.Function(offset); i >= 0 && offset < uint64(len(m.code.Bytes)) {
			x = relocate.StandAt(m.standsOf(i), offset)
		}
		m.stands[offset] = x
	}
	return x
}

// standsOf are those of a function.
func (m *module) standsOf(function int) []relocate.Stand {
	list, known := m.listed[function]
	if !known {
		if m.listed == nil || len(m.listed) >= manyFunctions {
			m.listed = map[int][]relocate.Stand{}
		}
		list = m.spec.Stands(m.code, function)
		m.listed[function] = list
	}
	return list
}

// holds reports whether a run-time address lies in the module's code cache.
func (m *module) holds(pc uint64) bool { return m != nil && !m.absent && pc-m.cache < m.size }

// link is the link-time address of a run-time one, which lies in the module as
// it was loaded.
func (m *module) link(pc uint64) (uint64, bool) {
	a := pc - m.bias
	return a, !m.absent && a >= m.im.Lowest && a < m.im.Highest
}

// put maps the module's code cache and fills it.
func (m *module) put(p *tracee.Process) error {
	if m.absent {
		return m.reserve(p)
	}
	m.size = m.spec.CodeSize()
	if m.probe.Library { // which has no hooks behind its code: the bound is three times what it takes
		m.size = (uint64(len(m.code.Bytes)) + 1<<20) &^ 0xfff
	}
	if err := m.mapCache(p); err != nil {
		return err
	}
	if m.cache != m.best()+m.bias { // the best place is taken
		if err := m.make(m.cache - m.bias); err != nil {
			return err
		}
	}
	if uint64(len(m.code.Bytes)) > m.size {
		return fmt.Errorf("the moved code needs %d bytes, %d were planned: a fault of skewlens", len(m.code.Bytes), m.size)
	}
	return nil
}

// write writes the module's copy.
func (m *module) write(p *tracee.Process, l threadarea.Layout) error {
	m.patcher = livepatch.New(m.spec, m.code, func(a uint64, b []byte) error { return p.Write(b, a+m.bias) })
	return m.code.Link(l, func(b []byte, offset uint64) error { return p.Write(b, m.cache+offset) })
}

// mapCache maps the code cache within reach of the module's text and data,
// where neither heap nor stack will want to grow.
func (m *module) mapCache(p *tracee.Process) error {
	ms, err := p.Mappings()
	if err != nil {
		return err
	}
	lo, hi := m.im.Lowest+m.bias, m.im.Highest+m.bias
	free := func(a uint64) bool {
		for _, x := range ms {
			if a < x.Hi && a+m.size > x.Lo {
				return false
			}
		}
		return a >= 1<<20
	}
	const step = 16 << 20
	tries := []uint64{m.best() + m.bias}
	for d := uint64(step); d+m.size < relocate.Reach && d+m.size < lo; d += step {
		tries = append(tries, (lo-d-m.size)&^0xfff) // below: the heap grows upwards from the program
	}
	for d := uint64(relocate.Reach); d > (hi-lo)+m.size+step; d -= step {
		tries = append(tries, (lo+d-m.size)&^0xfff) // above, as far off as possible
	}
	for _, a := range tries {
		if !free(a) {
			continue
		}
		if err := p.MapCode(a, m.size); err == nil {
			m.cache = a
			return nil
		}
	}
	return fmt.Errorf("no room for %d MB of code within 2 GB of %s", m.size>>20, m.im.Path)
}

// unmap takes back what put has mapped.
func (m *module) unmap(p *tracee.Process) {
	if m.cache != 0 {
		_, _ = p.Syscall(syscall.SYS_MUNMAP, m.cache, m.size)
		m.cache = 0
	}
}

// text is a section of a module's code in the target.
type text struct {
	addr     uint64
	old, new []byte
}

// texts checks every byte of the module's code that is to be replaced, unless that was
// done already.
func (m *module) texts(p *tracee.Process) (list []text, err error) {
	if list, m.checked = m.checked, nil; list != nil {
		return list, nil
	}
	for _, x := range m.code.Texts {
		t := text{x.Addr + m.bias, x.Old, x.New}
		same, err := says(p.Read, x.Old, t.addr)
		if err != nil {
			return nil, err
		}
		if !same { // changed before the program started: by relocations, if where nothing is patched
			t.old = make([]byte, len(x.Old))
			if err := p.Read(t.old, t.addr); err != nil {
				return nil, err
			}
			t.new = bytes.Clone(t.old)
			for i, b := range x.New {
				if b == x.Old[i] {
					continue
				}
				if t.old[i] != x.Old[i] {
					return nil, fmt.Errorf("the code at %#x of %s is not what the file says: it was changed before the program started", x.Addr+uint64(i), m.im.Path)
				}
				t.new[i] = b
			}
		}
		list = append(list, t)
	}
	return list, nil
}

// says reports whether a program's memory is what the file says, piece by piece: to have
// room for all of a library's code takes longer than to read it.
func says(read func([]byte, uint64) error, file []byte, addr uint64) (bool, error) {
	const piece = 64 << 10
	b := make([]byte, min(piece, len(file)))
	for at := 0; at < len(file); at += piece {
		want := file[at:min(at+piece, len(file))]
		if err := read(b[:len(want)], addr+uint64(at)); err != nil {
			return false, err
		}
		if !bytes.Equal(b[:len(want)], want) {
			return false, nil
		}
	}
	return true, nil
}

// hook puts hooks into the slots through which the module calls the library.
func (m *module) hook(p *tracee.Process) error {
	for _, s := range m.code.Slots {
		real, err := p.Word(s.Addr + m.bias)
		if err != nil || real == 0 {
			continue
		}
		if err := p.WriteWord(real, m.cache+uint64(s.Literal)); err != nil {
			return err
		}
		if err := p.WriteWord(m.cache+uint64(s.Hook), s.Addr+m.bias); err != nil {
			return err
		}
	}
	return nil
}
