package native

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Libraries that are loaded while the program runs. Their counters have to be
// there from the beginning, so they must be known by their files' paths. The
// dynamic linker calls a function that does nothing, for debuggers, when it has
// mapped what dlopen asks for and before it runs any of it
// (_dl_debug_state, System V gABI's r_debug): a breakpoint there is where the
// code is moved. No thread can be in the library yet, nor know its address.

// loader is the target's dynamic linker, watched.
type loader struct {
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
func (in *injection) later(j backend.Job, loaded []library) (more []*module) {
	for _, pattern := range j.Libraries {
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
		if im, err := image.OpenLibrary(file); !known && err == nil && !im.HasGo {
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

// watchLoader sets the breakpoint.
func watchLoader(p *tracee.Process, prog *module) (*loader, error) {
	l := &loader{}
	if at, ok := debugEntry(prog.im); ok && l.find(p, at+prog.bias) {
		return l, p.Write([]byte{asm.Breakpoint}, l.brk)
	}
	return nil, fmt.Errorf("%s does not say where its dynamic linker can be watched: leave out --lib of what it loads later", prog.im.Path)
}

// debugEntry is where a program has the address of r_debug, once it runs: the
// value of DT_DEBUG in its dynamic section.
func debugEntry(im *image.Image) (addr uint64, ok bool) {
	const debugTag = 21
	for i := range im.Sections {
		x := &im.Sections[i]
		if x.Name != ".dynamic" {
			continue
		}
		for o := uint64(0); o+16 <= x.Size; o += 16 {
			if binary.LittleEndian.Uint64(x.Data[o:]) == debugTag {
				return x.Addr + o + 8, true
			}
		}
	}
	return 0, false
}

// find reads where the function is, and what the breakpoint will replace.
func (l *loader) find(p *tracee.Process, entry uint64) bool {
	var err error
	if l.debug, err = p.Word(entry); err != nil || l.debug == 0 {
		return false
	}
	if l.brk, err = p.Word(l.debug + debugBreak); err != nil {
		return false
	}
	return p.Read(l.old[:], l.brk) == nil
}

// stable reports whether all that was asked for is mapped.
func (l *loader) stable(p *tracee.Process) bool {
	state, err := p.Word(l.debug + debugState)
	return err == nil && uint32(state) == debugStable
}

// opened moves the code of the libraries that have come. moved hears where a
// module lies now.
func (in *injection) opened(p *tracee.Process, moved func(module int, bias uint64)) error {
	loaded, err := libraries(p)
	if err != nil {
		return err
	}
	for i, m := range in.modules {
		if !m.dlopened {
			continue
		}
		at := slices.IndexFunc(loaded, func(l library) bool { return l.path == m.im.Path })
		there := at >= 0
		if there {
			there = in.settle(p, m, loaded[at].lowest-m.im.Lowest&^0xfff)
		}
		m.absent = !there
		moved(i, m.bias)
	}
	return in.mprotect.know(in, p)
}

// settle moves the code of a library that lies at a bias, if that is not done.
func (in *injection) settle(p *tracee.Process, m *module, bias uint64) bool {
	if !m.absent && bias == m.bias {
		return true
	}
	m.bias = bias
	err := m.arrive(p, in)
	if err != nil {
		in.doubts = append(in.doubts, profile.Warning{Code: "library", Message: fmt.Sprintf("%s is not counted: %v", m.im.Path, err)})
	}
	return err == nil
}

// arrive moves the code of a library that was mapped and not yet relocated.
func (m *module) arrive(p *tracee.Process, in *injection) error {
	if err := m.make(m.cache - m.bias); err != nil {
		return err
	}
	if err := m.write(p, in.layout); err != nil {
		return err
	}
	list, err := m.texts(p)
	if err != nil {
		return err
	}
	return write(p, list)
}

// forget takes the breakpoint out of a forked child, which runs on alone.
func (l *loader) forget(p *tracee.Process, child int) {
	takeOut(p, child, l.brk, l.old[:], []byte{asm.Breakpoint})
}

// takeOut takes out of a child what is at an address now.
func takeOut(p *tracee.Process, child int, at uint64, old, now []byte) {
	is := make([]byte, len(old))
	if tracee.Poke(child, old, at) == nil && p.Read(is, at) == nil && bytes.Equal(is, old) {
		p.Write(now, at) // vfork: the memory is the parent's too, and the child only execs
	}
}
