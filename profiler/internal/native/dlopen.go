package native

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/livepatch"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Libraries that are loaded while the program runs. Their counters have to be
// there from the beginning, so they must be known by their files' paths. The
// dynamic linker calls a function that does nothing, for debuggers, when it has
// mapped what dlopen asks for and before it runs any of it
// (_dl_debug_state, System V gABI's r_debug): a breakpoint there is where the
// code is moved. No thread can be in the library yet, nor know its address.

// dlopening watches the dynamic linker.
type dlopening struct {
	debug uint64 // run-time address of its r_debug
	brk   uint64 // of the function
	old   [1]byte
}

// Of struct r_debug.
const (
	debugBreak  = 16
	debugState  = 24
	debugStable = 0 // state: nothing is under way
)

// later adds modules of libraries that are named by path and not loaded yet.
func (in *placed) later(s source, c Config, loaded []library) (more []*module) {
	for _, pattern := range c.Libraries {
		file, err := filepath.Abs(pattern)
		if err != nil || !strings.Contains(pattern, "/") {
			continue
		}
		if real, err := filepath.EvalSymlinks(file); err == nil {
			file = real
		}
		known := false
		for _, l := range loaded {
			known = known || l.path == file
		}
		if im, err := image.OpenLibrary(file); !known && err == nil && !im.HasGo && s.lines.Add(file) == nil {
			more = append(more, &module{analysis: &analysis{im: im}, absent: true})
		}
	}
	return more
}

// reserve maps the code cache of a library that is not there yet: where all
// those will come to lie is within reach of where others lie.
func (m *module) reserve(p *tracee.Process) error {
	ms, err := p.Mappings()
	if err != nil {
		return err
	}
	m.size = m.spec.CodeSize()
	below := ^uint64(0)
	for _, x := range ms {
		if x.Exec && filepath.IsAbs(x.Path) && x.Lo >= 7<<44 { // libraries, the linker; not the program
			below = min(below, x.Lo)
		}
	}
	for at := (below - 1<<30 - m.size) &^ 0xfff; below != ^uint64(0) && below-at < 3<<29; at -= m.size &^ 0xfff {
		if err = p.MapCode(at, m.size); err == nil {
			m.cache = at
			return nil
		}
	}
	return fmt.Errorf("no room for the code of %s, which is to be loaded later", m.im.Path)
}

// watch sets the breakpoint.
func (in *placed) watch(p *tracee.Process) error {
	prog := in.mods[0]
	for i := range prog.im.Sections {
		x := &prog.im.Sections[i]
		if x.Name != ".dynamic" {
			continue
		}
		for o := uint64(0); o+16 <= x.Size; o += 16 {
			if binary.LittleEndian.Uint64(x.Data[o:]) != 21 { // DT_DEBUG
				continue
			}
			d := &dlopening{}
			var err error
			if d.debug, err = p.Word(x.Addr + o + 8 + prog.bias); err != nil || d.debug == 0 {
				break
			}
			if d.brk, err = p.Word(d.debug + debugBreak); err != nil {
				break
			}
			if err = p.Read(d.old[:], d.brk); err != nil {
				break
			}
			if err = p.Write([]byte{0xcc}, d.brk); err == nil {
				in.dlopening = d
			}
			return err
		}
	}
	return fmt.Errorf("%s does not say where its dynamic linker can be watched: leave out --lib of what it loads later", prog.im.Path)
}

// opened handles a stop at the breakpoint: it moves the code of what has come,
// and returns from the function.
func (r *run) opened(e tracee.Event) error {
	if state, err := r.p.Word(r.in.dlopening.debug + debugState); err == nil && uint32(state) == debugStable {
		loaded, err := libraries(r.p)
		if err != nil {
			return err
		}
		for i, m := range r.in.mods {
			if !m.dlopened {
				continue
			}
			bias, there := uint64(0), false
			for _, l := range loaded {
				if l.path == m.im.Path {
					bias, there = l.lowest-m.im.Lowest&^0xfff, true
				}
			}
			if there && (m.absent || bias != m.bias) {
				m.bias = bias
				if err := m.arrive(r.p, r.in); err != nil {
					r.in.doubts = append(r.in.doubts, profile.Warning{Code: "library", Message: fmt.Sprintf("%s is not counted: %v", m.im.Path, err)})
					there = false
				}
			}
			m.absent = !there
			r.solver.Moved(i, m.bias)
		}
	}
	return r.p.Return(e.Tid)
}

// arrive moves the code of a library that was mapped and not yet relocated.
func (m *module) arrive(p *tracee.Process, in *placed) error {
	if err := m.make(m.cache - m.bias); err != nil {
		return err
	}
	if err := p.Write(m.code.Link(in.layout), m.cache); err != nil {
		return err
	}
	m.late = livepatch.New(m.spec, m.code, func(a uint64, b []byte) error { return p.Write(b, a+m.bias) })
	list, err := m.texts(p)
	if err != nil {
		return err
	}
	return write(p, list)
}

// forget takes the breakpoint out of a forked child, which runs on alone.
func (in *placed) forget(p *tracee.Process, child int) {
	d := in.dlopening
	if d == nil {
		return
	}
	var now [1]byte
	if tracee.Poke(child, d.old[:], d.brk) == nil && p.Read(now[:], d.brk) == nil && now == d.old {
		p.Write([]byte{0xcc}, d.brk) // vfork: the memory is the parent's too, and the child only execs
	}
}
